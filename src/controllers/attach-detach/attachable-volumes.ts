/** Which of a pod's volumes are attached to its node before they can be mounted there, and what each is called on all nodes. */
import type {
  CSIDriver,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Volume,
} from '../../api/generated/types.ts'
import { attachmentPluginOf } from './attachment-plugins.ts'

export interface AttachableVolume {
  /** As in Node.status.volumesAttached: `kubernetes.io/csi/DRIVER^HANDLE`. */
  readonly uniqueName: string
  /** The PersistentVolume's name, or the pod's own name for the volume: what Events call it. */
  readonly name: string
  /** Several nodes may have it at a time. */
  readonly isShared: boolean
}

export interface VolumeObjects {
  claim(key: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  driver(name: string): CSIDriver | undefined
}

export function attachableVolumesOf(pod: Pod, objects: VolumeObjects): readonly AttachableVolume[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => attachableOf(pod, volume, objects) ?? [])
}

function attachableOf(pod: Pod, volume: Volume, objects: VolumeObjects): AttachableVolume | undefined {
  const { namespace = '', name: podName = '', uid } = pod.metadata
  const claimName = volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${podName}-${volume.name}`)
  if (claimName === undefined) {
    // A CSI volume of the pod's own is never attached.
    const plugin = volume.csi === undefined ? attachmentPluginOf(volume) : undefined
    return plugin && { uniqueName: plugin.uniqueName, name: volume.name, isShared: true }
  }
  const claim = objects.claim(`${namespace}/${claimName}`)
  const isOwn = volume.ephemeral === undefined || claim?.metadata.ownerReferences?.some((owner) => owner.uid === uid)
  if (claim?.status?.phase !== 'Bound' || !claim.spec?.volumeName || !isOwn) return undefined
  const bound = objects.volume(claim.spec.volumeName)
  if (bound?.spec === undefined || bound.spec.claimRef?.uid !== claim.metadata.uid) return undefined
  return attachablePersistentVolume(bound.metadata.name ?? '', bound.spec, objects)
}

export function attachablePersistentVolume(
  name: string,
  spec: PersistentVolumeSpec,
  { driver }: Pick<VolumeObjects, 'driver'>,
): AttachableVolume | undefined {
  const plugin = attachmentPluginOf(spec)
  if (plugin === undefined) return undefined
  if (plugin.csi !== undefined && driver(plugin.csi.driver)?.spec.attachRequired === false) return undefined
  return { uniqueName: plugin.uniqueName, name, isShared: isShared(spec) }
}

function isShared({ accessModes = [] }: PersistentVolumeSpec): boolean {
  return accessModes.length === 0 || accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
}
