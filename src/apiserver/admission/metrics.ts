/** What admission tells of itself, under kube-apiserver's names; nothing where no metrics are kept. */
import type { Clock } from '../../base/clock.ts'
import type { Metrics, Observed } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'

export type AdmissionStep = 'admit' | 'validate'

/** Times one thing: when it passed, and when it refused. */
export interface Timing {
  /** Milliseconds that only differences of tell anything of. */
  now(): number
  /** Gives `now()`. */
  passed(began: number): number
  refused(began: number): void
}

export interface AdmissionTimings {
  /** Of all plugins together. */
  step(operation: string, type: AdmissionStep): Timing
  plugin(name: string, operation: string, type: AdmissionStep): Timing
}

const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** undefined where there are no metrics. */
export function admissionTimings({
  machineClock: clock,
  metrics,
}: Pick<Runtime, 'machineClock' | 'metrics'>): AdmissionTimings | undefined {
  if (metrics === undefined) return undefined
  const labels = ['operation', 'rejected', 'type']
  const steps = metrics.histogram(
    'apiserver_admission_step_admission_duration_seconds',
    'Seconds of each step of admission, by operation.',
    labels,
    SECONDS,
  )
  const plugins = metrics.histogram(
    'apiserver_admission_controller_admission_duration_seconds',
    'Seconds of each admission plugin, by operation and step.',
    ['name', ...labels],
    SECONDS,
  )
  return {
    step: (operation, type) => timing(clock, (rejected) => steps.child(operation, rejected, type)),
    plugin: (name, operation, type) => timing(clock, (rejected) => plugins.child(name, operation, rejected, type)),
  }
}

/** Series begin when something is to be told of. */
function timing(clock: Clock, seriesOf: (rejected: 'true' | 'false') => Observed): Timing {
  let passed: Observed | undefined
  let refused: Observed | undefined
  return {
    now: () => clock.monotonic(),
    passed(began) {
      passed ??= seriesOf('false')
      const now = clock.monotonic()
      passed.observe((now - began) / 1000)
      return now
    },
    refused(began) {
      refused ??= seriesOf('true')
      refused.observe((clock.monotonic() - began) / 1000)
    },
  }
}

/** How a webhook is called in its series: of a mutating one, and of a validating one. */
export type WebhookType = 'admit' | 'validating'

export interface WebhookMetrics {
  now(): number
  /** Asked, and what came of it. `code` is that of its answer, or 503 when it could not be asked. */
  asked(hook: WebhookTiming, began: number, code: number, rejected: boolean): void
  rejected(
    hook: WebhookTiming,
    code: number,
    error: 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error',
  ): void
  failedOpen(hook: WebhookTiming): void
  /** Called when the webhook's matchConditions have been evaluated. */
  conditions(hook: WebhookTiming, began: number, outcome: 'held' | 'excluded' | 'failed'): void
}

export interface WebhookTiming {
  readonly name: string
  readonly operation: string
  readonly type: WebhookType
}

const silent: WebhookMetrics = {
  now: () => 0,
  asked: () => {},
  rejected: () => {},
  failedOpen: () => {},
  conditions: () => {},
}

export function webhookMetrics({
  machineClock: clock,
  metrics,
}: Pick<Runtime, 'machineClock' | 'metrics'>): WebhookMetrics {
  return metrics === undefined ? silent : counting(clock, metrics)
}

function counting(clock: Clock, metrics: Metrics): WebhookMetrics {
  const name = (end: string) => `apiserver_admission_${end}`
  const durations = metrics.histogram(
    name('webhook_admission_duration_seconds'),
    'Seconds of each webhook, by operation.',
    ['name', 'operation', 'rejected', 'type'],
    [...SECONDS, 10, 25],
  )
  const requests = metrics.counter(name('webhook_request_total'), 'Requests to webhooks, by their answers.', [
    ...['code', 'name', 'operation', 'rejected', 'type'],
  ])
  const rejections = metrics.counter(name('webhook_rejection_count'), 'Requests that webhooks refused, and why.', [
    ...['error_type', 'name', 'operation', 'rejection_code', 'type'],
  ])
  const open = metrics.counter(name('webhook_fail_open_count'), 'Webhooks passed by because they failed.', [
    'name',
    'type',
  ])
  const kind = ['kind', 'name', 'operation', 'type']
  const seconds = metrics.histogram(
    name('match_condition_evaluation_seconds'),
    'Seconds that match conditions took.',
    kind,
    [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  )
  const errors = metrics.counter(
    name('match_condition_evaluation_errors_total'),
    'Match conditions that could not be evaluated.',
    kind,
  )
  const exclusions = metrics.counter(
    name('match_condition_exclusions_total'),
    'Requests that match conditions left out.',
    kind,
  )
  return {
    now: () => clock.monotonic(),
    asked({ name, operation, type }, began, code, rejected) {
      durations.child(name, operation, String(rejected), type).observe((clock.monotonic() - began) / 1000)
      requests.child(String(code), name, operation, String(rejected), type).add()
    },
    rejected: ({ name, operation, type }, code, error) =>
      rejections.child(error, name, operation, String(code), type).add(),
    failedOpen: ({ name, type }) => open.child(name, type).add(),
    conditions({ name, operation, type }, began, outcome) {
      const labels = ['webhook', name, operation]
      seconds.child(...labels, type).observe((clock.monotonic() - began) / 1000)
      if (outcome === 'failed') errors.child(...labels, type).add()
      if (outcome !== 'held') exclusions.child(...labels, type === 'admit' ? type : 'validate').add()
    },
  }
}
