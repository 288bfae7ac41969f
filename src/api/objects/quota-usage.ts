/**
 * What an object uses of a ResourceQuota (API concept: resource quotas): an evaluator for each kind that uses more than its
 * own number, and one for all others.
 */

import { createLruMap } from '../../base/lru.ts'
import type {
  DeviceSubRequest,
  ExactDeviceRequest,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  ResourceRequirements,
  ResourceV1ResourceClaim,
  Service,
  ServicePort,
  ServiceSpec,
} from '../generated/types.ts'
import { isExtendedResource, isExtendedResourceRequest } from '../names/resource-names.ts'
import type { Given, KubeObject } from '../object.ts'
import { type GroupResource, qualified } from '../status.ts'
import { chargedLimits, chargedRequests } from './pod-requests.ts'

export type QuotaUsage = Readonly<Record<string, string>>

export interface Evaluator {
  /** Writes that change what is used: creations, and updates where an update may ask for more. */
  handles(operation: string, subresource: string): boolean
  /** With the time in milliseconds, a pod that should be gone by then has none but its place in storage. */
  usage(object: KubeObject, nowMs?: number): QuotaUsage
  /** Whether the quota's resource is one that this kind may use. */
  isAbout(resource: string): boolean
  /** Whether an update brings the object into scopes that it was not in: quotas of those then count the whole of it. */
  changesScope?(object: KubeObject, old: KubeObject): boolean
  /** Whether `usage` looks at more than that the object is there. */
  readonly looksInside: boolean
  /** Resources a quota demands that the object names at all; in words, what is missing, or undefined. */
  missing?(resources: readonly string[], object: KubeObject): string | undefined
}

const CORE_COUNTS = new Set([
  'configmaps',
  'secrets',
  'services',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
  'pods',
])

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const isHugePages = (name: string) => name.startsWith('hugepages-')

function podUsage(pod: Pod, nowMs = 0): QuotaUsage {
  const usage: Record<string, string> = { 'count/pods': '1' }
  const phase: string | undefined = pod.status?.phase
  // What has ended takes nothing but its place in storage.
  if (phase === 'Failed' || phase === 'Succeeded' || isOverdue(pod, nowMs)) return usage
  usage['pods'] = '1'
  for (const [name, amount] of Object.entries(chargedRequests(pod))) {
    if (COMPUTE.includes(name) || isHugePages(name)) {
      usage[name] = amount
      usage[`requests.${name}`] = amount
    } else if (isExtendedResource(name)) usage[`requests.${name}`] = amount
  }
  for (const [name, amount] of Object.entries(chargedLimits(pod)))
    if (COMPUTE.includes(name)) usage[`limits.${name}`] = amount
  return usage
}

/** Its node should have ended it, and has not said so. */
function isOverdue({ metadata }: Pod, nowMs: number): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000 < nowMs
}

const DEMANDED = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

/** Where a quota speaks of cpu or memory, every container must say how much it takes, unless the pod as a whole says anything. */
function podMissing(resources: readonly string[], pod: Pod): string | undefined {
  const demanded = resources.filter((name) => DEMANDED.has(name))
  if (demanded.length === 0) return undefined
  const spec: Partial<PodSpec> = pod.spec ?? {}
  if (containerUsage(spec).size > 0) return undefined
  const by = new Map<string, string[]>()
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const own = containerUsage(container)
    for (const name of demanded) {
      if (own.has(name)) continue
      by.set(name, [...(by.get(name) ?? []), container.name])
    }
  }
  if (by.size === 0) return undefined
  return `must specify ${[...by.keys()]
    .sort()
    .map((name) => `${name} for: ${[...new Set(by.get(name))].sort().join(',')}`)
    .join('; ')}`
}

function containerUsage({ resources }: { readonly resources?: ResourceRequirements }): ReadonlySet<string> {
  const names = new Set<string>()
  for (const name of Object.keys(resources?.requests ?? {})) names.add(name).add(`requests.${name}`)
  for (const name of Object.keys(resources?.limits ?? {})) names.add(`limits.${name}`)
  return names
}

/** What containers may ask for, and be limited to. */
function isOfContainers(resource: string): boolean {
  if (resource.startsWith('limits.')) return COMPUTE.includes(resource.slice('limits.'.length))
  const name = resource.startsWith('requests.') ? resource.slice('requests.'.length) : resource
  return COMPUTE.includes(name) || isHugePages(name) || isExtendedResourceRequest(resource)
}

const pods: Evaluator = {
  handles: (operation, subresource) =>
    (operation === 'CREATE' && subresource === '') || (operation === 'UPDATE' && subresource === 'resize'),
  usage: podUsage,
  changesScope: ({ spec }: Pod, { spec: before }: Pod) =>
    (spec?.activeDeadlineSeconds === undefined) !== (before?.activeDeadlineSeconds === undefined),
  isAbout: (resource) => resource === 'pods' || resource === 'count/pods' || isOfContainers(resource),
  missing: podMissing,
  looksInside: true,
}

function serviceUsage(service: Service): QuotaUsage {
  const spec: ServiceSpec = service.spec ?? {}
  const ports: readonly ServicePort[] = spec.ports ?? []
  let nodePorts = 0
  let balancers = 0
  if (spec.type === 'NodePort') nodePorts = ports.length
  if (spec.type === 'LoadBalancer') {
    balancers = 1
    nodePorts =
      spec.allocateLoadBalancerNodePorts === false ? ports.filter((port) => port.nodePort).length : ports.length
  }
  return {
    services: '1',
    'count/services': '1',
    'services.nodeports': String(nodePorts),
    'services.loadbalancers': String(balancers),
  }
}

const services: Evaluator = {
  handles: (operation, subresource) => (operation === 'CREATE' || operation === 'UPDATE') && subresource === '',
  usage: serviceUsage,
  looksInside: true,
  isAbout: (resource) => Object.hasOwn(serviceUsage({ metadata: {} } as KubeObject), resource),
}

const CLASS_SUFFIX = '.storageclass.storage.k8s.io/'
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'

function claimUsage(claim: PersistentVolumeClaim): QuotaUsage {
  const usage: Record<string, string> = { persistentvolumeclaims: '1', 'count/persistentvolumeclaims': '1' }
  const name: string = claim.metadata.annotations?.[BETA_CLASS] ?? claim.spec?.storageClassName ?? ''
  const storage: string | undefined = claim.spec?.resources?.requests?.['storage']
  if (name !== '') usage[`${name}${CLASS_SUFFIX}persistentvolumeclaims`] = '1'
  if (storage !== undefined) {
    usage['requests.storage'] = storage
    if (name !== '') usage[`${name}${CLASS_SUFFIX}requests.storage`] = storage
  }
  return usage
}

const claims: Evaluator = {
  handles: services.handles,
  usage: claimUsage,
  looksInside: true,
  isAbout: (resource) =>
    resource === 'persistentvolumeclaims' ||
    resource === 'count/persistentvolumeclaims' ||
    resource === 'requests.storage' ||
    resource.endsWith(`${CLASS_SUFFIX}persistentvolumeclaims`) ||
    resource.endsWith(`${CLASS_SUFFIX}requests.storage`),
}

const DEVICE_SUFFIX = '.deviceclass.resource.k8s.io/devices'
/** All devices of a class that one claim may get. */
const MAX_DEVICES = 32

function resourceClaimUsage(claim: Given<ResourceV1ResourceClaim>): QuotaUsage {
  const counts = new Map<string, number>()
  const add = (name: string | undefined, count: number) => {
    if (name) counts.set(name, (counts.get(name) ?? 0) + count)
  }
  const devicesOf = ({ allocationMode, count }: ExactDeviceRequest | DeviceSubRequest): number =>
    allocationMode === 'All' ? MAX_DEVICES : (count ?? 1)
  for (const request of claim.spec?.devices?.requests ?? []) {
    if (request.exactly) add(request.exactly.deviceClassName, devicesOf(request.exactly))
    const most = new Map<string, number>()
    for (const sub of request.firstAvailable ?? [])
      most.set(sub.deviceClassName, Math.max(most.get(sub.deviceClassName) ?? 0, devicesOf(sub)))
    for (const [name, count] of most) add(name, count)
  }
  return {
    'count/resourceclaims.resource.k8s.io': '1',
    ...Object.fromEntries([...counts].map(([name, count]) => [name + DEVICE_SUFFIX, String(count)])),
  }
}

const resourceClaims: Evaluator = {
  handles: services.handles,
  usage: resourceClaimUsage,
  looksInside: true,
  isAbout: (resource) => resource === 'count/resourceclaims.resource.k8s.io' || resource.endsWith(DEVICE_SUFFIX),
}

const MOST_COUNTING = 1000

const SPECIAL: Readonly<Record<string, Evaluator>> = {
  pods,
  services,
  persistentvolumeclaims: claims,
  'resourceclaims.resource.k8s.io': resourceClaims,
}

/** Of all other kinds. Definitions come and go: those that were not asked for lately are made anew. */
const counting = createLruMap<string, Evaluator>(MOST_COUNTING)

export function evaluatorOf({ group, resource }: GroupResource): Evaluator {
  const name = qualified({ group, resource })
  const known = (Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined) ?? counting.get(name)
  if (known !== undefined) return known
  const usage: QuotaUsage = {
    [`count/${name}`]: '1',
    ...(group === '' && CORE_COUNTS.has(name) ? { [name]: '1' } : {}),
  }
  const evaluator: Evaluator = {
    handles: (operation, subresource) => operation === 'CREATE' && subresource === '',
    usage: () => usage,
    isAbout: (candidate) => Object.hasOwn(usage, candidate),
    looksInside: false,
  }
  counting.set(name, evaluator)
  return evaluator
}
