/**
 * Which pod goes first when the node is short of something (API concept: node-pressure eviction): those that use more than they asked for,
 * then the lower priority, then the larger use beyond what was asked for.
 */
import { podRequests } from '../../api/objects/pod-requests.ts'
import { quantityValue } from '../../api/values/quantity.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import type { PodUse, Starved } from './observations.ts'

/** Static pods, and those of system priority, are never evicted. */
const SYSTEM_PRIORITY = 2_000_000_000

export const isCritical = (pod: Pod, isStatic: (uid: string) => boolean): boolean =>
  isStatic(uidOf(pod)) || (specOf(pod).priority ?? 0) >= SYSTEM_PRIORITY

/** The first goes first. */
export function ranked(pods: readonly Pod[], uses: ReadonlyMap<string, PodUse>, resource: Starved): readonly Pod[] {
  const entries = pods.map((pod) => {
    const used = starvedResourceUse(uses.get(uidOf(pod)), resource)
    const asked = resource === 'memory' || resource === 'ephemeral-storage' ? requestOf(pod, resource) : 0
    return { pod, exceeds: used > asked, priority: specOf(pod).priority ?? 0, beyond: used - asked }
  })
  // There are no requests for inodes or processes.
  const counts = resource === 'memory' || resource === 'ephemeral-storage'
  return entries
    .sort(
      (a, b) => (counts ? Number(b.exceeds) - Number(a.exceeds) : 0) || a.priority - b.priority || b.beyond - a.beyond,
    )
    .map(({ pod }) => pod)
}

function requestOf(pod: Pod, resource: 'memory' | 'ephemeral-storage'): number {
  const request = podRequests(specOf(pod))[resource]
  return request === undefined ? 0 : Number(quantityValue(request))
}

export function starvedResourceUse(use: PodUse | undefined, resource: Starved): number {
  if (use === undefined) return 0
  const containers = [...use.containers.values()]
  const volumes = [...use.volumes.values()]
  const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0)
  switch (resource) {
    case 'memory':
      return sum(containers.map(({ memoryBytes }) => memoryBytes))
    case 'ephemeral-storage':
      return sum([...containers.map(({ diskBytes }) => diskBytes), ...volumes.map(({ bytes }) => bytes)])
    case 'inodes':
      return sum([...containers.map(({ inodes }) => inodes), ...volumes.map(({ inodes }) => inodes)])
    default:
      return use.processes
  }
}
