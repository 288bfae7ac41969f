/**
 * The resource metrics API (metrics.k8s.io/v1beta1), as metrics-server serves it, answered in this process: `kubectl top` and
 * autoscalers read it. Of simulated nodes it tells what their pods' annotations say, of others what their kubelets measure.
 */
import type { APIResource, Node, Pod } from '../../api/generated/types.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { fieldsMatch, parseFieldSelector } from '../../api/objects/field-selector.ts'
import { parseLabelSelector } from '../../api/objects/label-selector.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { badRequest, notAllowed, notFound } from '../../api/status.ts'
import { formatQuantity } from '../../api/values/quantity.ts'
import type { LocalApi } from '../../apiserver/aggregation/aggregator.ts'
import { isSimulatedNode } from '../../apiserver/nodes/kubelets.ts'
import type { ServerReads } from '../../apiserver/reads.ts'
import { formatTime } from '../../base/clock.ts'
import { goDurationText } from '../../base/go-duration.ts'
import type { Runtime } from '../../base/runtime.ts'
import { simulatedNodeUsage, simulatedPodUsage } from './simulated-usage.ts'
import type { ContainerUsages, Measured, Usage } from './usage.ts'

const GROUP = 'metrics.k8s.io'
const VERSION = 'v1beta1'
const API_VERSION = `${GROUP}/${VERSION}`
/** As often metrics-server measures. */
const WINDOW_MS = 15_000

/** What kubelets of nodes with real containers measure. */
export interface MeasuredNodes {
  /** Undefined where nothing has been measured yet. */
  node(name: string): Promise<Measured<Usage> | undefined>
  pod(node: string, uid: string): Promise<Measured<ContainerUsages> | undefined>
}

const RESOURCES: readonly APIResource[] = [
  { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
  { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
]

interface ContainerUsage {
  readonly cpu: string
  readonly memory: string
}

/** What PodMetrics and NodeMetrics have both. */
type MetricsOf = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly timestamp: string
  readonly window: string
}
type PodMetrics = MetricsOf & {
  readonly containers: readonly { readonly name: string; readonly usage: ContainerUsage }[]
}
type NodeMetrics = MetricsOf & { readonly usage: ContainerUsage }
type Metrics = PodMetrics | NodeMetrics

/** The objects by which the API is known: an installed metrics-server takes them over. */
export const RESOURCE_METRICS_OBJECTS: readonly KubeObject[] = [
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${VERSION}.${GROUP}`, labels: { 'k8s-app': 'metrics-server' } },
    spec: { group: GROUP, version: VERSION, groupPriorityMinimum: 100, versionPriority: 100 },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: 'system:aggregated-metrics-reader',
      labels: {
        'k8s-app': 'metrics-server',
        'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
        'rbac.authorization.k8s.io/aggregate-to-edit': 'true',
        'rbac.authorization.k8s.io/aggregate-to-view': 'true',
      },
    },
    rules: [{ apiGroups: [GROUP], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
  },
]

export function resourceMetrics(
  runtime: Runtime,
  reads: Pick<ServerReads, 'get' | 'list' | 'podsOnNode'>,
  measured: MeasuredNodes,
): LocalApi {
  const simulated = <T>(used: T): Measured<T> => ({ time: runtime.clock.now(), windowMs: WINDOW_MS, used })

  async function ofPod(pod: Pod): Promise<PodMetrics | undefined> {
    const nodeName = pod.spec?.nodeName ?? ''
    const node = nodeName === '' ? undefined : reads.get('', 'nodes', '', nodeName)
    if (node === undefined) return undefined
    let found: Measured<ContainerUsages> | undefined
    if (isSimulatedNode(node)) {
      const used = simulatedPodUsage(pod)
      found = used && simulated(used)
    } else found = await measured.pod(nodeName, pod.metadata.uid ?? '')
    if (found === undefined) return undefined
    const containers = [...found.used].map(([name, usage]) => ({ name, usage: usageOf(usage) }))
    return { ...metricsOf('PodMetrics', pod, found), containers }
  }

  async function ofNode(node: KubeObject): Promise<NodeMetrics | undefined> {
    const name = node.metadata.name ?? ''
    const found = isSimulatedNode(node)
      ? simulated(simulatedNodeUsage(node as Node, podsOf(name)))
      : await measured.node(name)
    return found && { ...metricsOf('NodeMetrics', node, found), usage: usageOf(found.used) }
  }

  function* podsOf(node: string): Iterable<ContainerUsages> {
    for (const pod of reads.podsOnNode(node)) {
      const used = simulatedPodUsage(pod as Pod)
      if (used !== undefined) yield used
    }
  }

  const of = (resource: string, object: KubeObject): Promise<Metrics | undefined> =>
    resource === 'pods' ? ofPod(object as Pod) : ofNode(object)

  async function answer(request: ApiRequest): Promise<ApiResponse> {
    const { info } = request
    const { resource = '', subresource = '', name = '', namespace = '', verb = '' } = info ?? {}
    const known = RESOURCES.find((one) => one.name === resource)
    if (known === undefined || subresource !== '') throw notFound({ group: GROUP, resource }, name)
    if (verb !== 'get' && verb !== 'list') throw notAllowed()
    const place = known.namespaced ? namespace : ''
    const isTable = wantsTable(request)
    if (verb === 'get') {
      const object = reads.get('', resource, place, name)
      const metrics = object && (await of(resource, object))
      const kind = resource === 'pods' ? 'podmetrics' : 'nodemetrics'
      if (metrics === undefined)
        throw notFound({ group: GROUP, resource: kind }, place === '' ? name : `${place}/${name}`)
      return { kind: 'object', status: 200, object: isTable ? tableOf([metrics]) : metrics }
    }
    const matches = selected(request)
    const items: Metrics[] = []
    for (const object of reads.list('', resource, place)) {
      const metrics = matches(object) ? await of(resource, object) : undefined
      if (metrics !== undefined) items.push(metrics)
    }
    const list = { kind: `${known.kind}List`, apiVersion: API_VERSION, metadata: {}, items }
    return { kind: 'object', status: 200, object: isTable ? tableOf(items) : list }
  }

  return { group: GROUP, version: VERSION, resources: RESOURCES, answer }
}

function metricsOf(kind: string, { metadata }: KubeObject, { time, windowMs }: Measured<unknown>): MetricsOf {
  const { name = '', namespace, labels } = metadata
  return {
    kind,
    apiVersion: API_VERSION,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: formatTime(time),
      ...(labels === undefined ? {} : { labels }),
    },
    timestamp: formatTime(time),
    window: goDurationText(BigInt(Math.round(windowMs)) * 1_000_000n),
  }
}

const usageOf = ({ cpuNanoCores, memoryBytes }: Usage) => ({
  cpu: `${Math.round(cpuNanoCores)}n`,
  memory: `${Math.ceil(memoryBytes / 1024)}Ki`,
})

/** @throws StatusError 400 for a selector that cannot be read */
function selected({ query }: ApiRequest): (object: KubeObject) => boolean {
  try {
    const labels = parseLabelSelector(query.get('labelSelector') ?? '')
    const fields = parseFieldSelector(query.get('fieldSelector') ?? '')
    return ({ metadata }) =>
      labels.matches(metadata.labels) &&
      fieldsMatch(fields, { 'metadata.name': metadata.name ?? '', 'metadata.namespace': metadata.namespace ?? '' })
  } catch (error) {
    throw badRequest((error as Error).message)
  }
}

const wantsTable = ({ headers }: ApiRequest): boolean =>
  /(^|[;,\s])as=Table(;|,|$)/.test(String(headers['accept'] ?? ''))

/** Name, the resources in the order of their names, and the window, as metrics-server prints them. */
function tableOf(items: readonly Metrics[]): KubeObject {
  const total = (item: Metrics) => {
    const usages = 'containers' in item ? item.containers.map(({ usage }) => usage) : [item.usage]
    const sum = (resource: 'cpu' | 'memory') =>
      usages.reduce((all, usage) => all + Number.parseInt(usage[resource], 10), 0)
    const cpu = formatQuantity({ nanos: BigInt(sum('cpu')), format: 'DecimalSI' })
    return [cpu, `${sum('memory')}Ki`]
  }
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    columnDefinitions: [
      { name: 'Name', type: 'string', format: 'name', description: 'Name of the resource', priority: 0 },
      { name: 'cpu', type: 'string', format: 'quantity', description: '', priority: 0 },
      { name: 'memory', type: 'string', format: 'quantity', description: '', priority: 0 },
      { name: 'Window', type: 'string', format: 'duration', description: '', priority: 0 },
    ],
    rows: items.map((item) => ({ cells: [item.metadata.name, ...total(item), item.window], object: item })),
  }
}
