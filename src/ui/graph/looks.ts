/** How a node looks and what is said of it, in the graph and in the tree alike: nothing is told by colour alone. Pure. */
import type { Plan, Replay, ReplayStep, SceneObject } from '../protocol.ts'
import type { DrawnNode } from './model.ts'

export type Tone =
  | 'there'
  | 'waiting'
  | 'failing'
  | 'going'
  | 'held'
  | 'holds'
  | 'gone'
  | 'absent'
  | 'goes'
  | 'maybe'
  | 'stays'
  | 'orphaned'

export interface Appearance {
  readonly tone: Tone
  /** In a few words. */
  readonly words: string
  /** A number on it: its place in the order of a plan. */
  readonly badge?: string
  /** It steps back behind those that matter now. */
  readonly dim: boolean
}

/** What the page shows beside the objects as they are. */
export interface Overlay {
  readonly planned?: ReadonlyMap<string, Appearance>
  readonly replayed?: ReadonlyMap<string, Appearance>
}

/** What those finalizers wait for that Kubernetes itself sets on all kinds. */
const WAITS_FOR: Readonly<Record<string, string>> = {
  foregroundDeletion: 'its dependents',
  orphan: 'the orphaning of its dependents',
  kubernetes: 'what is in it',
}

export function lookOf(node: DrawnNode, { planned, replayed }: Overlay = {}): Appearance {
  if (replayed !== undefined)
    return replayed.get(node.uid) ?? { tone: 'absent', words: 'not in this ending', dim: true }
  const look = presentLook(node)
  if (planned === undefined) return look
  return planned.get(node.uid) ?? { ...look, dim: true }
}

function presentLook({ object, standing, holds }: DrawnNode): Appearance {
  if (object === undefined) return { tone: 'absent', words: 'owner, not in view', dim: false }
  const { state, health, finalizers } = object
  const inTheWay = holds.length === 0 ? '' : `holds ${holds.length === 1 ? 'another' : `${holds.length} others`}`
  switch (standing) {
    case 'held':
      return { tone: holds.length > 0 ? 'holds' : 'held', words: joined(heldBy(finalizers), inTheWay), dim: false }
    case 'going':
      return {
        tone: holds.length > 0 ? 'holds' : 'going',
        words: joined(state ?? 'going', graceWords(object), inTheWay),
        dim: false,
      }
    default: {
      if (holds.length > 0) return { tone: 'holds', words: joined(inTheWay, state ?? ''), dim: false }
      const tone = health === 'failing' ? 'failing' : health === 'waiting' ? 'waiting' : 'there'
      return { tone, words: state ?? '', dim: false }
    }
  }
}

const joined = (...words: readonly string[]) => words.filter((word) => word !== '').join(' · ')
const graceWords = ({ graceSeconds = 0 }: SceneObject) => (graceSeconds > 0 ? `${graceSeconds} s grace` : '')

function heldBy(finalizers: readonly string[]): string {
  const named = finalizers.map((one) => WAITS_FOR[one] ?? one)
  return `held by ${named.join(', ')}`
}

/** What a plan says of each object. `at`: so many of those that go are gone; undefined: none is. */
export function plannedLooks({ goes, stays, orphaned, appears }: Plan, at = 0): ReadonlyMap<string, Appearance> {
  const looks = new Map<string, Appearance>()
  for (const { object } of orphaned) looks.set(object.uid, { tone: 'orphaned', words: 'is orphaned', dim: false })
  for (const { uid } of appears) looks.set(uid, { tone: 'there', words: 'is made', dim: false })
  for (const { object, why } of stays) looks.set(object.uid, { tone: 'stays', words: `stays: ${why}`, dim: false })
  for (const { object, order, certainty, removed } of goes) {
    const badge = `${order + 1}`
    const after = shortSpan(removed.least, removed.most)
    if (order < at) looks.set(object.uid, { tone: 'gone', words: `gone after ${after}`, badge, dim: true })
    else if (certainty === 'goes')
      looks.set(object.uid, { tone: 'goes', words: `goes ${ordinal(order + 1)}, after ${after}`, badge, dim: false })
    else
      looks.set(object.uid, {
        tone: 'maybe',
        words: certainty === 'either' ? `may go, after ${after}` : `goes ${certainty}`,
        badge,
        dim: false,
      })
  }
  return looks
}

export function ordinal(n: number): string {
  const [tens, ones] = [n % 100, n % 10]
  const ending = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][ones] ?? 'th')
  return `${n}${ending}`
}

export function shortWait(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  return seconds < 120 ? `${Number(seconds.toFixed(1))} s` : `${Number((seconds / 60).toFixed(1))} min`
}

export function shortSpan(least: number, most: number): string {
  const [from, to] = [shortWait(least), shortWait(most)]
  return from === to ? from : `${from} to ${to}`
}

/** The objects of a replay after so many of its steps. */
export function replayedLooks({ objects, steps }: Replay, done: number): ReadonlyMap<string, Appearance> {
  const looks = new Map<string, Appearance>()
  for (const object of objects) looks.set(object.uid, beginning(object))
  const last = steps[done - 1]
  for (const step of steps.slice(0, done)) looks.set(step.uid, afterStep(step, step === last))
  return looks
}

function beginning({ deleted, finalizers }: SceneObject): Appearance {
  if (deleted === undefined) return { tone: 'there', words: 'there', dim: false }
  return finalizers.length > 0
    ? { tone: 'held', words: heldBy(finalizers), dim: false }
    : { tone: 'going', words: 'going', dim: false }
}

function afterStep({ after, finalizers, what }: ReplayStep, isLast: boolean): Appearance {
  const shared = isLast ? { badge: 'now' } : {}
  if (after === 'gone') return { tone: 'gone', words: 'gone', dim: !isLast, ...shared }
  if (after === 'there') return { tone: 'there', words: what, dim: false, ...shared }
  return finalizers.length > 0
    ? { tone: 'held', words: heldBy(finalizers), dim: false, ...shared }
    : { tone: 'going', words: 'going', dim: false, ...shared }
}
