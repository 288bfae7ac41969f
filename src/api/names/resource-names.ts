/** Names of resources as limits, requests and quotas use them, and the quantities they may have. */
import { type FieldError, invalid } from '../errors/field-errors.ts'
import { compareQuantities, isWholeQuantity, nanosOf } from '../values/quantity.ts'
import { qualifiedName } from './name-formats.ts'

const HUGE_PAGES = 'hugepages-'
const CONTAINER = ['cpu', 'memory', 'ephemeral-storage']
const OBJECT_COUNTS = [
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const COMPUTE_QUOTA = [
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]
const QUOTA: ReadonlySet<string> = new Set([...COMPUTE_QUOTA, ...OBJECT_COUNTS])
const STANDARD: ReadonlySet<string> = new Set([...QUOTA, 'storage'])
const INTEGER: ReadonlySet<string> = new Set(OBJECT_COUNTS)
const HUGE_PAGE_REQUESTS = 'requests.hugepages-'

/** `hugepages-2Mi` and the like: the size of the page is part of the name. */
export const isHugePageResource = (name: string): boolean => name.startsWith(HUGE_PAGES)
const isStandard = (name: string): boolean =>
  STANDARD.has(name) || isHugePageResource(name) || name.startsWith(HUGE_PAGE_REQUESTS)
export const isStandardQuotaResource = (name: string): boolean =>
  QUOTA.has(name) || isHugePageResource(name) || name.startsWith(HUGE_PAGE_REQUESTS)
export const isStandardContainerResource = (name: string): boolean =>
  CONTAINER.includes(name) || isHugePageResource(name)
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')

export function isExtendedResource(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false
  return qualifiedName(`requests.${name}`).length === 0
}

/** A quota's name for what pods request of an extended resource; of its limits, which are the same, there is none. */
export const isExtendedResourceRequest = (name: string): boolean => !isNative(name) && name.startsWith('requests.')

/** Compute resources may promise more than there is; huge pages and devices may not. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePageResource(name)

export function resourceName(name: string, path: string, errors: FieldError[]): void {
  const messages = qualifiedName(name)
  for (const message of messages) errors.push(invalid(path, name, message))
  if (messages.length === 0 && !name.includes('/') && !isStandard(name))
    errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'))
}

export function containerResourceName(name: string, path: string, errors: FieldError[]): void {
  resourceName(name, path, errors)
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name))
      errors.push(invalid(path, name, 'must be a standard resource for containers'))
  } else if (!isNative(name) && !isExtendedResource(name))
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"))
}

export function quotaResourceName(name: string, path: string, errors: FieldError[]): void {
  resourceName(name, path, errors)
  if (!name.includes('/') && !isStandardQuotaResource(name))
    errors.push(invalid(path, name, 'must be a standard resource for quota'))
}

export function nonNegativeQuantity(value: string, path: string, errors: FieldError[]): void {
  if (nanosOf(value) < 0n) errors.push(invalid(path, value, 'must be greater than or equal to 0'))
}

export function positiveQuantity(value: string, path: string, errors: FieldError[]): void {
  if (compareQuantities(value, '0') <= 0) errors.push(invalid(path, value, 'must be greater than zero'))
}

/** Not negative, and whole where the resource is counted. */
export function resourceQuantity(name: string, value: string, path: string, errors: FieldError[]): void {
  nonNegativeQuantity(value, path, errors)
  if ((INTEGER.has(name) || isExtendedResource(name)) && !isWholeQuantity(value))
    errors.push(invalid(path, value, 'must be an integer'))
}
