/** Volumes of CSI drivers as they are wanted: what a pod's volume, or the PersistentVolume of its claim, tells a driver. */
import type { CSIDriver, PersistentVolume, Volume } from '../../api/generated/types.ts'
import { type Pod, uidOf } from '../pod.ts'
import type { Driver } from './csi-drivers.ts'
import { type CsiRecord, sha256 } from './csi-records.ts'

/** A volume as it is wanted of its driver. */
export interface CsiVolumeSource extends CsiRecord {
  /** Of the volume among the pod's. */
  readonly name: string
  readonly isInline: boolean
  readonly isBlock: boolean
  readonly readOnly: boolean
  readonly fsType: string
  readonly attributes: Readonly<Record<string, string>>
  readonly mountFlags: readonly string[]
  readonly accessModes: readonly string[]
  readonly stageSecret?: SecretRef | undefined
  readonly publishSecret?: SecretRef | undefined
}

export interface SecretRef {
  readonly name?: string
  readonly namespace?: string
}

/** @throws Error for what is no volume of a driver */
export function csiVolumeSource(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): CsiVolumeSource {
  if (volume.csi !== undefined) {
    const { driver, volumeAttributes = {}, readOnly = false, fsType = '', nodePublishSecretRef } = volume.csi
    return {
      name: volume.name,
      isInline: true,
      isBlock: false,
      driverName: driver,
      volumeHandle: `csi-${sha256(`${uidOf(pod)}${volume.name}`)}`,
      readOnly,
      fsType,
      attributes: volumeAttributes,
      mountFlags: [],
      accessModes: ['ReadWriteOnce'],
      publishSecret: nodePublishSecretRef,
    }
  }
  const { csi, mountOptions = [], accessModes = [], volumeMode } = persistent?.spec ?? {}
  if (csi === undefined) throw new Error('it is no volume of a CSI driver')
  const { driver, volumeHandle, readOnly = false, fsType = '', volumeAttributes = {} } = csi
  return {
    name: persistent?.metadata.name ?? volume.name,
    isInline: false,
    isBlock: volumeMode === 'Block',
    driverName: driver,
    volumeHandle,
    readOnly: readOnly || volume.persistentVolumeClaim?.readOnly === true,
    fsType,
    attributes: volumeAttributes,
    mountFlags: mountOptions,
    accessModes,
    stageSecret: csi.nodeStageSecretRef,
    publishSecret: csi.nodePublishSecretRef,
  }
}

export const capabilityOf = (
  { fsType, mountFlags, accessModes, isBlock }: CsiVolumeSource,
  driver: Driver,
  group: string,
) => ({
  ...(isBlock ? { block: {} } : { mount: { fs_type: fsType, mount_flags: mountFlags, volume_mount_group: group } }),
  access_mode: { mode: accessMode(accessModes, driver) },
})

function accessMode([mode]: readonly string[], driver: Driver): string {
  const tellsWriters = driver.capabilities.has('SINGLE_NODE_MULTI_WRITER')
  switch (mode) {
    case 'ReadOnlyMany':
      return 'MULTI_NODE_READER_ONLY'
    case 'ReadWriteMany':
      return 'MULTI_NODE_MULTI_WRITER'
    case 'ReadWriteOncePod':
      return tellsWriters ? 'SINGLE_NODE_SINGLE_WRITER' : 'SINGLE_NODE_WRITER'
    default:
      return tellsWriters ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER'
  }
}

/** Whether its files are given to the pod's group (API concept: CSIDriver's fsGroupPolicy). */
export function ownsFiles({ fsType, accessModes, isInline }: CsiVolumeSource, object: CSIDriver | undefined): boolean {
  switch (object?.spec.fsGroupPolicy) {
    case 'File':
      return true
    case 'None':
      return false
    default:
      return fsType !== '' && (isInline || accessModes.includes('ReadWriteOnce'))
  }
}
