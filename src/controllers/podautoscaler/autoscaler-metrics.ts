/** What the autoscaler tells of its looks, under kube-controller-manager's names; nothing where no metrics are kept. */
import { exponentialBuckets } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import { splitKey } from '../../client/store.ts'

export type ScalingAction = 'scale_up' | 'scale_down' | 'none'

export const actionOf = (before: number, after: number): ScalingAction =>
  after > before ? 'scale_up' : after < before ? 'scale_down' : 'none'

export interface AutoscalerMetrics {
  /** A look that began at `began`, in milliseconds of the monotonic clock, is over; without an action it failed. */
  looked(action: ScalingAction | undefined, began: number): void
  /** The same of one metric of a specification. */
  computed(type: string, action: ScalingAction | undefined, began: number): void
  /** How many replicas the autoscaler asks for. */
  wants(key: string, replicas: number): void
  forget(key: string): void
}

const silent: AutoscalerMetrics = { looked: () => {}, computed: () => {}, wants: () => {}, forget: () => {} }
const SECONDS = exponentialBuckets(0.001, 2, 15)

/** `count`: how many autoscalers there are, as long as they are looked after. */
export function autoscalerMetrics(
  { metrics, clock }: Pick<Runtime, 'metrics' | 'clock'>,
  count: () => number | undefined,
): AutoscalerMetrics {
  if (metrics === undefined) return silent
  const of = (name: string) => `horizontal_pod_autoscaler_controller_${name}`
  /** As kube-controller-manager's: only failures that it calls internal have been seen of it. */
  const outcome = (action: ScalingAction | undefined) => [action ?? 'none', action === undefined ? 'internal' : 'none']
  const pair = (counter: string, duration: string, what: string, labels: readonly string[]) => {
    const total = metrics.counter(of(counter), `${what}, by what came of them.`, labels)
    const seconds = metrics.histogram(of(duration), `Seconds that these took: ${what}.`, labels, SECONDS)
    return (values: readonly string[], began: number) => {
      total.child(...values).add()
      seconds.child(...values).observe((clock.monotonic() - began) / 1000)
    }
  }
  const labels = ['action', 'error']
  const looks = pair('reconciliations_total', 'reconciliation_duration_seconds', 'looks at autoscalers', labels)
  const computations = pair(
    'metric_computation_total',
    'metric_computation_duration_seconds',
    'computations of replicas by one metric',
    [...labels, 'metric_type'],
  )
  const wanted = new Map<string, number>()
  metrics.sampled(of('num_horizontal_pod_autoscalers'), 'Autoscalers that there are.', [], () => {
    const there = count()
    return there === undefined ? [] : [[there]]
  })
  metrics.sampled(of('desired_replicas'), 'Replicas that the autoscaler asks for.', ['hpa_name', 'namespace'], () =>
    [...wanted].map(([key, replicas]) => [replicas, splitKey(key).name, splitKey(key).namespace] as const),
  )
  return {
    looked: (action, began) => looks(outcome(action), began),
    computed: (type, action, began) => computations([...outcome(action), type], began),
    wants: (key, replicas) => void wanted.set(key, replicas),
    forget: (key) => void wanted.delete(key),
  }
}
