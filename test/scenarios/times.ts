/**
 * What holds between the times in one object and from one of its states to the next, as facts in words: whether a time moved
 * as something else changed, and which of two times is earlier. Facts of a real cluster (recordings/times.json) are what ours
 * is held to. When a state was written is told by its managedFields.
 */
import { readFileSync } from 'node:fs'
import type { Fields, KubeObject } from '../../src/api/object.ts'

/** Seconds of which times and writes are apart on a slow machine. */
const SLOW_S = 3

interface Timed {
  /** By path; conditions by their type. */
  readonly times: ReadonlyMap<string, number>
  readonly object: Fields
  readonly writtenS: number
}

/** Facts of the states of objects, in the order in which they were seen. */
export function factsOf(states: readonly KubeObject[]): ReadonlySet<string> {
  const facts = new Set<string>()
  const last = new Map<string, Timed>()
  for (const object of states) {
    const what = nameOf(object)
    const now: Timed = { times: timesOf(object), object: object as Fields, writtenS: writtenOf(object) }
    const uid = object.metadata.uid ?? ''
    const before = last.get(uid)
    last.set(uid, now)
    for (const relation of relationsOf(object.kind, now.times)) facts.add(`${what} ${relation}`)
    if (before === undefined) continue
    for (const [path, at] of now.times) {
      const outcome = outcomeOf(before.times.get(path), at, before.writtenS, now.writtenS)
      if (outcome !== undefined) facts.add(`${what} ${path}, ${changedAt(path, before.object, now.object)}: ${outcome}`)
    }
  }
  return facts
}

/**
 * Which of `facts` cannot be: they are none of a real cluster's, where it showed others of the same; or they break what holds
 * of every kind. Equal times may be so for lack of a second between them.
 */
export function contradictions(facts: Iterable<string>, recorded: ReadonlySet<string>): readonly string[] {
  const known = new Set([...recorded].map(subjectOf))
  const cannotBe = (fact: string): boolean => {
    if (recorded.has(fact) || fact.endsWith(': =') || fact.endsWith('nothing changed: kept')) return false
    if (fact.includes('creationTimestamp and ')) return fact.endsWith(': >')
    return known.has(subjectOf(fact)) || isUnlawful(fact)
  }
  return [...facts].filter(cannotBe).sort()
}

/** A time is the moment's; a transition's moves exactly with the status; an Event's last time moves with its count, its first does not. */
function isUnlawful(fact: string): boolean {
  if (/ahead$|earlier time$|firstTimestamp and lastTimestamp: >$/.test(fact)) return true
  const moved = fact.endsWith('moved to now')
  if (fact.includes('lastTransitionTime, ') && !fact.endsWith('set to now')) return moved !== fact.includes(', status ')
  if (fact.includes('firstTimestamp, ')) return moved
  return fact.includes('lastTimestamp, count changed') && !moved
}

const subjectOf = (fact: string): string => fact.slice(0, fact.lastIndexOf(': '))

/** Kinds; Events by their component, and whether they were seen more than once. */
function nameOf(object: KubeObject): string {
  if (object.kind !== 'Event') return object.kind
  const again = (object['count'] ?? object['series']?.count ?? 1) > 1
  return `${again ? 'repeated ' : ''}Event of ${object['reportingComponent'] || object['source']?.component}`
}

/** What a node's stand-in writes of pods. */
const ofNodes =
  /^status\.(startTime|(init)?containerStatuses|conditions\[(Initialized|Ready|ContainersReady|PodReadyToStartContainers)\])/i

/** What a deletion's time is stands in test/deletion-times.test.ts. */
const skipped = new Set(['managedFields', 'spec', 'annotations', 'deletionTimestamp'])

function timesOf(object: KubeObject): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)) times.set(path, Math.floor(Date.parse(value) / 1000))
    } else if (Array.isArray(value)) {
      for (const item of value) if (typeof item?.type === 'string') walk(item, `${path}[${item.type}]`)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        if (skipped.has(name)) continue
        walk(inner, path === '' ? name : `${path}.${name}`)
      }
    }
  }
  walk(object, '')
  if (object.kind === 'Node') return new Map()
  if (object.kind !== 'Pod') return times
  return new Map([...times].filter(([path]) => !ofNodes.test(path)))
}

const writtenOf = ({ metadata }: KubeObject): number =>
  Math.max(...[metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(({ time }) => time)].map(secondsOf))
const secondsOf = (time: string | null | undefined): number => (time ? Math.floor(Date.parse(time) / 1000) : 0)

/** What became of a time by this write; undefined where its second cannot tell. */
function outcomeOf(old: number | undefined, at: number, beforeS: number, writtenS: number): string | undefined {
  if (at === old) return writtenS - at >= SLOW_S ? 'kept' : undefined
  const fresh = at >= beforeS - SLOW_S && at <= writtenS + 1
  if (old === undefined) return fresh ? 'set to now' : at > writtenS ? 'set ahead' : 'set to an earlier time'
  return fresh ? 'moved to now' : at > writtenS ? 'moved ahead' : 'moved to an earlier time'
}

/** What of its condition changed, or of the Event that it is in. */
function changedAt(path: string, before: Fields, now: Fields): string {
  const type = conditionAt(path)
  const [was, is, fields] =
    type === undefined
      ? [before, now, ['count', 'phase']]
      : [conditionOf(before, type), conditionOf(now, type), ['status', 'reason', 'message']]
  const of = (object: Fields | undefined, field: string) => object?.[field] ?? object?.['status']?.[field]
  const changed = fields.filter((field) => of(was, field) !== of(is, field))
  return changed.length === 0 ? 'nothing changed' : `${changed.join(' and ')} changed`
}

const conditionAt = (path: string): string | undefined => /conditions\[(\w+)\]/.exec(path)?.[1]
const conditionOf = (object: Fields, type: string): Fields | undefined =>
  (object['status']?.conditions as readonly Fields[] | undefined)?.find((one) => one['type'] === type)

function* relationsOf(kind: string, times: ReadonlyMap<string, number>): Generator<string> {
  const sorted = [...times].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [index, [path, at]] of sorted.entries())
    for (const [other, then] of sorted.slice(index + 1)) {
      // A Deployment's conditions come to be true in any order.
      if (kind === 'Deployment' && conditionAt(path) !== conditionAt(other)) continue
      yield `${path} and ${other}: ${at === then ? '=' : at < then ? '<' : '>'}`
    }
}

/** By play of plays-times.ts, and of all others together. */
export const recordedTimes: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('recordings/times.json', import.meta.url), 'utf8'),
)
export const recordedFacts: ReadonlySet<string> = new Set(Object.values(recordedTimes).flat())
