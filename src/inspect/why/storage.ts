/** Claims, volumes and their attachments: what still uses or holds them. */
import type { CSINode, PersistentVolume, Pod, VolumeAttachment } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { keepsClaim, mountsClaim } from '../../api/objects/pod-claims.ts'
import { isTerminated } from '../../controllers/pods/pod.ts'
import { silentNode } from './deleted-pods.ts'
import { type Link, lastLink, type ObjectRef, waitingLink } from './finding.ts'
import {
  ATTACHMENTS,
  builtinRef,
  CLAIMS,
  CSI_NODES,
  deletedAt,
  type Look,
  MOST_ALIKE,
  NODES,
  PODS,
  timeOf,
  unseenLink,
  VOLUMES,
} from './look.ts'
import { usedBy } from './users.ts'
import type { Examine } from './what-holds-an-object.ts'

/**
 * Pods that use the claim (storage object in use protection): also those that have ended, as long as they are there, but not those on no
 * node. A pod that waits for its own claim to go (it owns it, and was deleted in the foreground) lets it go when it is shut down, where the
 * claim was made for it, and never where it mounts the claim by name.
 */
export async function claimLinks(
  look: Look,
  ref: ObjectRef,
  claim: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  const pods = await look.reader.list<Pod>(PODS, { namespace: ref.namespace })
  if (pods.state !== 'found') return [unseenLink('pods that use the claim', pods)]
  const using = pods.value.filter((pod) => keepsClaim(pod, claim))
  const resource = look.kinds.ofResource('', 'pods')
  if (resource === undefined) return []
  return Promise.all(
    using.slice(0, MOST_ALIKE).map((pod) => {
      const how = isTerminated(pod)
        ? 'it has ended, and mounts the claim as long as it is there'
        : 'it mounts the claim'
      const isOwn = mountsClaim(pod, claim) === 'as its own'
      const from = isOwn ? -1 : look.path.findIndex(({ uid }) => uid === pod.metadata.uid)
      return from < 0
        ? usedBy(look, resource, pod, how, examine)
        : lastLink('cannot-end', { kind: 'owner-cycle', objects: look.path.slice(from) })
    }),
  )
}

/** A volume is protected while it is bound. */
export async function volumeLinks(look: Look, object: KubeObject, examine: Examine): Promise<readonly Link[]> {
  const { spec, status } = object as PersistentVolume
  const claim = spec?.claimRef
  if (claim === undefined || status?.phase !== 'Bound') return []
  const read = await look.reader.get(CLAIMS, claim.namespace ?? '', claim.name ?? '')
  if (read.state === 'missing') return []
  if (read.state !== 'found') return [unseenLink('the claim that it is bound to', read)]
  if (claim.uid !== undefined && claim.uid !== read.value.metadata.uid) return []
  const resource = look.kinds.ofResource('', 'persistentvolumeclaims')
  return resource === undefined ? [] : [await usedBy(look, resource, read.value, 'it is bound to the volume', examine)]
}

/** The attachments of a volume to nodes. */
export const attachmentsOfVolume = (look: Look, ref: ObjectRef, examine: Examine): Promise<readonly Link[]> =>
  attachments(look, 'the volume', ({ spec }) => spec.source.persistentVolumeName === ref.name, examine)

/** Those of a node that are being ended, or lack what would end them. */
export async function attachmentsOfNode(look: Look, node: string, examine: Examine): Promise<readonly Link[]> {
  const links = await attachments(look, `node ${node}`, ({ spec }) => spec.nodeName === node, examine)
  return links.filter((link) => !('verdict' in lastStep(link)) || lastStep(link).cause.kind !== 'attachment')
}

const lastStep = (link: Link): Link => link.next[0] ?? link

async function attachments(
  look: Look,
  of: string,
  isWanted: (attachment: VolumeAttachment) => boolean,
  examine: Examine,
): Promise<readonly Link[]> {
  const read = await look.reader.list<VolumeAttachment>(ATTACHMENTS)
  if (read.state !== 'found') return [unseenLink(`attachments of ${of}`, read)]
  const own = read.value.filter(isWanted)
  const resource = look.kinds.ofResource(ATTACHMENTS.group, ATTACHMENTS.resource)
  return Promise.all(
    own.slice(0, MOST_ALIKE).map(async (attachment) => {
      const { metadata, spec } = attachment
      const cause = {
        kind: 'attachment',
        attachment: builtinRef(ATTACHMENTS, 'VolumeAttachment', '', metadata.name ?? '', metadata.uid),
        node: spec.nodeName,
        driver: spec.attacher,
      } as const
      const next =
        metadata.deletionTimestamp !== undefined && resource !== undefined
          ? [await examine(look, resource, attachment)]
          : await attachmentLinks(look, attachment)
      return waitingLink(cause, next, () => lastLink('slow', cause, true))
    }),
  )
}

/**
 * What an attachment lacks to be ended: its node, the driver there, its volume. Where its driver has said why it cannot detach the disk, that
 * is told with its finalizer: the driver's controller is there, and does not need the node.
 */
export async function attachmentLinks(look: Look, object: KubeObject): Promise<readonly Link[]> {
  const { spec, status } = object as VolumeAttachment
  if (timeOf(status?.detachError?.time) >= deletedAt(object.metadata) - 1000) return []
  const { attacher: driver, nodeName: node, source } = spec
  const [nodeRead, csiNode, volume] = await Promise.all([
    look.reader.get(NODES, '', node),
    look.reader.get(CSI_NODES, '', node),
    source.persistentVolumeName === undefined ? undefined : look.reader.get(VOLUMES, '', source.persistentVolumeName),
  ])
  const links: Link[] = []
  if (volume?.state === 'missing')
    links.push(lastLink('nobody', { kind: 'volume-missing', volume: source.persistentVolumeName ?? '' }))
  if (nodeRead.state === 'missing') links.push(lastLink('nobody', { kind: 'missing-node', node }))
  else {
    const silent = await silentNode(look, node, `volumeattachments.storage.k8s.io/${object.metadata.name}`)
    if (silent !== undefined) links.push(silent)
    const drivers = csiNode.state === 'found' ? ((csiNode.value as CSINode).spec.drivers ?? []) : undefined
    const isThere = drivers?.some(({ name }) => name === driver)
    if (isThere === false || csiNode.state === 'missing')
      links.push(
        lastLink('nobody', { kind: 'driver-missing', driver, node, part: `CSINode ${node} does not name the driver` }),
      )
  }
  return links
}
