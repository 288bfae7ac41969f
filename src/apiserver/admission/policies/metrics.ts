/** What policies did, counted by policy and binding under Kubernetes' names. */
import type { Clock } from '../../../base/clock.ts'
import type { Metrics } from '../../../base/metrics.ts'
import type { Runtime } from '../../../base/runtime.ts'

export type ErrorType = 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget'

interface Named {
  readonly policy: string
  readonly binding: string
}

export interface PolicyMetrics {
  /** Milliseconds that only differences of tell anything of. */
  now(): number
  /** A mutation was evaluated and applied, or failed. `began` as of now(). */
  mutated(of: Named, error: ErrorType, began: number): void
  /** Something was found, and this is what it led to. */
  judged(of: Named, action: 'deny' | 'warn' | 'audit' | 'allow', error: ErrorType, began: number): void
}

const SECONDS = [5e-7, 0.001, 0.01, 0.1, 1]

export function policyMetrics({
  machineClock: clock,
  metrics,
}: Pick<Runtime, 'machineClock' | 'metrics'>): PolicyMetrics {
  if (metrics === undefined) return { now: () => 0, mutated() {}, judged() {} }
  return counting(clock, metrics)
}

function counting(clock: Clock, metrics: Metrics): PolicyMetrics {
  const family = (kind: string, what: string, labels: readonly string[]) => {
    const name = `apiserver_${kind}_admission_policy_check`
    const total = metrics.counter(`${name}_total`, `${what} admission policy checks, by policy and binding.`, labels)
    const seconds = metrics.histogram(
      `${name}_duration_seconds`,
      `Seconds that a check took, by policy and binding.`,
      labels,
      SECONDS,
    )
    return (values: readonly string[], began: number) => {
      total.child(...values).add()
      seconds.child(...values).observe((clock.monotonic() - began) / 1000)
    }
  }
  const mutations = family('mutating', 'Mutation', ['error_type', 'policy', 'policy_binding'])
  const validations = family('validating', 'Validation', [
    'enforcement_action',
    'error_type',
    'policy',
    'policy_binding',
  ])
  return {
    now: () => clock.monotonic(),
    mutated: ({ policy, binding }, error, began) => mutations([error, policy, binding], began),
    judged: ({ policy, binding }, action, error, began) => validations([action, error, policy, binding], began),
  }
}
