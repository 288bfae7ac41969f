/** Metrics, and the autoscalers that ask for them, as stories make them. */
import type { Fields } from '../../src/api/object.ts'
import { dep, done, hpa } from './objects.ts'
import type { Scene } from './story.ts'

/**
 * Metrics are instances of definitions of the groups that autoscalers ask, the same of every cluster. All stories share them and leave them:
 * stories that ask for metrics that there are none of are played to another cluster.
 */
export async function metricsOf(s: Scene, plural: string, group: string, kind: string): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await s.raw('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, a stub' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: plural, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
    },
  })
  await s.until(plural, async () => (await s.raw('GET', pathOf(s, group, plural))).status === 200)
}
export const pathOf = (s: Scene, group: string, plural: string) => `/apis/${group}/v1beta1/namespaces/${s.ns}/${plural}`

export async function measured(s: Scene, group: string, plural: string, name: string, body: Fields): Promise<void> {
  const path = pathOf(s, group, plural)
  await s.raw('DELETE', `${path}/${name}`)
  await s.raw('POST', path, { apiVersion: `${group}/v1beta1`, timestamp: '2090-01-01T00:00:00Z', ...body })
}

/** What a pod's containers use. */
export const uses = (s: Scene, name: string, usage: Fields, labels: Fields = { app: 'a' }) =>
  measured(s, 'metrics.k8s.io', 'pods', name, {
    kind: 'PodMetrics',
    metadata: { name, labels },
    window: '1s',
    containers: [{ name: 'c', usage }],
  })
export async function allUse(s: Scene, usage: Fields): Promise<void> {
  for (const { metadata } of await s.list('pods')) await uses(s, metadata.name, usage)
}
export const podMetrics = (s: Scene) => metricsOf(s, 'pods', 'metrics.k8s.io', 'PodMetrics')

/** An external metric has values of several labels. */
export const DEPTH = 'depth'
export const external = (s: Scene) => metricsOf(s, DEPTH, 'external.metrics.k8s.io', 'ExternalMetricValue')
export const valued = (s: Scene, name: string, value: string, labels: Fields = {}) =>
  measured(s, 'external.metrics.k8s.io', DEPTH, name, {
    kind: 'ExternalMetricValue',
    metadata: { name, labels },
    metricName: DEPTH,
    metricLabels: labels,
    value,
  })

export const requesting = (requests: Fields) => ({ containers: [{ name: 'c', image: 'i:1', resources: { requests } }] })
export const utilization = (averageUtilization: number, name = 'cpu') => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
})
export const average = (averageValue: string, name = 'memory') => ({
  type: 'Resource',
  resource: { name, target: { type: 'AverageValue', averageValue } },
})
export const externally = (target: Fields, matchLabels?: Fields) => ({
  type: 'External',
  external: {
    metric: { name: DEPTH, ...(matchLabels === undefined ? {} : { selector: { matchLabels } }) },
    target,
  },
})
export const scaled = (s: Scene, replicas: number, ms = 70_000) =>
  s.untilObj('deployments', 'a', ({ spec }) => spec.replicas === replicas, ms)
export async function deployed(s: Scene, replicas: number, requests: Fields = { cpu: '100m', memory: '100Mi' }) {
  await s.create('deployments', dep('a', { replicas }, requesting(requests)))
  await s.untilObj('deployments', 'a', done)
}
export const autoscale = (s: Scene, spec: Fields) => s.create('horizontalpodautoscalers', hpa(spec))
export const QUICK_DOWN = { scaleDown: { stabilizationWindowSeconds: 0 } }
