/** The names of resources that Kubernetes itself knows, and the classes they fall into. */

export const HUGE_PAGES_PREFIX = 'hugepages-'

export const isHugePageResource = (name: string): boolean => name.startsWith(HUGE_PAGES_PREFIX)

const standardContainerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])

export const isStandardContainerResource = (name: string): boolean =>
  standardContainerResources.has(name) || isHugePageResource(name)

const standardResources: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
])

export const isStandardResource = (name: string): boolean =>
  standardResources.has(name) || isHugePageResource(name) || name.startsWith('requests.hugepages-')

/** In Kubernetes' own namespace of names: without a domain, or under kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')

/** A resource that some device plugin or administrator brings; never overcommitted. */
export const isExtendedResource = (name: string): boolean => !isNativeResource(name) && !name.startsWith('requests.')

export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePageResource(name)

/** Amounts that are counted, not divided. */
export const isIntegerResource = (name: string): boolean => integerResources.has(name) || isExtendedResource(name)

const integerResources: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])
