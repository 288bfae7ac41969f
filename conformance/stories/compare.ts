/** Where two clusters' facts of a story part. */
import { readFileSync } from 'node:fs'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { type Facts, isOnTheWay } from './facts.ts'

export interface Difference {
  /** What it is about: the same whatever stands on either side. */
  readonly topic: string
  readonly recorded: string
  readonly here: string
}

export interface KnownDifference {
  /** Expressions for the story's name and for topics, from their beginning. */
  readonly story: string
  readonly topic: string
  /** Of these objects only the order within lists may differ: they are compared with their lists in an order of their own. */
  readonly inAnyOrder?: true
  readonly why: string
}

/** What is known to differ, and why. */
export const knownDifferences: readonly KnownDifference[] = JSON.parse(
  readFileSync(new URL('differing.json', import.meta.url), 'utf8'),
)

/** Differences in what a real cluster did not always do alike tell nothing. `known`: those of `differing` that the story shows. */
export function judge(
  story: string,
  { facts, varies }: { readonly facts: Facts; readonly varies: readonly string[] },
  played: Facts,
  differing: readonly KnownDifference[] = knownDifferences,
): { readonly told: readonly Difference[]; readonly known: readonly KnownDifference[] } {
  const isChance = (topic: string) => varies.some((one) => topic === one || topic.startsWith(`${one}.`))
  const between = (a: Facts, b: Facts) => differences(a, b).filter(({ topic }) => !isChance(topic))
  const ofStory = differing.filter((one) => matches(one.story, story))
  const [ofOrder, ofContent] = [ofStory.filter((one) => one.inAnyOrder), ofStory.filter((one) => !one.inAnyOrder)]
  const found = between(facts, played)
  const anyOrder = (all: Facts) => withoutOrder(all, ofOrder)
  const beyondOrder = ofOrder.length === 0 ? found : between(anyOrder(facts), anyOrder(played))
  return {
    told: beyondOrder.filter(({ topic }) => !ofContent.some((one) => matches(one.topic, topic))),
    known: ofStory.filter((one) => found.some(({ topic }) => matches(one.topic, topic))),
  }
}

function withoutOrder(facts: Facts, differing: readonly KnownDifference[]): Facts {
  const isOne = (key: string) => differing.some(({ topic }) => matches(topic, `object ${key}`))
  const objects = facts.objects.map((one) =>
    isOne(one.key) ? { ...one, object: unordered(one.object) as JsonObject } : one,
  )
  return { ...facts, objects }
}

function unordered(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value))
    return value.map(unordered).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unordered(inner as Json)]))
}

export const lineOf = ({ topic, recorded, here }: Difference): string => `${topic}: ${recorded}, here ${here}`

const matches = (expression: string, text: string): boolean => new RegExp(`^(?:${expression})`).test(text)

export function differences(recorded: Facts, played: Facts): readonly Difference[] {
  return [
    ...differentLists('told the user', recorded.notes, played.notes),
    ...differentLists('did not come', recorded.timeouts, played.timeouts),
    ...differentObjects(recorded.objects, played.objects),
    ...differentCounts('Event', new Map(recorded.events), new Map(played.events)),
    ...differentWrites(recorded.writes, played.writes),
  ]
}

const unlike = (topic: string, recorded: string | number, here: string | number): readonly Difference[] =>
  recorded === here ? [] : [{ topic, recorded: String(recorded), here: String(here) }]

const differentLists = (topic: string, recorded: readonly string[], played: readonly string[]) =>
  unlike(topic, recorded.join(' | ') || 'nothing', played.join(' | ') || 'nothing')

function differentCounts(
  what: string,
  recorded: ReadonlyMap<string, number>,
  played: ReadonlyMap<string, number>,
): readonly Difference[] {
  return eachKey(recorded, played).flatMap((key) =>
    unlike(`${what} ${key}`, recorded.get(key) ?? 0, played.get(key) ?? 0),
  )
}

function differentObjects(recorded: Facts['objects'], played: Facts['objects']): readonly Difference[] {
  const [wanted, found] = [Map.groupBy(recorded, ({ key }) => key), Map.groupBy(played, ({ key }) => key)]
  return eachKey(wanted, found).flatMap((key) => {
    const [want = [], got = []] = [wanted.get(key), found.get(key)]
    if (want.length !== got.length) return unlike(`object ${key}`, want.length, got.length)
    const bodies = (all: Facts['objects']) => all.map(({ object }) => object)
    return differentBodies(`object ${key}`, bodies(want), bodies(got))
  })
}

function differentWrites(recorded: Facts['writes'], played: Facts['writes']): readonly Difference[] {
  const [wanted, found] = [byWrite(recorded), byWrite(played)]
  return eachKey(wanted, found).flatMap((write) => {
    const [want, got] = [wanted.get(write), found.get(write)]
    if (want !== undefined && got !== undefined && isOnTheWay(write)) return []
    const [wantCount, gotCount] = [want?.count ?? 0, got?.count ?? 0]
    if (wantCount !== gotCount) return unlike(`write ${write}`, wantCount, gotCount)
    return differentBodies(`write ${write}`, want?.bodies ?? [], got?.bodies ?? [])
  })
}

const byWrite = (writes: Facts['writes']) => new Map(writes.map((one) => [one.write, one]))
const eachKey = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>) => [
  ...new Set([...a.keys(), ...b.keys()]),
]

/** Of those that have no like on the other side, the fields in which one and the other differ. */
function differentBodies(what: string, recorded: readonly Json[], played: readonly Json[]): readonly Difference[] {
  const want = recorded.map((body) => JSON.stringify(body))
  const got = played.map((body) => JSON.stringify(body))
  const right = without(got, want)
  const found = new Map<string, Difference>()
  for (const [i, text] of without(want, got).entries()) {
    const [a, b] = [fieldsOf(JSON.parse(text)), fieldsOf(JSON.parse(right[i] ?? 'null'))]
    for (const field of eachKey(a, b))
      for (const one of unlike(`${what}${field}`, a.get(field) ?? 'nothing', b.get(field) ?? 'nothing'))
        if (!found.has(one.topic)) found.set(one.topic, one)
  }
  return [...found.values()]
}

function without(texts: readonly string[], others: readonly string[]): readonly string[] {
  const rest = [...others]
  return texts.filter((text) => {
    const at = rest.indexOf(text)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}

function fieldsOf(value: Json, path = '', found = new Map<string, string>()): ReadonlyMap<string, string> {
  const inner = value !== null && typeof value === 'object' ? Object.entries(value) : []
  if (inner.length === 0) found.set(path, JSON.stringify(value))
  for (const [key, child] of inner) fieldsOf(child as Json, `${path}.${key}`, found)
  return found
}
