/** What fairness tells of itself, under kube-apiserver's names; nothing where no metrics are kept. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { Counted, Metrics, Observed } from '../../base/metrics.ts'
import type { PriorityLevels } from './priority-levels.ts'

/** The series of one flow schema at its level. */
export interface FlowCounts {
  executing: number
  waiting: number
  readonly dispatched?: Counted
  /** Seconds. */
  readonly execution?: Readonly<Record<'regular' | 'watch', Observed>>
  readonly waited?: Readonly<Record<'executed' | 'rejected', Observed>>
  readonly queueLength?: Observed
  rejected(reason: 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'): void
}

export interface FlowMetrics {
  /** The same object every time. */
  of(schema: string, level: string): FlowCounts
}

const SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const LENGTHS = [0, 10, 25, 50, 100, 250, 500, 1000]
const LABELS = ['flow_schema', 'priority_level']

export function createFlowMetrics(metrics: Metrics | undefined, levels: PriorityLevels): FlowMetrics {
  const known = new Map<string, FlowCounts>()
  const make = metrics === undefined ? silent : series(metrics, levels, known)
  return {
    of(schema, level) {
      const key = `${schema}/${level}`
      return getOrInsertComputed(known, key, () => make(schema, level))
    },
  }
}

const silent = (): FlowCounts => ({ executing: 0, waiting: 0, rejected: () => {} })

function series(
  metrics: Metrics,
  levels: PriorityLevels,
  known: ReadonlyMap<string, FlowCounts>,
): (schema: string, level: string) => FlowCounts {
  const name = (end: string) => `apiserver_flowcontrol_${end}`
  const dispatched = metrics.counter(name('dispatched_requests_total'), 'Requests let in by their flow schema.', LABELS)
  const rejected = metrics.counter(name('rejected_requests_total'), 'Requests turned away, and why.', [
    ...LABELS,
    'reason',
  ])
  const execution = metrics.histogram(
    name('request_execution_seconds'),
    'Seconds until a request is answered; of a watch, until it has begun.',
    [...LABELS, 'type'],
    SECONDS,
  )
  const waited = metrics.histogram(
    name('request_wait_duration_seconds'),
    'Seconds that a request waited in its queue.',
    ['execute', ...LABELS],
    SECONDS,
  )
  const queueLength = metrics.histogram(
    name('request_queue_length_after_enqueue'),
    'Length of the queue that a request has joined.',
    LABELS,
    LENGTHS,
  )
  const each = (end: string, help: string, of: (counts: FlowCounts) => number) =>
    metrics.sampled(name(end), help, LABELS, function* () {
      for (const [key, counts] of known) yield [of(counts), ...key.split('/')] as const
    })
  // Every request takes one seat.
  for (const unit of ['requests', 'seats']) {
    each(`current_executing_${unit}`, `Taken by what is worked on, in ${unit}.`, ({ executing }) => executing)
    each(`current_inqueue_${unit}`, `Wanted by what waits, in ${unit}.`, ({ waiting }) => waiting)
  }
  const limit = (which: 'nominal' | 'lower' | 'upper', help: string) =>
    metrics.sampled(name(`${which}_limit_seats`), help, ['priority_level'], function* () {
      for (const level of levels.all()) yield [level.seats[which], level.name] as const
    })
  limit('nominal', "Seats that are a priority level's share.")
  limit('lower', 'Seats that a priority level has however much others borrow.')
  limit('upper', 'Seats that a priority level has with all it may borrow.')
  metrics.sampled(
    name('current_limit_seats'),
    'Seats a priority level could use now.',
    ['priority_level'],
    function* () {
      const free = levels.free()
      for (const { name: level, seats, executing } of levels.all())
        yield [Math.min(seats.upper, Math.max(seats.nominal, executing) + free), level] as const
    },
  )
  return (schema, level) => ({
    executing: 0,
    waiting: 0,
    dispatched: dispatched.child(schema, level),
    execution: {
      regular: execution.child(schema, level, 'regular'),
      watch: execution.child(schema, level, 'watch'),
    },
    waited: { executed: waited.child('true', schema, level), rejected: waited.child('false', schema, level) },
    queueLength: queueLength.child(schema, level),
    rejected: (reason) => rejected.child(schema, level, reason).add(),
  })
}
