/** Defaults of the core group's kinds that are not pods or what runs them, and of EndpointSlice. */
import type {
  LoadBalancerIngress,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Service,
  ServiceSpec,
  ServiceStatus,
} from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { type Defaulter, missing, unset } from './rule.ts'

const core = (name: string) => `io.k8s.api.core.v1.${name}`
const NAME_LABEL = 'kubernetes.io/metadata.name'
const AFFINITY_SECONDS = 10800

/** Every namespace carries its name as a label. A generated name is not known yet; the strategy sees to that. */
function namespace(value: Fields): Fields | undefined {
  const metadata: Fields = value['metadata'] ?? {}
  if (!metadata['name'] || metadata['labels']?.[NAME_LABEL] === metadata['name']) return undefined
  return { metadata: { ...metadata, labels: { ...metadata['labels'], [NAME_LABEL]: metadata['name'] } } }
}

/** stringData is a way to write data, never a way to read it: it is folded in and gone. */
function secret(value: Fields): Fields | undefined {
  const added = missing(value, { type: 'Opaque' })
  const texts: Fields | undefined = value['stringData']
  if (texts === undefined || texts === null) return added
  const data: { [key: string]: string } = {}
  const put = (key: string, text: string) =>
    Object.defineProperty(data, key, { value: text, enumerable: true, configurable: true, writable: true })
  for (const [key, text] of Object.entries(value['data'] ?? {})) put(key, text as string)
  for (const [key, text] of Object.entries(texts)) put(key, Buffer.from(text as string).toString('base64'))
  return { ...added, ...(Object.keys(data).length > 0 ? { data } : {}), stringData: undefined }
}

/** podCIDR and podCIDRs say the same; an older client writes only the first and is right. */
function nodeSpec(value: Fields): Fields | undefined {
  const one: string | undefined = value['podCIDR'] || undefined
  const all: readonly string[] = value['podCIDRs'] ?? []
  if (one !== undefined) return all[0] === one ? undefined : { podCIDRs: [one] }
  return all[0] === undefined ? undefined : { podCIDR: all[0] }
}

function nodeStatus(value: Fields): Fields | undefined {
  const { capacity, allocatable } = value
  if (capacity === undefined || (allocatable !== undefined && Object.keys(allocatable).length > 0)) return undefined
  return { allocatable: capacity }
}

function service(value: Partial<Service>): Fields | undefined {
  const spec: ServiceSpec = value.spec ?? {}
  const added: { [field: string]: unknown } = { ...missing(spec, { sessionAffinity: 'None', type: 'ClusterIP' }) }
  const affinity = added['sessionAffinity'] ?? spec.sessionAffinity
  const type = added['type'] ?? spec.type
  if (affinity === 'None' && spec.sessionAffinityConfig !== undefined) added['sessionAffinityConfig'] = undefined
  if (affinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    added['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } }
  const outside = type === 'NodePort' || type === 'LoadBalancer'
  Object.assign(
    added,
    missing(spec, {
      ...(outside || (type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)
        ? { externalTrafficPolicy: 'Cluster' }
        : {}),
    }),
    unset(spec, {
      ...(outside || type === 'ClusterIP' ? { internalTrafficPolicy: 'Cluster' } : {}),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
    }),
  )
  const status = type === 'LoadBalancer' ? balancerStatus(value.status) : undefined
  if (Object.keys(added).length === 0) return status
  return { ...status, spec: { ...spec, ...added } }
}

function balancerStatus(status: ServiceStatus | undefined): Fields | undefined {
  const ingress: readonly LoadBalancerIngress[] | undefined = status?.loadBalancer?.ingress
  if (!ingress?.some((entry) => entry.ip && entry.ipMode === undefined)) return undefined
  return {
    status: {
      ...status,
      loadBalancer: {
        ...status?.loadBalancer,
        ingress: ingress.map((entry) => (entry.ip && entry.ipMode === undefined ? { ...entry, ipMode: 'VIP' } : entry)),
      },
    },
  }
}

function servicePort(value: Fields): Fields | undefined {
  const added = missing(value, { protocol: 'TCP' })
  const target: unknown = value['targetPort']
  if (target !== undefined && target !== null && target !== 0 && target !== '') return added
  return { ...added, targetPort: value['port'] ?? 0 }
}

/** Containers' limits follow from each other: the maximum is the default, the default the request. */
function limitRangeItem(value: Fields): Fields | undefined {
  if (value['type'] !== 'Container') return undefined
  const limits = { ...value['max'], ...value['default'] }
  const requests = { ...value['min'], ...limits, ...value['defaultRequest'] }
  return {
    ...(Object.keys(limits).length > 0 ? { default: limits } : {}),
    ...(Object.keys(requests).length > 0 ? { defaultRequest: requests } : {}),
  }
}

const volume = (spec: PersistentVolumeSpec): Fields => ({
  ...spec,
  ...missing(spec, { persistentVolumeReclaimPolicy: 'Retain' }),
  ...unset(spec, { volumeMode: 'Filesystem' }),
})

/** A claim or volume that its controller has not looked at yet is pending. */
function pending(value: Partial<PersistentVolume | PersistentVolumeClaim>): Fields | undefined {
  return value.status?.phase ? undefined : { status: { ...value.status, phase: 'Pending' } }
}

const tcp: Defaulter = (value) => missing(value, { protocol: 'TCP' })

export const coreDefaults: Readonly<Record<string, Defaulter>> = {
  [core('Namespace')]: namespace,
  [core('NamespaceStatus')]: (value) => missing(value, { phase: 'Active' }),
  [core('Secret')]: secret,
  [core('NodeSpec')]: nodeSpec,
  [core('NodeStatus')]: nodeStatus,
  [core('Service')]: service,
  [core('ServicePort')]: servicePort,
  [core('EndpointPort')]: tcp,
  [core('LimitRangeItem')]: limitRangeItem,
  [core('PersistentVolume')]: (value: Partial<PersistentVolume>) => ({
    ...pending(value),
    spec: volume(value.spec ?? {}),
  }),
  [core('PersistentVolumeClaim')]: pending,
  [core('PersistentVolumeClaimSpec')]: (value) => unset(value, { volumeMode: 'Filesystem' }),
  'io.k8s.api.discovery.v1.EndpointPort': (value) => unset(value, { name: '', protocol: 'TCP' }),
}
