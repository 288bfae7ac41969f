/**
 * Relations between times. Normalizing replaces every time by a name, and with it what holds between them. So each answer is
 * judged before by what holds on any server (`createTimekeeper`: what is broken is kept beside the answer), and in cases
 * asked at a pace, each request in a second of its own, a time is named by its request (`createTimeNames`).
 *
 * The server's clock must be the asker's.
 */
import type { Step } from './recording.ts'

/** When an answer was asked for and when it had come; milliseconds. */
export interface Window {
  readonly sentMs: number
  readonly receivedMs: number
}

interface Entry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly subresource?: string
  readonly time?: string
}

interface Metadata {
  readonly uid: string
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly managedFields?: readonly Entry[]
}

/** What the case's answers have told of one object. */
interface Known {
  creation: string
  deletion: string | undefined
  /** When the first request was sent whose answer had a deletionTimestamp, in a whole second. */
  markedFromMs: number
  readonly managed: Set<string>
  lastSeenMs: number
}

const wholeSecond = (ms: number) => Math.floor(ms / 1000) * 1000

export interface Timekeeper {
  /** What is broken in this answer, each rule once, in fixed words. */
  judge(step: Step, window: Window, answer: { readonly code: number; readonly text: string }): readonly string[]
}

/** For the answers of one case, in their order. A time that a request of the case says itself is judged by nothing. */
export function createTimekeeper(): Timekeeper {
  const known = new Map<string, Known>()
  let said = ''
  return {
    judge(step, { sentMs, receivedMs }, { code, text }) {
      said += step.b ?? ''
      const broken = new Set<string>()
      const fromMs = wholeSecond(sentMs)
      for (const [root, metadata] of objectsIn(text)) {
        const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0, managedFields = [] } = metadata
        const creation = metadata.creationTimestamp ?? ''
        const before = known.get(metadata.uid)
        const created = Date.parse(creation)
        if (created > receivedMs) broken.add('creationTimestamp is ahead of the answer')
        if (before !== undefined && before.creation !== creation) broken.add('creationTimestamp has changed')
        if (before === undefined && root && step.m !== 'GET' && code === 201 && created < fromMs)
          broken.add('creationTimestamp is before the request')

        const sinceMs = step.m === 'GET' ? (before?.lastSeenMs ?? created) : fromMs
        for (const { time } of managedFields) {
          if (time === undefined || before?.managed.has(time) || said.includes(time)) continue
          const at = Date.parse(time)
          if (at > receivedMs) broken.add('a managedFields time is ahead of the answer')
          if (at < (before === undefined ? created : sinceMs)) broken.add('a managedFields time is before its write')
        }
        if (!inOrder(managedFields)) broken.add('managedFields are out of order')

        const markedFromMs = before?.deletion === undefined ? Math.max(sinceMs, created) : before.markedFromMs
        if (deletionTimestamp !== undefined && deletionTimestamp !== before?.deletion) {
          const marked = Date.parse(deletionTimestamp) - grace * 1000
          if (marked > receivedMs) broken.add('deletionTimestamp is later than the request and its grace period')
          if (marked < markedFromMs) broken.add('deletionTimestamp is earlier than the request and its grace period')
        }
        if (before?.deletion !== undefined && deletionTimestamp === undefined && step.m !== 'GET')
          broken.add('deletionTimestamp is gone')
        known.set(metadata.uid, {
          creation,
          deletion: deletionTimestamp,
          markedFromMs,
          managed: new Set([
            ...(before?.managed ?? []),
            ...managedFields.flatMap(({ time }) => (time === undefined ? [] : [time])),
          ]),
          lastSeenMs: fromMs,
        })
      }
      return [...broken].sort()
    },
  }
}

/** Applied entries first, then by time, manager, version and subresource. */
function inOrder(entries: readonly Entry[]): boolean {
  const key = ({ operation = '', time = '', manager = '', apiVersion = '', subresource = '' }: Entry) =>
    [operation, time, manager, apiVersion, subresource].join('\u0000')
  return entries.every((entry, at) => at === 0 || key(entries[at - 1] as Entry) <= key(entry))
}

/** Metadata of every object with a uid in a JSON answer, and whether it is the answer's own. A TokenRequest has its account's uid. */
function* objectsIn(text: string): Generator<readonly [boolean, Metadata]> {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return
  }
  const waiting: { value: unknown; root: boolean }[] = [{ value: body, root: true }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, root } = next
    if (value === null || typeof value !== 'object') continue
    const { kind, metadata } = value as { kind?: unknown; metadata?: Metadata }
    if (typeof metadata?.uid === 'string' && metadata.creationTimestamp && kind !== 'TokenRequest')
      yield [root, metadata]
    for (const inner of Object.values(value)) waiting.push({ value: inner, root: false })
  }
}

export interface TimeNames {
  /** A step is asked in the second that begins at this time, and in no other's. */
  begin(secondMs: number): void
  /** `<step 2 + 30 s>`: a time is named by the request in whose answer it first stood; equal times have one name. */
  name(time: string): string
}

/** For a case asked at a pace. */
export function createTimeNames(): TimeNames {
  const seconds: number[] = []
  const names = new Map<number, string>()
  return {
    begin: (secondMs) => void seconds.push(secondMs),
    name(time) {
      const at = Date.parse(time)
      const known = names.get(at)
      if (known !== undefined) return known
      const step = seconds.length - 1
      const after = (at - (seconds[step] as number)) / 1000
      let name = `<step ${step} + ${after} s>`
      if (after <= 0) {
        // Between two requests a server wrote by itself.
        const earlier = seconds.findLastIndex((second) => second <= at)
        if (earlier < 0) name = '<before>'
        else name = seconds[earlier] === at ? `<step ${earlier}>` : `<after step ${earlier}>`
      }
      names.set(at, name)
      return name
    },
  }
}
