/**
 * Plugin NodeVolumeLimits: a CSI driver says on its CSINode how many volumes the node can have. What counts is what the pods there use and
 * what is attached there. A driver may also ask that its pods go only to nodes where it is (CSIDriver.spec.preventPodSchedulingIfMissing).
 */
import type { CSIDriver, CSINode, VolumeAttachment } from '../api/generated/types.ts'
import type { InformerFactory } from '../client/informer.ts'
import { type ClusterEvent, tellOf } from './cluster-events.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { VolumeView } from './volume-binding-and-first-consumer.ts'

const storage = (resource: string) => ({ group: 'storage.k8s.io', version: 'v1', resource })

export interface VolumeLimits {
  /** Why the node cannot have the pod's volumes besides those that it has; undefined for a pod without CSI volumes. */
  limitOf(info: PodInfo): ((node: NodeInfo) => string | undefined) | undefined
  whenSynced(signal: AbortSignal): Promise<void>
}

const EXCEEDED = 'node(s) exceed max volume count'

/** `happened` is told of each change that may give a node room for more. */
export function createVolumeLimits(
  informers: InformerFactory,
  { claim: claimOf, volume: volumeOf, storageClass: classOf }: VolumeView,
  happened: (event: ClusterEvent) => void,
): VolumeLimits {
  const csiNodes = informers.informer<CSINode>(storage('csinodes'))
  const drivers = informers.informer<CSIDriver>(storage('csidrivers'))
  const attachments = informers.informer<VolumeAttachment>(storage('volumeattachments'))
  const byNode = 'node'
  attachments.addIndex(byNode, ({ spec }) => [spec.nodeName])
  csiNodes.addHandlers(tellOf('storage.k8s.io/CSINode', happened))
  drivers.addHandlers(tellOf('storage.k8s.io/CSIDriver', happened))
  attachments.addHandlers(tellOf('storage.k8s.io/VolumeAttachment', happened))

  /** The driver of each of the pod's CSI volumes, by what tells the volume apart. */
  function volumesOf(info: PodInfo): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const key of info.claims) {
      const claim = claimOf(key)
      if (claim === undefined) continue
      const bound = claim.spec?.volumeName ? volumeOf(claim.spec.volumeName) : undefined
      const csi = bound?.spec?.csi
      if (csi) found.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver)
      else if (bound === undefined) {
        // It will be a volume of its class's driver.
        const driver = classOf(claim.spec?.storageClassName ?? '')?.provisioner
        if (driver) found.set(`${driver}/claim ${key}`, driver)
      }
    }
    return found
  }

  function attachedTo(name: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const { spec } of attachments.store.byIndex(byNode, name)) {
      const csi = volumeOf(spec.source.persistentVolumeName ?? '')?.spec?.csi
      if (csi) found.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver)
    }
    return found
  }

  return {
    limitOf(info) {
      if (info.claims.length === 0) return undefined
      const wanted = volumesOf(info)
      if (wanted.size === 0) return undefined
      const needed = [...new Set(wanted.values())].filter(
        (name) => drivers.store.get(name)?.spec.preventPodSchedulingIfMissing,
      )
      return (node) => {
        const there = csiNodes.store.get(node.name)?.spec.drivers ?? []
        const missing = needed.find((name) => there.every((driver) => driver.name !== name))
        if (missing !== undefined) return `${missing} CSI driver is not installed on the node`
        const limits = new Map(
          there.flatMap(({ name, allocatable }) =>
            allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
          ),
        )
        if ([...wanted.values()].every((driver) => !limits.has(driver))) return undefined
        const used = new Map(attachedTo(node.name))
        for (const other of node.pods.values())
          for (const [volume, driver] of volumesOf(other)) used.set(volume, driver)
        const isNew = [...wanted].filter(([volume]) => !used.has(volume))
        const count = (all: Iterable<string>, driver: string) => [...all].filter((one) => one === driver).length
        for (const [driver, limit] of limits) {
          const more = count(
            isNew.map(([, one]) => one),
            driver,
          )
          if (more > 0 && more + count(used.values(), driver) > limit) return EXCEEDED
        }
        return undefined
      }
    },
    async whenSynced(signal) {
      await Promise.all([csiNodes, drivers, attachments].map((informer) => informer.whenSynced(signal)))
    },
  }
}
