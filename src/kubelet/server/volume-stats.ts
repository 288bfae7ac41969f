/** What is left of volumes that claims are bound to, as /stats/summary and /metrics tell it. */
import { formatTime } from '../../base/clock.ts'
import { createMetrics } from '../../base/metrics.ts'
import type { VolumeStats } from '../csi/csi-volumes.ts'
import { nameOf, namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'

export interface ClaimStats {
  readonly podUid: string
  /** Of the pod's volume. */
  readonly name: string
  readonly namespace: string
  readonly claim: string
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly stats: VolumeStats
}

/** As an entry of a pod's `volume`. */
export const volumeEntry = ({ name, namespace, claim, time, stats }: ClaimStats) => ({
  time: formatTime(time),
  ...stats,
  name,
  pvcRef: { name: claim, namespace },
})

const METRICS: readonly (readonly [name: string, help: string, field: keyof VolumeStats])[] = [
  ['capacity_bytes', 'Capacity in bytes of the volume', 'capacityBytes'],
  ['available_bytes', 'Number of available bytes in the volume', 'availableBytes'],
  ['used_bytes', 'Number of used bytes in the volume', 'usedBytes'],
  ['inodes', 'Maximum number of inodes in the volume', 'inodes'],
  ['inodes_free', 'Number of free inodes in the volume', 'inodesFree'],
  ['inodes_used', 'Number of used inodes in the volume', 'inodesUsed'],
]

/** Prometheus' text format; a claim that several pods have is told of once. */
export function volumeMetrics(all: readonly ClaimStats[]): string {
  if (all.length === 0) return ''
  const metrics = createMetrics()
  const claims = [...new Map(all.map((one) => [`${one.namespace}/${one.claim}`, one])).values()]
  for (const [name, help, field] of METRICS) {
    const rows = claims.flatMap(({ namespace, claim, stats }) => {
      const value = stats[field]
      return value === undefined ? [] : [[value, namespace, claim] as const]
    })
    if (rows.length === 0) continue
    metrics.sampled(`kubelet_volume_stats_${name}`, help, ['namespace', 'persistentvolumeclaim'], () => rows)
  }
  return metrics.text()
}

type StatsOf = (pod: Pod) => Promise<readonly { readonly name: string; readonly stats: VolumeStats }[]>

/** Of all pods of a node. */
export async function claimStats(time: number, pods: Iterable<Pod>, statsOf: StatsOf): Promise<readonly ClaimStats[]> {
  const all = [...pods].map(async (pod) => {
    const found = await statsOf(pod)
    return found.flatMap(({ name, stats }): ClaimStats[] => {
      const volume = specOf(pod).volumes?.find((one) => one.name === name)
      const claim = volume?.persistentVolumeClaim?.claimName ?? (volume?.ephemeral && `${nameOf(pod)}-${name}`)
      return claim === undefined ? [] : [{ podUid: uidOf(pod), name, namespace: namespaceOf(pod), claim, time, stats }]
    })
  })
  return (await Promise.all(all)).flat()
}
