/**
 * What serves metrics APIs in the autoscalers' scenarios: metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io,
 * answered from a table. The recorder puts it behind a real cluster's APIServices, a replay before its API server.
 */
import type { Fields } from '../../src/api/object.ts'
import { formatTime } from '../../src/base/clock.ts'

/** What one container uses, by resource. */
export type ContainerUse = Readonly<Record<string, string>>

export interface PodUse {
  readonly containers: Readonly<Record<string, ContainerUse>>
  /** How old the sample is. Default: it is of this moment. */
  readonly ageSeconds?: number
  /** Default 30s. */
  readonly window?: string
}

/** A failure in place of an answer. */
export interface Refusal {
  readonly code: number
  /** Default: a body that is no Status. */
  readonly status?: Fields
}

export interface Metrics {
  /** By the pod's number; the last one holds for all further pods. `null`: that pod has no metrics. */
  readonly pods?: readonly (PodUse | null)[] | Refusal
  /** By `pods/packets`, `services.x/hits`, `namespace/load`: one value for each pod, or the object's. */
  readonly custom?: Readonly<Record<string, readonly string[] | Refusal>>
  /** Values by the metric's name. */
  readonly external?: Readonly<Record<string, readonly string[] | Refusal>>
}

export interface StubbedNamespace {
  metrics: Metrics
  /** Names of the pods that there are, by their number. */
  pods: readonly string[]
}

export interface StubAnswer {
  readonly code: number
  readonly body: unknown
}

const RESOURCE = '/apis/metrics.k8s.io/v1beta1'
const CUSTOM = /^\/apis\/custom\.metrics\.k8s\.io\/(v1beta1|v1beta2)/
const EXTERNAL = '/apis/external.metrics.k8s.io/v1beta1'
/** In the order in which an APIService's version priorities put them. */
export const GROUP_VERSIONS: Readonly<Record<string, readonly string[]>> = {
  'metrics.k8s.io': ['v1beta1'],
  'custom.metrics.k8s.io': ['v1beta2', 'v1beta1'],
  'external.metrics.k8s.io': ['v1beta1'],
}

const isRefusal = (value: object): value is Refusal => 'code' in value
const refused = ({ code, status }: Refusal): StubAnswer => ({ code, body: status ?? 'no' })
const notFound = (name: string): StubAnswer => ({
  code: 404,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `the server could not find the metric ${name}`,
    reason: 'NotFound',
    code: 404,
  },
})

/** Undefined for a path that is of no metrics API. */
export function answerMetrics(
  path: string,
  nowMs: number,
  of: (namespace: string) => StubbedNamespace | undefined,
): StubAnswer | undefined {
  const [, , group = '', version, ...rest] = path.split('/')
  if (!path.startsWith('/apis/') || !Object.hasOwn(GROUP_VERSIONS, group)) return undefined
  if (version === undefined) return { code: 200, body: groupOf(group) }
  if (rest.length === 0)
    return {
      code: 200,
      body: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources: [] },
    }
  const [, namespace = '', ...about] = rest
  const stubbed = of(namespace)
  if (stubbed === undefined) return notFound('of another namespace')
  if (path.startsWith(RESOURCE)) return podMetrics(stubbed, namespace, nowMs)
  if (path.startsWith(EXTERNAL)) return externalMetrics(stubbed, about[0] ?? '', nowMs)
  return CUSTOM.test(path) ? customMetrics(stubbed, namespace, version, about, nowMs) : undefined
}

function groupOf(name: string) {
  const versions = (GROUP_VERSIONS[name] ?? []).map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { kind: 'APIGroup', apiVersion: 'v1', name, versions, preferredVersion: versions[0] }
}

function podMetrics({ metrics, pods }: StubbedNamespace, namespace: string, nowMs: number): StubAnswer {
  const uses = metrics.pods ?? []
  if ('code' in uses) return refused(uses)
  const items = pods.flatMap((name, at) => {
    const use = at < uses.length ? uses[at] : uses.at(-1)
    if (use === null || use === undefined) return []
    const containers = Object.entries(use.containers).map(([container, usage]) => ({ name: container, usage }))
    const timestamp = formatTime(nowMs - (use.ageSeconds ?? 0) * 1000)
    return [{ metadata: { name, namespace }, timestamp, window: use.window ?? '30s', containers }]
  })
  return {
    code: 200,
    body: { kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items },
  }
}

function externalMetrics({ metrics }: StubbedNamespace, name: string, nowMs: number): StubAnswer {
  const values = metrics.external?.[name]
  if (values === undefined) return notFound(name)
  if (isRefusal(values)) return refused(values)
  const items = values.map((value, at) => ({
    metricName: name,
    metricLabels: { part: String(at) },
    timestamp: formatTime(nowMs),
    value,
  }))
  return {
    code: 200,
    body: { kind: 'ExternalMetricValueList', apiVersion: 'external.metrics.k8s.io/v1beta1', metadata: {}, items },
  }
}

function customMetrics(
  { metrics, pods }: StubbedNamespace,
  namespace: string,
  version: string,
  [resource = '', name = '', metric = '']: readonly string[],
  nowMs: number,
): StubAnswer {
  // Of a namespace itself they are asked as `metrics/NAME`.
  const asked = resource === 'metrics' ? `namespace/${name}` : `${resource}/${metric}`
  const values = metrics.custom?.[asked]
  if (values === undefined) return notFound(asked)
  if (isRefusal(values)) return refused(values)
  const names = name === '*' ? pods : [resource === 'metrics' ? namespace : name]
  const identity =
    version === 'v1beta1'
      ? { metricName: metric === '' ? name : metric }
      : { metric: { name: metric === '' ? name : metric } }
  const items = names.flatMap((object, at) => {
    const value = at < values.length ? values[at] : values.at(-1)
    if (value === undefined) return []
    const describedObject = { kind: resource === 'pods' ? 'Pod' : resource, namespace, name: object }
    return [{ describedObject, ...identity, timestamp: formatTime(nowMs), value }]
  })
  return {
    code: 200,
    body: {
      kind: 'MetricValueList',
      apiVersion: `custom.metrics.k8s.io/${version}`,
      metadata: {},
      items,
    },
  }
}
