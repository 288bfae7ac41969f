/**
 * Metrics of a HorizontalPodAutoscaler, and why each cannot be had: nothing here serves metrics APIs, and their answers are
 * not read. What is told is what is told where there is no such API.
 */
import type { Fields, KubeObject } from '../../api/object.ts'

export interface MetricFailure {
  /** `FailedGetResourceMetric`: of the Event and of the condition. */
  readonly reason: string
  readonly message: string
  /** `cpu resource`: which value could not be had. */
  readonly what: string
}

const noResource = (name: string): string => `the server could not find the requested resource (get ${name})`
const noCustom = 'no custom metrics API (custom.metrics.k8s.io) registered'

/** One for each metric of the specification, in its order. */
export function metricFailures(autoscaler: KubeObject): readonly MetricFailure[] {
  const { namespace } = autoscaler.metadata
  return ((autoscaler['spec'].metrics ?? []) as readonly Fields[]).map((metric) => failureOf(metric, namespace ?? ''))
}

function failureOf(metric: Fields, namespace: string): MetricFailure {
  switch (metric['type']) {
    case 'Resource': {
      const { name, target } = metric['resource']
      return { reason: 'FailedGetResourceMetric', what: `${name} resource`, message: resourceMessage(name, target) }
    }
    case 'ContainerResource': {
      const { name, container, target } = metric['containerResource']
      const message = resourceMessage(name, target)
      return { reason: 'FailedGetContainerResourceMetric', what: `${container} container`, message }
    }
    case 'Pods': {
      const message = `unable to get metric ${metric['pods'].metric.name}: unable to fetch metrics from custom metrics API: ${noCustom}`
      return { reason: 'FailedGetPodsMetric', what: 'pods', message }
    }
    case 'Object': {
      const { metric: own, describedObject } = metric['object']
      const subject = `${own.name} on ${describedObject.kind} ${namespace}/${describedObject.name}`
      const message = `unable to get metric ${subject}: unable to fetch metrics from custom metrics API: ${noCustom}`
      return { reason: 'FailedGetObjectMetric', what: 'object', message }
    }
    default: {
      const { name, selector } = metric['external'].metric
      const chosen = selector === undefined ? 'nil' : JSON.stringify(selector)
      const message = `unable to get external metric ${namespace}/${name}/${chosen}: unable to fetch metrics from external metrics API: ${noResource(`${name}.external.metrics.k8s.io`)}`
      return { reason: 'FailedGetExternalMetric', what: 'external', message }
    }
  }
}

function resourceMessage(name: string, target: Fields): string {
  const what = target['type'] === 'Utilization' ? 'utilization' : 'usage'
  return `failed to get ${name} ${what}: unable to get metrics for resource ${name}: unable to fetch metrics from resource metrics API: ${noResource('pods.metrics.k8s.io')}`
}
