/** An authorizer that asks a server elsewhere, by SubjectAccessReview; its answers are kept for a while. */
import { messageOf } from '../../../base/errors.ts'
import type { Metrics } from '../../../base/metrics.ts'
import type { Runtime } from '../../../base/runtime.ts'
import type { Attributes, Authorizer, Decision } from '../authorizer.ts'
import { createAnswerCache } from './cache.ts'
import { type ReviewClient, ReviewError } from './client.ts'
import { conditionsHold, type WebhookMatchCondition } from './conditions.ts'
import { accessReview, type ReviewVersion } from './review.ts'

export interface WebhookAuthorizerOptions {
  readonly name: string
  readonly version: ReviewVersion
  /** How long an answer is kept that allows, and one that does not; 0 is not at all. */
  readonly authorizedMs: number
  readonly unauthorizedMs: number
  /** What stands when the server cannot be asked, or its match conditions fail. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly conditions: readonly WebhookMatchCondition[]
}

/** As many as kube-apiserver keeps, of such a length at most. */
const MOST_ANSWERS = 8192
const LONGEST_KEY = 10_000

export function createWebhookAuthorizer(
  runtime: Runtime,
  client: ReviewClient,
  options: WebhookAuthorizerOptions,
): Authorizer {
  const { version, conditions, name } = options
  const count = webhookMetrics(runtime.metrics, name)
  const cache = createAnswerCache<Decision>(runtime.clock, MOST_ANSWERS, ({ verdict, error }) =>
    error !== undefined ? 0 : verdict === 'allow' ? options.authorizedMs : options.unauthorizedMs,
  )
  const failed = (error: string): Decision => ({
    verdict: options.failurePolicy === 'Deny' ? 'deny' : 'no opinion',
    reason: '',
    error,
  })

  async function ask(attributes: Attributes): Promise<Decision> {
    const started = runtime.machineClock.monotonic()
    const took = () => (runtime.machineClock.monotonic() - started) / 1000
    try {
      const { allowed, denied, reason } = await client.ask(accessReview(attributes, version))
      count.asked('success', took())
      const why = typeof reason === 'string' ? reason : ''
      if (allowed === true && denied === true)
        return failed('webhook subject access review returned both allow and deny response')
      return { verdict: allowed === true ? 'allow' : denied === true ? 'deny' : 'no opinion', reason: why }
    } catch (error) {
      const result = error instanceof ReviewError && error.timedOut ? 'timeout' : 'error'
      count.asked(result, took())
      if (options.failurePolicy === 'NoOpinion') count.failedOpen(result)
      return failed(messageOf(error))
    }
  }

  return {
    authorize(attributes) {
      if (conditions.length > 0) {
        const outcome = conditionsHold(conditions, accessReview(attributes, 'v1').spec)
        if ('error' in outcome) {
          count.conditionFailed()
          return failed(outcome.error)
        }
        if (!outcome.matches) {
          count.excluded()
          return { verdict: 'no opinion', reason: '' }
        }
      }
      const key = JSON.stringify(accessReview(attributes, version).spec)
      return key.length > LONGEST_KEY ? ask(attributes) : cache.get(key, () => ask(attributes))
    },
  }
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function webhookMetrics(metrics: Metrics | undefined, name: string) {
  const evaluations = metrics?.counter(
    'apiserver_authorization_webhook_evaluations_total',
    'Round-trips to authorization webhooks.',
    ['name', 'result'],
  )
  const durations = metrics?.histogram(
    'apiserver_authorization_webhook_duration_seconds',
    'Request latency in seconds.',
    ['name', 'result'],
    SECONDS,
  )
  const failOpen = metrics?.counter(
    'apiserver_authorization_webhook_evaluations_fail_open_total',
    'NoOpinion results due to webhook timeout or error.',
    ['name', 'result'],
  )
  const labels = ['name', 'type']
  const conditionErrors = metrics?.counter(
    'apiserver_authorization_match_condition_evaluation_errors_total',
    'Match conditions of authorization webhooks that could not be evaluated.',
    labels,
  )
  const exclusions = metrics?.counter(
    'apiserver_authorization_match_condition_exclusions_total',
    'Requests about which an authorization webhook is not asked, by its match conditions.',
    labels,
  )
  return {
    asked(result: string, seconds: number) {
      evaluations?.child(name, result).add()
      durations?.child(name, result).observe(seconds)
    },
    failedOpen: (result: string) => failOpen?.child(name, result).add(),
    conditionFailed: () => conditionErrors?.child(name, 'Webhook').add(),
    excluded: () => exclusions?.child(name, 'Webhook').add(),
  }
}
