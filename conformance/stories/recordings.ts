/**
 * What a real cluster did, as it is kept: a file for each subject, an object told by what it has other than the one before. A story that was
 * recorded several times says what was not always the same.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { difference, merged, sameText } from '../../test/scenarios/recording.ts'
import { differences } from './compare.ts'
import type { Facts } from './facts.ts'

export interface Recorded {
  /** Of its first playing. */
  readonly facts: Facts
  /** How often it was played. */
  readonly times: number
  /** What its playings differed in: chance. */
  readonly varies: readonly string[]
}

export function withPlaying(before: Recorded | undefined, facts: Facts): Recorded {
  if (before === undefined) return { facts, times: 1, varies: [] }
  const varies = new Set([...before.varies, ...differences(before.facts, facts).map(({ topic }) => topic)])
  return { ...before, times: before.times + 1, varies: [...varies].toSorted() }
}

type Kept = { readonly whole: Json } | { readonly like: Json }

interface KeptFacts extends Omit<Facts, 'objects' | 'writes'> {
  readonly times: number
  readonly varies: readonly string[]
  readonly writes: readonly { readonly write: string; readonly count: number; readonly bodies?: readonly Kept[] }[]
  readonly objects: readonly ({ readonly key: string } & Kept)[]
}

const fileOf = (subject: string) => new URL(`./recordings/${subject}.json`, import.meta.url)

export function readRecorded(subject: string): Readonly<Record<string, Recorded>> {
  if (!existsSync(fileOf(subject))) return {}
  const kept: Readonly<Record<string, KeptFacts>> = JSON.parse(readFileSync(fileOf(subject), 'utf8'))
  return Object.fromEntries(
    Object.entries(kept).map(([story, { times, varies, ...facts }]) => [
      story,
      { facts: unpacked(facts), times, varies },
    ]),
  )
}

export function writeRecorded(subject: string, stories: Readonly<Record<string, Recorded>>): void {
  const lines = Object.entries(stories)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([story, recorded]) => `${JSON.stringify(story)}: ${textOf(packed(recorded))}`)
  writeFileSync(fileOf(subject), `{\n${lines.join(',\n')}\n}\n`)
}

function packed({ facts, times, varies }: Recorded): KeptFacts {
  const pack = packer()
  return {
    times,
    varies,
    ...facts,
    writes: facts.writes.map(({ bodies, ...write }) => ({
      ...write,
      ...(bodies === undefined ? {} : { bodies: bodies.map((body) => pack('', body)) }),
    })),
    objects: facts.objects.map(({ key, object }) => ({ key, ...pack(kindOf(key), object) })),
  }
}

function unpacked(kept: Omit<KeptFacts, 'times' | 'varies'>): Facts {
  const last = new Map<string, Json>()
  const unpack = (kind: string, one: Kept): Json => {
    const value = 'whole' in one ? one.whole : merged(last.get(kind) ?? null, one.like)
    last.set(kind, value)
    return value
  }
  return {
    ...kept,
    writes: kept.writes.map(({ bodies, ...write }) => ({
      ...write,
      ...(bodies === undefined ? {} : { bodies: bodies.map((body) => unpack('', body)) }),
    })),
    objects: kept.objects.map(({ key, ...one }) => ({ key, object: unpack(kindOf(key), one) as JsonObject })),
  }
}

const kindOf = (key: string): string => key.slice(0, key.indexOf('/'))

/** An object is told by the last one of its kind, where that says it all. */
function packer() {
  const last = new Map<string, Json>()
  return (kind: string, value: Json): Kept => {
    const before = last.get(kind)
    last.set(kind, value)
    if (before === undefined) return { whole: value }
    const like = difference(before, value)
    const isShorter = JSON.stringify(like).length < JSON.stringify(value).length
    return isShorter && sameText(merged(before, like), value) ? { like } : { whole: value }
  }
}

/** A line for each fact. */
function textOf(facts: KeptFacts): string {
  const { times, ...others } = facts
  const lists = Object.entries(others).map(([name, list]) => {
    const items = (list as readonly unknown[]).map((item) => JSON.stringify(item))
    return `${JSON.stringify(name)}: [${items.length === 0 ? '' : `\n${items.join(',\n')}\n`}]`
  })
  return `{"times": ${times}, ${lists.join(', ')}}`
}
