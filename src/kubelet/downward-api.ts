/** The downward API: fields of a pod and resources of its containers as text, for variables and files (API concept: downward API). */
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
    .map((key) => `${key}=${quoted(map[key]!)}`)
    .join('\n')
}

const quoted = (text: string) =>
  JSON.stringify(text).replace(/\\u00(0[0-9a-f]|1[0-9a-f])/g, (_, hex: string) => GO_ESCAPES[hex] ?? `\\x${hex}`)

const GO_ESCAPES: Readonly<Record<string, string>> = { '07': '\\a', '0b': '\\v' }

interface ResourceFieldRef {
  readonly resource: string
  readonly containerName?: string
  readonly divisor?: string
}

/** Rounded up to whole divisors. A limit that is not set is the pod's, or what the node has, where that is known. */
export function resourceField(
  pod: Pod,
  container: Container,
  { resource, divisor = '1' }: ResourceFieldRef,
  allocatable: Readonly<Record<string, string>> = {},
): string {
  const [side = '', ...rest] = resource.split('.')
  const name = rest.join('.')
  const { limits = {}, requests = {} } = container.resources ?? {}
  const value =
    side === 'limits'
      ? (limits[name] ?? specOf(pod).resources?.limits?.[name] ?? allocatable[name])
      : side === 'requests'
        ? requests[name]
        : undefined
  const unit = nanosOf(divisor === '' || divisor === '0' ? '1' : divisor)
  const nanos = nanosOf(value ?? '0')
  return String((nanos + unit - 1n) / unit)
}

interface DownwardItem {
  readonly fieldRef?: { readonly fieldPath: string }
  readonly resourceFieldRef?: ResourceFieldRef
}

/** The text of one file of a downward API volume. */
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
    : resourceField(pod, container, resourceFieldRef, allocatable)
}
