/**
 * The kinds of volumes that are attached: those of CSI drivers, by VolumeAttachments (CSI attach), and iSCSI and Fibre Channel, of which
 * only the controller's record is kept, since the node does all there is to do.
 */
import { createHash } from 'node:crypto'
import type { FCVolumeSource, PersistentVolumeSpec, Volume } from '../../api/generated/types.ts'

export interface AttachmentPlugin {
  readonly uniqueName: string
  readonly csi?: CsiVolume
}

export interface CsiVolume {
  readonly driver: string
  readonly handle: string
}

type Sources = Pick<PersistentVolumeSpec, 'csi' | 'iscsi' | 'fc'> | Pick<Volume, 'iscsi' | 'fc'>

const CSI_PREFIX = 'kubernetes.io/csi/'

export function attachmentPluginOf(sources: Sources): AttachmentPlugin | undefined {
  if ('csi' in sources && sources.csi !== undefined) {
    const { driver = '', volumeHandle: handle = '' } = sources.csi as { driver?: string; volumeHandle?: string }
    return { uniqueName: `${CSI_PREFIX}${driver}^${handle}`, csi: { driver, handle } }
  }
  if (sources.iscsi !== undefined) {
    const { targetPortal, iqn, lun } = sources.iscsi
    return { uniqueName: `kubernetes.io/iscsi/${targetPortal}:${iqn}:${lun}` }
  }
  return sources.fc === undefined ? undefined : { uniqueName: `kubernetes.io/fc/${fibreChannelName(sources.fc)}` }
}

const fibreChannelName = ({ targetWWNs = [], lun, wwids = [] }: FCVolumeSource): string =>
  targetWWNs.length > 0 ? `[${targetWWNs.join(' ')}]:${lun ?? 0}` : `[${wwids.join(' ')}]`

/** What a unique name says of a CSI driver's volume. */
export function csiVolumeOf(uniqueName: string): CsiVolume | undefined {
  const at = uniqueName.indexOf('^')
  if (!uniqueName.startsWith(CSI_PREFIX) || at < 0) return undefined
  return { driver: uniqueName.slice(CSI_PREFIX.length, at), handle: uniqueName.slice(at + 1) }
}

/** The VolumeAttachment's name, a hash of driver, volume and node: the same as kube-controller-manager and kubelets compute. */
export const attachmentNameOf = ({ driver, handle }: CsiVolume, nodeName: string): string =>
  `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`
