/**
 * What an autoscaler's controller did, look by look: what it asked of the metrics APIs, what it scaled to, what it wrote into
 * the status, which Events it told. Times are numbers of looks, so that a real cluster's and a simulated one compare.
 */
import { readFileSync } from 'node:fs'
import type { Fields, JsonObject } from '../../src/api/object.ts'
import { sameText, sorted } from '../scenarios/recording.ts'
import { HALF_PERIOD_MS, PERIOD_MS } from './scenario.ts'

/** One write of the controller, as it was seen. */
export interface SeenWrite {
  readonly atMs: number
  /** create, update or patch. */
  readonly verb: string
  readonly resource: string
  readonly name: string
  readonly code: number
  readonly body: Fields
}

export interface SeenQuestion {
  readonly atMs: number
  /** With its query. */
  readonly path: string
}

export interface Look {
  readonly autoscaler: string
  /** 1 comes with the autoscaler, 2 a period later; 2.5 is half a period after that, when its spec was changed. */
  readonly look: number
  readonly asked?: readonly string[]
  /** With the answer's code where it was refused. */
  readonly scaledTo?: string
  readonly status?: Fields
  readonly events?: readonly string[]
}

export interface Seen {
  readonly namespace: string
  /** When the autoscalers were made. */
  readonly made: Readonly<Record<string, number>>
  readonly writes: readonly SeenWrite[]
  readonly questions: readonly SeenQuestion[]
}

const folder = new URL('./recordings/', import.meta.url)
export const recordingFile = (name: string): URL => new URL(`${name}.json`, folder)
export const readRecording = (name: string): readonly Look[] => JSON.parse(readFileSync(recordingFile(name), 'utf8'))
export const recordingText = (looks: readonly Look[]): string =>
  `[\n${looks.map((look) => JSON.stringify(look)).join(',\n')}\n]\n`

/** Of many autoscalers over one target two are named, now these and now those: what tells of them is told anew. */
const ANY_TWO = '(e.g. [two of them])'

/** In the order of time; a look of which nothing was seen is left out. */
export function looksOf({ namespace, made, writes, questions }: Seen): readonly Look[] {
  const looks = new Map<string, { -readonly [key in keyof Look]: Look[key] }>()
  const times: SeenTime[] = []
  const statuses = new Map<string, JsonObject>()
  const neutral = (text: string) => text.replaceAll(namespace, '$NS').replace(/\(e\.g\. \[\S+ \S+\]\)/, ANY_TWO)
  const at = (autoscaler: string, atMs: number) => {
    const look = lookAt(made[autoscaler] ?? 0, atMs)
    const key = `${look.toFixed(1).padStart(6, '0')} ${autoscaler}`
    const known = looks.get(key) ?? { autoscaler, look }
    looks.set(key, known)
    times.push({ autoscaler, atMs, look })
    return known
  }
  const nearest = (atMs: number) => at(ofWhom(made, atMs), atMs)
  for (const { atMs, path } of questions) {
    const look = nearest(atMs)
    look.asked = [...(look.asked ?? []), neutral(path)]
  }
  const told = new Map<string, { readonly text: string; readonly autoscaler: string }>()
  for (const { atMs, verb, resource, name, code, body } of writes) {
    if (resource === 'events') {
      const event = told.get(name) ?? {
        text: neutral(`${body['type']} ${body['reason']}: ${body['message']}`),
        autoscaler: body['involvedObject']?.name ?? 'h',
      }
      told.set(verb === 'create' ? body['metadata'].name : name, event)
      const look = at(event.autoscaler, atMs)
      const count = event.text.includes(ANY_TWO) ? '' : ` (${body['count']})`
      look.events = [...(look.events ?? []), event.text + count]
    } else if (resource === 'horizontalpodautoscalers') {
      const look = at(name, atMs)
      const own = times.filter(({ autoscaler }) => autoscaler === name)
      const status = statusOf(body['status'] ?? {}, own, neutral)
      const before = statuses.get(name)
      statuses.set(name, status)
      const isOther = before === undefined || !sameText(before, status) || !JSON.stringify(status).includes(ANY_TWO)
      if (isOther) look.status = status
    } else {
      const look = nearest(atMs)
      look.scaledTo = `${body['spec']?.replicas ?? 0}${code === 200 ? '' : ` ${code}`}`
    }
  }
  return [...looks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, look]) => look)
}

interface SeenTime {
  readonly autoscaler: string
  readonly atMs: number
  readonly look: number
}

function lookAt(madeMs: number, atMs: number): number {
  const periods = Math.floor((atMs - madeMs) / PERIOD_MS)
  return periods + (atMs - madeMs - periods * PERIOD_MS < HALF_PERIOD_MS ? 1 : 1.5)
}

/** A look is assigned to the autoscaler that looked last before its time. */
function ofWhom(made: Readonly<Record<string, number>>, atMs: number): string {
  const past = Object.keys(made).filter((name) => atMs >= (made[name] ?? 0))
  const late = (name: string) => (atMs - (made[name] ?? 0)) % PERIOD_MS
  return past.sort((a, b) => late(a) - late(b))[0] ?? 'h'
}

/** By how much a look came after its time. */
export const lateness = (made: Readonly<Record<string, number>>, atMs: number): number =>
  (atMs - (made[ofWhom(made, atMs)] ?? 0)) % HALF_PERIOD_MS

function statusOf(
  { conditions = [], lastScaleTime, ...rest }: Fields,
  times: readonly SeenTime[],
  neutral: (text: string) => string,
): JsonObject {
  // Times in a status have no fractions of seconds.
  const far = ({ atMs }: SeenTime, time: string) => Math.abs(atMs - 500 - Date.parse(time))
  const lookOf = (time: string) => times.toSorted((a, b) => far(a, time) - far(b, time))[0]?.look
  const told = (conditions as readonly Fields[]).map(
    ({ type, status, reason, message, lastTransitionTime, ...more }) =>
      `${type}=${status} since ${lookOf(lastTransitionTime)}: ${reason}: ${message}${Object.keys(more).length === 0 ? '' : ` ${JSON.stringify(more)}`}`,
  )
  const scaled = lastScaleTime === undefined ? {} : { lastScale: lookOf(lastScaleTime) }
  return sorted(JSON.parse(neutral(JSON.stringify({ ...rest, ...scaled, conditions: told })))) as JsonObject
}
