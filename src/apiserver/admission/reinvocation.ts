/**
 * When mutating admission is run a second time (API concept: reinvocation policy): after a webhook or policy has changed
 * the object, the other plugins see it once more, and then the webhooks that asked to be told of changes after their own.
 */
import type { KubeObject } from '../../api/object.ts'

/** What one request has seen so far; written by the plugins that change objects, read by the chain. */
export interface Reinvocation {
  isSecond: boolean
  /** Something changed the object: a second run is due. */
  requested: boolean
  /** Webhooks that ran and want to run again after later changes. */
  ran: Set<string> | undefined
  /** Of those, the ones after which something changed. */
  due: Set<string> | undefined
  /** The object as the last webhook of the first run left it. */
  last: KubeObject | undefined
}

export const noReinvocation = (): Reinvocation => ({
  isSecond: false,
  requested: false,
  ran: undefined,
  due: undefined,
  last: undefined,
})

/** The object changed: who ran before and cares runs again. */
export function changed(state: Reinvocation | undefined): void {
  if (state === undefined) return
  state.requested = true
  requireAll(state)
}

export function requireAll(state: Reinvocation): void {
  for (const id of state.ran ?? []) {
    state.due ??= new Set()
    state.due.add(id)
  }
  state.ran = undefined
}

export function ranReinvocable(state: Reinvocation | undefined, id: string): void {
  if (state === undefined) return
  state.ran ??= new Set()
  state.ran.add(id)
}

export const mayRun = (state: Reinvocation | undefined, id: string): boolean =>
  state === undefined || !state.isSecond || state.due?.has(id) === true
