/** What each metric of a specification makes of the number of replicas, and what the status tells of it. */
import type {
  LabelSelector,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../api/generated/types.ts'
import { goSelector } from '../../api/objects/label-selector.ts'
import { formatQuantity, type QuantityFormat } from '../../api/values/quantity.ts'
import { messageOf } from '../../base/errors.ts'
import { boundedMilli, type MetricsClient, selectorText } from './metrics-client.ts'
import {
  averageReplicas,
  type CountedReplicas,
  type Proposal,
  sharedReplicas,
  utilizationReplicas,
  valueReplicas,
} from './replica-calculator.ts'

export interface MetricOutcome {
  readonly replicas: number
  /** `cpu resource utilization (percentage of request)`: as conditions and Events name it. */
  readonly name: string
  readonly status: MetricStatus
}

export class MetricFailure extends Error {
  /** `FailedGetResourceMetric`: of the Event and of the condition. */
  readonly reason: string
  /** What failed, and why: as the first error of several is told. */
  readonly nested: string
  constructor(reason: string, nested: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.nested = nested
  }
}

export interface Target {
  readonly namespace: string
  /** Of the pods, as a query has it. */
  readonly selector: string
  /** Asked for. */
  readonly wanted: number
  readonly present: number
  readonly counted: CountedReplicas
}

/** @throws MetricFailure */
export async function proposalOf(metrics: MetricsClient, metric: MetricSpec, target: Target): Promise<MetricOutcome> {
  try {
    return await outcomeOf(metrics, metric, target)
  } catch (error) {
    const message = messageOf(error)
    throw new MetricFailure(`FailedGet${metric.type}Metric`, nestedFailure(metric, message), message, { cause: error })
  }
}

function nestedFailure({ type, resource, containerResource, object, external }: MetricSpec, message: string): string {
  switch (type) {
    case 'Resource':
      return `failed to get ${resource?.name} resource metric value: ${message}`
    case 'ContainerResource':
      return `failed to get ${containerResource?.container} container metric value: ${message}`
    case 'External': {
      const name = external?.metric.name
      return external?.target.averageValue === undefined
        ? `failed to get ${name} external metric value: failed to get external metric ${name}: ${message}`
        : `failed to get ${name} external metric value: failed to get ${name} external metric: ${message}`
    }
    case 'Object':
      return object?.target.type === 'Value'
        ? `failed to get object metric value: ${message}`
        : `failed to get object metric value: failed to get ${object?.metric.name} object metric: ${message}`
    default:
      return `failed to get ${type.toLowerCase()} metric value: ${message}`
  }
}

async function outcomeOf(metrics: MetricsClient, metric: MetricSpec, target: Target): Promise<MetricOutcome> {
  const { type } = metric
  const { namespace, selector, wanted, present, counted } = target
  if (metric.type === 'Resource' && metric.resource !== undefined) {
    const { name } = metric.resource
    const { current, ...rest } = await ofResource(metrics, name, undefined, metric.resource.target, target)
    return { ...rest, status: { type, resource: { name, current } } }
  }
  if (metric.type === 'ContainerResource' && metric.containerResource !== undefined) {
    const { name, container } = metric.containerResource
    const { current, ...rest } = await ofResource(metrics, name, container, metric.containerResource.target, target)
    return { ...rest, status: { type, containerResource: { name, current, container } } }
  }
  if (metric.type === 'Pods' && metric.pods !== undefined) {
    const own = metric.pods.metric
    const query = selectorText(own.selector)
    const found = await asked(`unable to get metric ${own.name}`, () =>
      metrics.ofPods(namespace, own.name, selector, query),
    )
    const { replicas, milli } = averageReplicas(wanted, milliOf(metric.pods.target.averageValue), '', found, counted)
    const status = { type, pods: { metric: own, current: { averageValue: textOf(milli) } } }
    return { replicas, name: `pods metric ${own.name}`, status }
  }
  if (metric.type === 'Object' && metric.object !== undefined) {
    const { metric: own, describedObject, target: goal } = metric.object
    const query = selectorText(own.selector)
    const subject = `${own.name} on ${describedObject.kind} ${namespace}/${describedObject.name}`
    const value = await asked(`unable to get metric ${subject}`, () =>
      metrics.ofObject(namespace, own.name, describedObject, query),
    )
    const isValue = goal.type === 'Value'
    const { replicas, milli } = isValue
      ? valueReplicas(wanted, milliOf(goal.value), value, counted)
      : sharedReplicas(present, milliOf(goal.averageValue), value, counted.tolerances)
    const current = isValue ? { value: textOf(milli) } : { averageValue: textOf(milli) }
    const name = isValue ? `${describedObject.kind} metric ${own.name}` : `external metric ${namedMetric(own)}`
    return { replicas, name, status: { type, object: { metric: own, current, describedObject } } }
  }
  if (metric.type === 'External' && metric.external !== undefined) {
    const { metric: own, target: goal } = metric.external
    const query = selectorText(own.selector)
    const subject = `${namespace}/${own.name}/${goSelector(own.selector)}`
    const values = await asked(`unable to get external metric ${subject}`, () =>
      metrics.external(namespace, own.name, query),
    )
    const value = values.reduce((sum, one) => sum + one, 0n)
    const isValue = goal.averageValue === undefined
    const { replicas, milli } = isValue
      ? valueReplicas(wanted, milliOf(goal.value), value, counted)
      : sharedReplicas(present, milliOf(goal.averageValue), value, counted.tolerances)
    const current = isValue ? { value: textOf(milli) } : { averageValue: textOf(milli) }
    return {
      replicas,
      name: `external metric ${namedMetric(own)}`,
      status: { type, external: { metric: own, current } },
    }
  }
  throw new Error(`unknown metric source type ${JSON.stringify(type)}`)
}

async function ofResource(
  metrics: MetricsClient,
  resource: string,
  container: string | undefined,
  goal: MetricTarget,
  { namespace, selector, wanted, counted }: Target,
): Promise<{ readonly replicas: number; readonly name: string; readonly current: MetricValueStatus }> {
  const isUsage = goal.averageValue !== undefined
  const found = (): Promise<Awaited<ReturnType<MetricsClient['resource']>>> =>
    asked(`unable to get metrics for resource ${resource}`, () =>
      metrics.resource(namespace, resource, selector, container),
    )
  const proposal: Proposal = await asked(`failed to get ${resource} ${isUsage ? 'usage' : 'utilization'}`, async () =>
    isUsage
      ? averageReplicas(wanted, milliOf(goal.averageValue), resource, await found(), counted)
      : utilizationReplicas(wanted, goal.averageUtilization ?? 0, resource, container, await found(), counted),
  )
  const { replicas, milli, utilization } = proposal
  const averageValue = textOf(milli, resource === 'memory' ? 'BinarySI' : 'DecimalSI')
  const measured = container === undefined ? `${resource} resource` : `${resource} container resource`
  const name = isUsage ? `${resource} resource` : `${measured} utilization (percentage of request)`
  const current = utilization === undefined ? { averageValue } : { averageValue, averageUtilization: utilization }
  return { replicas, name, current }
}

async function asked<T>(failure: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw new Error(`${failure}: ${messageOf(error)}`, { cause: error })
  }
}

const milliOf = (quantity = '0'): bigint => boundedMilli(quantity)
const textOf = (milli: bigint, format: QuantityFormat = 'DecimalSI'): string =>
  formatQuantity({ nanos: milli * 1_000_000n, format })

const namedMetric = ({ name, selector }: { readonly name: string; readonly selector?: LabelSelector }): string =>
  `${name}(${goSelector(selector)})`
