/**
 * What happened in the scheduler's queue, step by step, by its own metrics: attempts by their results, where pods came to wait and why,
 * how many wait where; and what it wrote. In a form in which a real cluster's scheduler and ours compare.
 */
import { readFileSync } from 'node:fs'
import type { Json } from '../../src/api/object.ts'
import type { SeenStep } from '../devices/recording.ts'

export interface QueueStep {
  /** By result: scheduled, unschedulable or error. */
  readonly attempts: Readonly<Record<string, number>>
  /** scheduler_queue_incoming_pods_total, by `event > queue`. */
  readonly incoming: Readonly<Record<string, number>>
  /** scheduler_pending_pods at the end of the step, without empty queues. */
  readonly pending: Readonly<Record<string, number>>
  readonly wrote: SeenStep
}

/** What has a name by chance, or a uid that is told. */
export const NAMED = [
  ['', 'pods', 'Pod'],
  ['resource.k8s.io', 'resourceclaims', 'ResourceClaim'],
] as const

export type Counts = Pick<QueueStep, 'attempts' | 'incoming' | 'pending'>

const folder = new URL('./recordings/', import.meta.url)
export const recordingFile = (name: string): URL => new URL(`${name}.json`, folder)
export const readRecording = (name: string): readonly QueueStep[] =>
  JSON.parse(readFileSync(recordingFile(name), 'utf8'))
/** `askedIn`: what others were asked in a step. */
export const recordingText = <T extends QueueStep>(
  steps: readonly T[],
  askedIn: (step: T) => readonly Json[] = () => [],
): string => `[\n${steps.map((step) => `  ${stepText(step, askedIn(step))}`).join(',\n')}\n]\n`

/**
 * As far as it is no chance: of several attempts within a step the Events are one or more (a pod is told of again in a new Event when its
 * own last change has been seen), and ours alone names the uid of a pod that makes room. Whether a backoff has ended when a pod is helped is
 * a matter of fractions of a second: with no other pod ready it is tried at once in either case (`hasTimes`: it is compared all the same).
 */
export function comparable({ wrote, ...all }: QueueStep, hasTimes: boolean): QueueStep {
  const counts = { ...all, incoming: hasTimes ? all.incoming : withoutBackoffs(all.incoming) }
  const many = Object.values(counts.attempts).reduce((sum, count) => sum + count, 0) > 1
  const kept = Object.entries(wrote).filter(([on]) => !(many && on.startsWith('event on ')))
  const writes = kept.map(([on, all]) => [on, all.map((one) => (isDelete(one) ? { delete: {} } : one))] as const)
  return { ...counts, wrote: Object.fromEntries(writes) }
}

function withoutBackoffs(incoming: QueueStep['incoming']): QueueStep['incoming'] {
  const folded: Record<string, number> = {}
  for (const [way, count] of Object.entries(incoming)) {
    if (way.startsWith('PopFromBackoffQ')) continue
    const to = way.startsWith('ScheduleAttemptFailure') ? way : way.replace(' > backoff', ' > active')
    folded[to] = (folded[to] ?? 0) + count
  }
  return folded
}

const isDelete = (write: Json): boolean => typeof write === 'object' && write !== null && 'delete' in write

function stepText({ attempts, incoming, pending, wrote }: QueueStep, asked: readonly Json[]): string {
  const writes = Object.entries(wrote).map(([on, all]) => `\n    ${JSON.stringify(on)}: ${JSON.stringify(all)}`)
  const counts = `"attempts": ${JSON.stringify(attempts)}, "incoming": ${JSON.stringify(incoming)}, "pending": ${JSON.stringify(pending)}`
  const questions = asked.map((question) => `\n    ${JSON.stringify(question)}`)
  const more = asked.length === 0 ? '' : `, "asked": [${questions.join(',')}]`
  return `{${counts}, "wrote": {${writes.join(',')}${writes.length === 0 ? '' : '\n  '}}${more}}`
}

/** What a page of metrics says; all of it since the scheduler began. */
export function countsOf(page: string): Counts {
  const attempts: Record<string, number> = {}
  const incoming: Record<string, number> = {}
  const pending: Record<string, number> = {}
  for (const line of page.split('\n')) {
    const [, name = '', labels = '', value = ''] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? []
    const of = Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]))
    const add = (into: Record<string, number>, key: string) => {
      into[key] = (into[key] ?? 0) + Number(value)
    }
    if (name === 'scheduler_schedule_attempts_total') add(attempts, of['result'] ?? '')
    if (name === 'scheduler_queue_incoming_pods_total') add(incoming, `${of['event']} > ${of['queue']}`)
    if (name === 'scheduler_pending_pods') add(pending, of['queue'] ?? '')
  }
  return { attempts, incoming, pending }
}

/** What came between two pages; of `pending` what is now. */
export function countsSince(before: Counts, now: Counts): Counts {
  return {
    attempts: changed(before.attempts, now.attempts),
    incoming: changed(before.incoming, now.incoming),
    pending: changed({}, now.pending),
  }
}

function changed(before: Readonly<Record<string, number>>, now: Readonly<Record<string, number>>) {
  const entries = Object.entries(now).map(([key, count]) => [key, count - (before[key] ?? 0)] as const)
  return Object.fromEntries(entries.filter(([, count]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1)))
}
