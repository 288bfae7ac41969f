/**
 * Plugin VolumeRestrictions: disks of a cloud or a storage cluster that one node cannot have twice, and claims of access mode
 * ReadWriteOncePod, which one pod of the whole cluster may use.
 */
import type { Pod, Volume } from '../api/generated/types.ts'
import type { PodInfo } from './pod-info.ts'

/** A volume that the pod names itself, of a kind that conflicts with itself on a node. */
export interface Disk {
  readonly kind: 'gce' | 'ebs' | 'iscsi' | 'rbd'
  readonly name: string
  /** Read only: pods that all have it so may share it. */
  readonly isShareable: boolean
  /** Of RBD: disks with no monitor in common are different ones. */
  readonly monitors: readonly string[]
}

const NONE: readonly never[] = []

export function disksOf(pod: Pod): readonly Disk[] {
  const volumes = pod.spec?.volumes
  return volumes === undefined ? NONE : volumes.flatMap(diskOf)
}

function diskOf({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): readonly Disk[] {
  const monitors = NONE
  if (gcePersistentDisk) {
    const { pdName, readOnly } = gcePersistentDisk
    return [{ kind: 'gce', name: pdName, isShareable: readOnly === true, monitors }]
  }
  // An EBS volume that is read only conflicts all the same.
  if (awsElasticBlockStore) return [{ kind: 'ebs', name: awsElasticBlockStore.volumeID, isShareable: false, monitors }]
  if (iscsi) return [{ kind: 'iscsi', name: iscsi.iqn, isShareable: iscsi.readOnly === true, monitors }]
  if (rbd) {
    const { pool = 'rbd', image, readOnly } = rbd
    return [{ kind: 'rbd', name: `${pool}/${image}`, isShareable: readOnly === true, monitors: rbd.monitors }]
  }
  return NONE
}

const conflict = (a: Disk, b: Disk): boolean =>
  a.kind === b.kind &&
  a.name === b.name &&
  !(a.isShareable && b.isShareable) &&
  (a.kind !== 'rbd' || a.monitors.some((monitor) => b.monitors.includes(monitor)))

/** A pod that is there has a disk that this one wants. */
export function isDiskTaken({ disks }: PodInfo, present: Iterable<PodInfo>): boolean {
  if (disks.length === 0) return false
  for (const other of present) if (disks.some((disk) => other.disks.some((one) => conflict(disk, one)))) return true
  return false
}

/** `namespace/name` of the claims that the pod names, and of those that are made for it. */
export function volumeClaimKeysOf({ metadata: { namespace = '', name = '' }, spec }: Pod): readonly string[] {
  const volumes = spec?.volumes
  if (volumes === undefined) return NONE
  return volumes.flatMap((volume): readonly string[] => {
    const claim = volume.ephemeral ? `${name}-${volume.name}` : volume.persistentVolumeClaim?.claimName
    return claim === undefined ? NONE : [`${namespace}/${claim}`]
  })
}
