/** The downward API: fields of a pod and resources of its containers as text, for variables and files (API concept: downward API). */
import { goQuote } from '../api/quote.ts'
import { nanosOf } from '../api/values/quantity.ts'
import { type Container, containerNamed, type Pod, specOf } from './pod.ts'

export interface PodPlace {
  readonly hostIPs: readonly string[]
  readonly podIPs: readonly string[]
}

export function podField(pod: Pod, path: string, { hostIPs, podIPs }: PodPlace): string {
  const { metadata } = pod
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (subscript !== null) {
    const map = metadata[subscript[1] as 'labels' | 'annotations'] ?? {}
    return Object.hasOwn(map, subscript[2]!) ? map[subscript[2]!]! : ''
  }
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? ''
    case 'metadata.namespace':
      return metadata.namespace ?? ''
    case 'metadata.uid':
      return metadata.uid ?? ''
    case 'metadata.labels':
      return mapText(metadata.labels ?? {})
    case 'metadata.annotations':
      return mapText(metadata.annotations ?? {})
    case 'spec.nodeName':
      return specOf(pod).nodeName ?? ''
    case 'spec.serviceAccountName':
      return specOf(pod).serviceAccountName ?? ''
    case 'status.hostIP':
      return hostIPs[0] ?? ''
    case 'status.hostIPs':
      return hostIPs.join(',')
    case 'status.podIP':
      return podIPs[0] ?? ''
    case 'status.podIPs':
      return podIPs.join(',')
    default:
      return ''
  }
}

/** `key="value"` lines in the keys' order, values quoted as Go quotes them. */
function mapText(map: Readonly<Record<string, string>>): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${goQuote(map[key]!)}`)
    .join('\n')
}

interface ResourceFieldRef {
  readonly resource: string
  readonly containerName?: string
  readonly divisor?: string
}

/** Rounded up to whole divisors. */
export function resourceField(
  container: Container,
  { resource, divisor = '1' }: ResourceFieldRef,
  defaultLimits: Readonly<Record<string, string>>,
): string {
  const [side = '', ...rest] = resource.split('.')
  const name = rest.join('.')
  const { limits = {}, requests = {} } = container.resources ?? {}
  const value =
    side === 'limits' ? (limits[name] ?? defaultLimits[name]) : side === 'requests' ? requests[name] : undefined
  const unit = nanosOf(divisor === '' || divisor === '0' ? '1' : divisor)
  const nanos = nanosOf(value ?? '0')
  return String((nanos + unit - 1n) / unit)
}

interface DownwardItem {
  readonly fieldRef?: { readonly fieldPath: string }
  readonly resourceFieldRef?: ResourceFieldRef
}

/** The text of one file of a downward API volume: limits of the pod as a whole are told to variables alone, as by a kubelet v1.37.1. */
export function textOfDownwardItem(
  pod: Pod,
  item: DownwardItem,
  allocatable: Readonly<Record<string, string>>,
): string {
  const { fieldRef, resourceFieldRef } = item
  if (fieldRef !== undefined) return podField(pod, fieldRef.fieldPath, { hostIPs: [], podIPs: [] })
  const container = containerNamed(pod, resourceFieldRef?.containerName ?? '')
  return resourceFieldRef === undefined || container === undefined
    ? ''
    : resourceField(container, resourceFieldRef, allocatable)
}
