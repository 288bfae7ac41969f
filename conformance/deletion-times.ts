/**
 * Times in relation. Recordings of answers know times only as `<time>`; here a case is asked with whole seconds between its
 * steps, and what is kept of answers and watch events is every time in them, in seconds since the case began. One such
 * recording is conformance/deletion-times.jsonl; test/deletion-times.test.ts asks the same of an API server on a clock of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TimedCase, TimedStep } from './generators/deletion-times.ts'

/** What an answer or an event says: seconds since the case began by the path of each time, and what they must fit to. */
export interface Told {
  /** A status code, or an event's type. */
  readonly what: number | string
  readonly times: Readonly<Record<string, number>>
  /** deletionGracePeriodSeconds */
  readonly grace?: number
  readonly generation?: number
  readonly finalizers?: readonly string[]
}

export interface TimedAnswers {
  readonly answers: readonly Told[]
  readonly events: readonly Told[]
}

export type RecordedTimes = TimedCase & { readonly want: TimedAnswers }

/** How a case is asked: by whom, and how its seconds pass. */
export interface TimedAsker {
  call(step: TimedStep): Promise<{ readonly code: number; readonly text: string }>
  /** Makes a namespace with a default service account. */
  namespace(name: string): Promise<void>
  /** The second it is, since the epoch; waits for the beginning of one where time passes by itself. */
  second(): Promise<number>
  /** Lets whole seconds pass. */
  pass(seconds: number): Promise<void>
}

const file = fileURLToPath(new URL('deletion-times.jsonl', import.meta.url))

export const recordedTimes = (): readonly RecordedTimes[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedTimes)

export function writeTimes(cases: readonly RecordedTimes[], to = file): void {
  writeFileSync(to, `${cases.map((c) => JSON.stringify(c)).join('\n')}\n`)
}

/** @throws when an answer took so long that its second is not known */
export async function askTimes(
  asker: TimedAsker,
  { steps, watched }: TimedCase,
  namespace: string,
): Promise<TimedAnswers> {
  await asker.namespace(namespace)
  const here = <T extends TimedStep>(step: T): T => ({ ...step, p: step.p.replaceAll('$NS', namespace) })
  const start = await asker.second()
  let due = start
  let version = ''
  const answers: Told[] = []
  for (const { after, ...step } of steps) {
    if (after !== undefined) {
      await asker.pass(after)
      due += after
    }
    const { code, text } = await asker.call(here(step))
    if ((await asker.second()) !== due) throw new Error(`${step.m} ${step.p} was answered too late`)
    const body = parsed(text)
    version ||= body?.metadata?.resourceVersion ?? ''
    answers.push(told(code, body, start))
  }
  const query = `watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Do&resourceVersion=${Number(version) - 1}`
  const { text } = await asker.call(here({ m: 'GET', p: `${watched}?${query}` }))
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parsed(line))
  return { answers, events: events.map(({ type, object }) => told(type, object, start)) }
}

// biome-ignore lint/suspicious/noExplicitAny: any body a server may answer
type Any = any

function parsed(text: string): Any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function told(what: number | string, body: Any, start: number): Told {
  const { deletionGracePeriodSeconds: grace, generation, finalizers } = body?.metadata ?? {}
  return {
    what,
    times: Object.fromEntries(timesIn(body, '', start)),
    ...(grace === undefined ? {} : { grace }),
    ...(generation === undefined ? {} : { generation }),
    ...(finalizers === undefined ? {} : { finalizers }),
  }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** By path; what a manager wrote by its name. */
function timesIn(value: Any, path: string, start: number): readonly (readonly [string, number])[] {
  if (typeof value === 'string')
    return TIME.test(value) ? [[path, Math.floor(Date.parse(value) / 1000) - start] as const] : []
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value)
    .flatMap(([key, inner]: [string, Any]) => {
      const name = inner?.manager ?? inner?.type
      const at = name === undefined ? key : `${name} ${inner.operation ?? ''} ${inner.subresource ?? ''}`.trim()
      return timesIn(inner, path === '' ? at : `${path}.${at}`, start)
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Asks many cases at once, and again those whose answers came too late. @throws when one always comes too late */
export async function askAllTimes(
  asker: TimedAsker,
  cases: readonly TimedCase[],
  run: string,
  parallel: number,
): Promise<readonly RecordedTimes[]> {
  const recorded: RecordedTimes[] = []
  let next = 0
  const lanes = Array.from({ length: parallel }, async () => {
    for (let index = next++; index < cases.length; index = next++) {
      const c = cases[index] as TimedCase
      for (let turn = 0; recorded[index] === undefined; turn++) {
        try {
          recorded[index] = { ...c, want: await askTimes(asker, c, `t-${run}-${index}-${turn}`) }
        } catch (error) {
          if (turn === 9) throw error
        }
      }
    }
  })
  await Promise.all(lanes)
  return recorded
}
