/** Volume plugins that Kubernetes once had in its own tree: which driver has taken their place, and what that leaves on objects. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from '../generated/types.ts'
import type { KubeObject } from '../object.ts'

export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
export const MIGRATED_TO = 'pv.kubernetes.io/migrated-to'
const DELETION_PROTECTION = 'kubernetes.io/pv-controller'
/** The first that an object has is meant. */
const ASKED_OF = ['volume.kubernetes.io/storage-provisioner', 'volume.beta.kubernetes.io/storage-provisioner']

const DRIVERS: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
  ['kubernetes.io/azure-disk', 'disk.csi.azure.com'],
  ['kubernetes.io/azure-file', 'file.csi.azure.com'],
  ['kubernetes.io/cinder', 'cinder.csi.openstack.org'],
  ['kubernetes.io/gce-pd', 'pd.csi.storage.gke.io'],
  ['kubernetes.io/portworx-volume', 'pxd.portworx.com'],
  ['kubernetes.io/vsphere-volume', 'csi.vsphere.vmware.com'],
])

export const isInTree = (provisioner: string): boolean => provisioner.startsWith('kubernetes.io/')

/** The CSI driver that has taken the place of an in-tree provisioner; undefined where none has. */
export const migratedTo = (provisioner: string): string | undefined => DRIVERS.get(provisioner)

/** With the driver that has taken its provisioner's place, or without one that has not; the same object when nothing changes. */
function withDriver(object: KubeObject, provisioner: string | undefined): KubeObject {
  if (!provisioner) return object
  const { [MIGRATED_TO]: named, ...annotations } = object.metadata.annotations ?? {}
  const driver = migratedTo(provisioner)
  if (named === driver) return object
  const all = driver === undefined ? annotations : { ...annotations, [MIGRATED_TO]: driver }
  return { ...object, metadata: { ...object.metadata, annotations: all } }
}

export const claimWithDriver = (claim: PersistentVolumeClaim): KubeObject =>
  withDriver(claim, ASKED_OF.map((name) => claim.metadata.annotations?.[name]).find(Boolean))

export const volumeWithDriver = (volume: PersistentVolume): KubeObject =>
  withDriver(volume, volume.metadata.annotations?.[PROVISIONED_BY])

/**
 * With the finalizer that holds a volume of an in-tree plugin until what is on its disk has been deleted, as long as its policy is Delete
 * and no driver has the plugin's place. (KEP-2644)
 */
export function withDeletionProtection(volume: PersistentVolume): KubeObject {
  const { annotations, deletionTimestamp } = volume.metadata
  const provisioner = annotations?.[PROVISIONED_BY] ?? ''
  if (!isInTree(provisioner)) return volume
  const isDue = volume.spec?.persistentVolumeReclaimPolicy === 'Delete' && migratedTo(provisioner) === undefined
  if (!isDue) return withoutDeletionProtection(volume)
  const finalizers: readonly string[] = volume.metadata.finalizers ?? []
  if (deletionTimestamp !== undefined || finalizers.includes(DELETION_PROTECTION)) return volume
  return { ...volume, metadata: { ...volume.metadata, finalizers: [...finalizers, DELETION_PROTECTION] } }
}

/** The same object when it has none. */
export function withoutDeletionProtection(volume: PersistentVolume): KubeObject {
  const finalizers: readonly string[] = volume.metadata.finalizers ?? []
  const left = finalizers.filter((name) => name !== DELETION_PROTECTION)
  return left.length === finalizers.length ? volume : { ...volume, metadata: { ...volume.metadata, finalizers: left } }
}
