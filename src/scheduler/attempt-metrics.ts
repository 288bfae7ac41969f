/** What the scheduler tells of its attempts, under kube-scheduler's names; nothing where no metrics are kept. */
import { exponentialBuckets } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'

/** An attempt to give a pod a node: one for each time that the pod was taken out of the queue. */
export interface SchedulingAttempt {
  /** Counted from 1. */
  readonly number: number
  /** When it began, and when the pod first came, both in milliseconds of the monotonic clock. */
  readonly began: number
  readonly came: number
}

export interface AttemptMetrics {
  /** A node was found for the pod, or none: the time since the attempt began is what finding took. */
  decided(attempt: SchedulingAttempt | undefined): void
  /** Of the profile with that name. Without an attempt the pod was gone before. */
  ended(profile: string, result: 'scheduled' | 'unschedulable' | 'error', attempt: SchedulingAttempt | undefined): void
  preempting(): void
  chosen(victims: number): void
}

const silent: AttemptMetrics = { decided: () => {}, ended: () => {}, preempting: () => {}, chosen: () => {} }

const SECONDS = exponentialBuckets(0.001, 2, 15)

export function attemptMetrics({ clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>): AttemptMetrics {
  if (metrics === undefined) return silent
  const attempts = metrics.counter(
    'scheduler_schedule_attempts_total',
    'Attempts to give pods a node, by profile and result: scheduled, unschedulable or error.',
    ['profile', 'result'],
  )
  const durations = metrics.histogram(
    'scheduler_scheduling_attempt_duration_seconds',
    'Seconds of an attempt, with the binding, by profile and result.',
    ['profile', 'result'],
    SECONDS,
  )
  const finding = metrics
    .histogram('scheduler_scheduling_algorithm_duration_seconds', 'Seconds that finding a node took.', [], SECONDS)
    .child()
  const needed = metrics
    .histogram(
      'scheduler_pod_scheduling_attempts',
      'Attempts until a pod had its node.',
      [],
      exponentialBuckets(1, 2, 5),
    )
    .child()
  const whole = metrics.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'Seconds from when a pod came into the queue until it had its node, by the number of attempts.',
    ['attempts'],
    exponentialBuckets(0.01, 2, 20),
  )
  const preemptions = metrics
    .counter('scheduler_preemption_attempts_total', 'Attempts to make room for a pod by preemption.')
    .child()
  const victims = metrics
    .histogram(
      'scheduler_preemption_victims',
      'Pods that were chosen to go for one pod.',
      [],
      exponentialBuckets(1, 2, 7),
    )
    .child()
  const since = (at: number) => (clock.monotonic() - at) / 1000
  return {
    decided(attempt) {
      if (attempt !== undefined) finding.observe(since(attempt.began))
    },
    ended(profile, result, attempt) {
      attempts.child(profile, result).add()
      if (attempt === undefined) return
      durations.child(profile, result).observe(since(attempt.began))
      if (result !== 'scheduled') return
      needed.observe(attempt.number)
      // As there: many attempts share a series.
      whole.child(attempt.number > 15 ? '16+' : String(attempt.number)).observe(since(attempt.came))
    },
    preempting: () => preemptions.add(),
    chosen: (count) => victims.observe(count),
  }
}
