/** What becomes of a volume whose claim is gone (API concept: reclaim policy). Pure. */
import type { PersistentVolume } from '../../api/generated/types.ts'
import { isInTree, MIGRATED_TO, PROVISIONED_BY } from '../../api/objects/in-tree-volumes.ts'

type VolumeReclaim =
  | { readonly action: 'none' | 'delete' }
  | { readonly action: 'fail'; readonly reason: string; readonly message: string }

const none: VolumeReclaim = { action: 'none' }
const undeletable = (message: string): VolumeReclaim => ({ action: 'fail', reason: 'VolumeFailedDelete', message })

/**
 * Kubernetes itself deletes host paths under /tmp, and leaves to its provisioner what one outside has made, and what a CSI driver serves. It
 * recycles host paths and NFS by a pod, which is not made here: they wait. All else fails, in the words of Event and status. A
 * provisioner's name counts for more than the volume's source; what a driver has taken over is left to it under any policy.
 */
export function reclaimOf(volume: PersistentVolume): VolumeReclaim {
  const { annotations = {}, deletionTimestamp } = volume.metadata
  const { persistentVolumeReclaimPolicy: policy, hostPath, nfs } = volume.spec!
  if (policy === 'Recycle') {
    if (annotations[MIGRATED_TO] || (hostPath ?? nfs)) return none
    return { action: 'fail', reason: 'VolumeFailedRecycle', message: 'No recycler plugin found for the volume!' }
  }
  if (policy !== 'Delete' || deletionTimestamp !== undefined || annotations[MIGRATED_TO] !== undefined) return none
  const provisioner = annotations[PROVISIONED_BY]
  return provisioner ? deletionBy(provisioner, volume) : deletionOf(volume)
}

function deletionBy(provisioner: string, { metadata: { name }, spec }: PersistentVolume): VolumeReclaim {
  if (!isInTree(provisioner)) return none
  if (provisioner === 'kubernetes.io/nfs') return undeletable('no deletable volume plugin matched')
  if (provisioner !== 'kubernetes.io/host-path') return undeletable(`no volume plugin matched name: ${provisioner}`)
  const { hostPath } = spec!
  if (hostPath !== undefined) return pathDeletion(hostPath.path)
  return undeletable(
    `failed to create deleter for volume ${JSON.stringify(name)}: spec.PersistentVolumeSource.HostPath is nil`,
  )
}

function deletionOf({ metadata: { name }, spec }: PersistentVolume): VolumeReclaim {
  const { hostPath, nfs, csi } = spec!
  if (csi !== undefined) return none
  if (hostPath !== undefined) return pathDeletion(hostPath.path)
  const without = nfs === undefined ? 'no volume plugin matched' : 'no deletable volume plugin matched'
  return undeletable(`error getting deleter volume plugin for volume ${JSON.stringify(name)}: ${without}`)
}

const pathDeletion = (path: string): VolumeReclaim =>
  /^\/tmp\/.+/.test(path)
    ? { action: 'delete' }
    : undeletable(`host_path deleter only supports /tmp/.+ but received provided ${path}`)
