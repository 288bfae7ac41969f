/**
 * When mutating admission is run a second time (API concept: reinvocation policy): after a webhook or policy has changed
 * the object, the other plugins see it once more, and then the webhooks and policies that asked to be told of changes
 * after their own.
 */
import type { KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'

/** What one request has seen so far; written by the plugins that change objects, read by the chain. */
export interface Reinvocation {
  isSecond: boolean
  /** Something changed the object: a second run is due. */
  requested: boolean
  /** Made by the plugins when they have anything to run. */
  webhooks: Runs | undefined
  policies: Runs | undefined
}

/** The runs of one plugin's webhooks or policies. */
export interface Runs {
  /** Those that ran and want to run again after later changes. */
  ran: Set<string> | undefined
  /** Of those, the ones after which something changed. */
  due: Set<string> | undefined
  /** The object as the plugin left it in the first run. */
  last: KubeObject | undefined
}

export const noReinvocation = (): Reinvocation => ({
  isSecond: false,
  requested: false,
  webhooks: undefined,
  policies: undefined,
})

/**
 * The runs of a plugin that is about to run with the object. What other plugins changed in their second run concerns it
 * too: a change is a value that differs, however often equal objects were made.
 */
export function runsOf(
  state: Reinvocation | undefined,
  who: 'webhooks' | 'policies',
  object: KubeObject | undefined,
): Runs | undefined {
  if (state === undefined) return undefined
  state[who] ??= { ran: undefined, due: undefined, last: undefined }
  if (state.isSecond && !sameJson(state[who].last, object)) requireAll(state[who])
  return state[who]
}

/** The object changed: the plugins that ran before and may be reinvoked run again. */
export function noteChange(state: Reinvocation | undefined, runs: Runs | undefined): void {
  if (state === undefined || runs === undefined) return
  state.requested = true
  requireAll(runs)
}

function requireAll(runs: Runs): void {
  for (const id of runs.ran ?? []) {
    runs.due ??= new Set()
    runs.due.add(id)
  }
  runs.ran = undefined
}

export function ranReinvocable(runs: Runs | undefined, id: string): void {
  if (runs === undefined) return
  runs.ran ??= new Set()
  runs.ran.add(id)
}

export const mayRun = (state: Reinvocation | undefined, runs: Runs | undefined, id: string): boolean =>
  state === undefined || !state.isSecond || runs?.due?.has(id) === true
