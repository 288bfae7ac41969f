/**
 * Recordings of what a real control plane did: every write of every component, every state that each object went through,
 * and the Events. Values that differ from run to run are normalized, alike in a recording and in what is compared with it.
 */
import { readFileSync } from 'node:fs'
import type { Json, JsonObject } from '../../src/api/object.ts'

export interface Write {
  /** Short: `deployment-controller`, `kube-scheduler`, `user`, `kwok`. */
  readonly user: string
  readonly verb: string
  readonly uri: string
  readonly code: number
  readonly body: Json
}

export interface State {
  readonly type: string
  readonly resource: string
  readonly object: JsonObject
}

export interface SeenEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly component: string
  /** Kind and name of the object it is about. */
  readonly about: string
}

export interface Recording {
  readonly scenario: string
  readonly writes: readonly Write[]
  readonly states: readonly State[]
  readonly events: readonly SeenEvent[]
}

/** As committed: an object seen before is told by what is different (a merge patch on the last sight of it). */
interface Packed {
  readonly base?: string
  readonly body: Json
}

export function readRecording(name: string): Recording {
  const path = new URL(`./recordings/${name}.json`, import.meta.url)
  return unpack(JSON.parse(readFileSync(path, 'utf8')))
}

/** Lines of JSON for a file of recordings/. */
export function pack({ scenario, writes, states, events }: Recording): string {
  const seen = new Map<string, Json>()
  const packed = (value: Json): Packed => {
    const base = identityOf(value)
    if (base === undefined) return { body: value }
    const before = seen.get(base)
    seen.set(base, value)
    if (before === undefined) return { body: value }
    const body = difference(before, value)
    return sameText(merged(before, body), value) ? { base, body } : { body: value }
  }
  const list = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).join(',\n')
  return `{"scenario": ${JSON.stringify(scenario)},
"writes": [
${list(writes.map(({ body, ...write }) => ({ ...write, ...packed(body) })))}
],
"states": [
${list(states.map(({ object, ...state }) => ({ ...state, ...packed(object) })))}
],
"events": [
${list(events)}
]}
`
}

function unpack(file: {
  readonly scenario: string
  readonly writes: readonly (Omit<Write, 'body'> & Packed)[]
  readonly states: readonly (Omit<State, 'object'> & Packed)[]
  readonly events: readonly SeenEvent[]
}): Recording {
  const seen = new Map<string, Json>()
  const whole = ({ base, body }: Packed): Json => {
    const value = base === undefined ? body : merged(seen.get(base) as Json, body)
    const identity = identityOf(value)
    if (identity !== undefined) seen.set(identity, value)
    return value
  }
  return {
    scenario: file.scenario,
    writes: file.writes.map(({ base, body, ...write }) => ({
      ...write,
      body: whole({ ...(base === undefined ? {} : { base }), body }),
    })),
    states: file.states.map(({ base, body, ...state }) => ({
      ...state,
      object: whole({ ...(base === undefined ? {} : { base }), body }) as JsonObject,
    })),
    events: file.events,
  }
}

/** Kind and name of a whole object; undefined for patches, options and objects not yet named. */
function identityOf(value: Json): string | undefined {
  if (!isObject(value)) return undefined
  const metadata: Json = value['metadata'] ?? null
  if (typeof value['kind'] !== 'string' || !isObject(metadata) || typeof metadata['name'] !== 'string') return undefined
  return `${value['kind']} ${metadata['name']}`
}

export function difference(before: Json, after: Json): Json {
  if (!isObject(before) || !isObject(after)) return after
  const patch: { [key: string]: Json } = {}
  for (const key of Object.keys(before)) if (after[key] === undefined) patch[key] = null
  for (const [key, value] of Object.entries(after)) {
    const old = before[key]
    if (old === undefined) patch[key] = value as Json
    else if (!sameText(old as Json, value as Json)) patch[key] = difference(old as Json, value as Json)
  }
  return patch
}

export function merged(before: Json, patch: Json): Json {
  if (!isObject(before) || !isObject(patch)) return patch
  const result: { [key: string]: Json } = { ...(before as { [key: string]: Json }) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merged(result[key] ?? null, value as Json)
  }
  return result
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const sameText = (a: Json, b: Json): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

/** The same value with sorted keys. */
export function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .filter((key) => value[key] !== undefined)
      .map((key) => [key, sorted(value[key] as Json)]),
  )
}
