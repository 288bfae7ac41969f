/** What becomes of a volume whose claim is gone (API concept: reclaim policy). Pure. */
import type { PersistentVolume } from '../../api/generated/types.ts'

const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'

type VolumeReclaim =
  | { readonly action: 'none' | 'delete' }
  | { readonly action: 'fail'; readonly reason: string; readonly message: string }

/**
 * Kubernetes itself deletes host paths under /tmp, and leaves to its provisioner what one outside has made, and what a CSI driver serves. It
 * recycles host paths and NFS by a pod, which is not made here: they wait. All else fails, in the words of Event and status.
 */
export function reclaimOf({ metadata, spec }: PersistentVolume): VolumeReclaim {
  const { persistentVolumeReclaimPolicy: policy, hostPath, nfs, csi } = spec!
  if (policy === 'Recycle') {
    const message = 'No recycler plugin found for the volume!'
    return (hostPath ?? nfs) ? { action: 'none' } : { action: 'fail', reason: 'VolumeFailedRecycle', message }
  }
  if (policy !== 'Delete' || metadata.deletionTimestamp !== undefined) return { action: 'none' }
  const provisioner = metadata.annotations?.[PROVISIONED_BY]
  if (csi !== undefined || (provisioner !== undefined && !provisioner.startsWith('kubernetes.io/')))
    return { action: 'none' }
  if (hostPath !== undefined && /^\/tmp\/.+/.test(hostPath.path)) return { action: 'delete' }
  const without = nfs === undefined ? 'no volume plugin matched' : 'no deletable volume plugin matched'
  const message =
    hostPath === undefined
      ? `error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: ${without}`
      : `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`
  return { action: 'fail', reason: 'VolumeFailedDelete', message }
}
