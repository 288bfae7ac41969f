/** Small things that several panels show. */
import type { ComponentChildren } from 'preact'
import type { ChainObject, Verdict } from '../protocol.ts'
import { reveal } from './graph-view.tsx'
import { goTo, plan, replay, select, show, uidOf } from './store.ts'

/** A name that leads to its object where it is in view. */
export function ObjectLink({ object }: { object: ChainObject }) {
  const uid = uidOf(object)
  const words = `${object.kind} ${object.name}`
  // A whole list has a star for a name. A plan and a replay stay open.
  if (object.name === '*' || (uid === undefined && (replay.value ?? plan.value) !== undefined))
    return <span class="name">{words}</span>
  return (
    <button
      type="button"
      class="link"
      onClick={() => {
        if (uid === undefined) {
          goTo(object)
          return
        }
        select(uid)
        reveal(uid)
      }}
    >
      {words}
    </button>
  )
}

export function VerdictMark({ verdict, words }: { verdict: Verdict; words: string }) {
  return <span class={`verdict verdict-${verdict}`}>{words}</span>
}

export function Heading({ children }: { children: ComponentChildren }) {
  return (
    <div class="heading">
      <h2>{children}</h2>
    </div>
  )
}

/** Back to what is told of the chosen object. */
export function Close() {
  return (
    <button type="button" class="close" aria-label="Close" onClick={() => show({ kind: 'object' })}>
      ×
    </button>
  )
}

export function Failure({ message }: { message: string }) {
  return message === '' ? null : (
    <p class="problem" role="alert">
      {message}
    </p>
  )
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

/** `2026-11-23T15:04:05Z` as `2026-11-23 15:04:05`, in UTC as the API has it. */
export const timeWords = (time: string) =>
  time
    .replace('T', ' ')
    .replace(/(\.\d{3})\d*/, '$1')
    .replace('Z', ' UTC')

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
