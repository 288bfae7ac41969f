/** Volumes of claims: what a claim is bound to, and how a volume grows on the node once its claim asks for more (NodeExpandVolume). */

import type { PersistentVolume, PersistentVolumeClaim, Volume } from '../api/generated/types.ts'
import { compareQuantities } from '../api/values/quantity.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import { UnprocessedVolumeError } from './mount-step-error.ts'
import type { VolumeWriter } from './mount-volumes.ts'
import { nameOf, namespaceOf, type Pod, specOf, uidOf } from './pod.ts'
import type { PodEvents } from './pod-events.ts'

export interface VolumesOfClaims {
  /** The volume a claim is bound to; undefined for what is no claim. @throws Error while it is not bound */
  boundTo(pod: Pod, volume: Volume): Promise<PersistentVolume | undefined>
  /** The volume may grow from now on. */
  mayGrow(pod: Pod, volume: Volume): void
  /** Whether one of its volumes that may grow is to be looked at. */
  isDue(pod: Pod): boolean
  /** What does not grow serves on as it is, and is tried again. */
  growAll(pod: Pod): Promise<void>
  forget(uid: string): void
}

/** A volume that may grow is looked at again after this. */
const LOOK_AGAIN_MS = 55_000

export function createVolumesOfClaims(
  clock: Clock,
  client: Client,
  events: PodEvents,
  expandOnNode?: VolumeWriter['expand'],
): VolumesOfClaims {
  const core = { group: '', version: 'v1' }
  const claims = client.resource<PersistentVolumeClaim>({ ...core, resource: 'persistentvolumeclaims' })
  const persistentVolumes = client.resource<PersistentVolume>({ ...core, resource: 'persistentvolumes' })
  /** By pod: volumes that may grow, and when they are looked at again. */
  const growing = new Map<string, Map<string, number>>()

  async function boundTo(pod: Pod, volume: Volume): Promise<PersistentVolume | undefined> {
    const name = claimOf(pod, volume)
    if (name === undefined) return undefined
    const failed = `error processing PVC ${namespaceOf(pod)}/${name}`
    const claim = await claims
      .namespace(namespaceOf(pod))
      .get(name)
      .catch((error) => {
        const why = `${failed}: failed to fetch PVC from API server: ${messageOf(error)}`
        throw new UnprocessedVolumeError(why, { cause: error })
      })
    const bound = claim.spec?.volumeName
    if (bound === undefined || bound === '' || claim.status?.phase !== 'Bound')
      throw new UnprocessedVolumeError(`${failed}: PVC is not bound`)
    return persistentVolumes.get(bound)
  }

  /** What its driver does on the node is told to the claim. @throws Error */
  async function expand(pod: Pod, volume: Volume): Promise<void> {
    const name = claimOf(pod, volume)
    if (name === undefined || expandOnNode === undefined) return
    const claim = await claims.namespace(namespaceOf(pod)).get(name)
    const persistent = await persistentVolumes.get(claim.spec?.volumeName ?? '')
    const [has, is] = [claim.status?.capacity?.['storage'], persistent.spec?.capacity?.['storage']]
    if (has === undefined || is === undefined || compareQuantities(has, is) >= 0) return
    if (!(await expandOnNode(pod, volume, persistent))) return
    const over = (claim.status?.conditions ?? []).filter(({ type }) => RESIZING.has(type))
    await claims.namespace(namespaceOf(pod)).patch(
      name,
      'strategic',
      {
        status: {
          capacity: { ...claim.status?.capacity, storage: is },
          ...(over.length === 0 ? {} : { conditions: over.map(({ type }) => ({ type, $patch: 'delete' })) }),
          ...(claim.status?.allocatedResourceStatuses === undefined
            ? {}
            : { allocatedResourceStatuses: { storage: null } }),
        },
      },
      { subresource: 'status' },
    )
    const message = `MountVolume.NodeExpandVolume succeeded for volume "${persistent.metadata.name}" ${specOf(pod).nodeName}`
    events.normal(pod, 'FileSystemResizeSuccessful', message)
    events.about({ ...claim, kind: 'PersistentVolumeClaim', apiVersion: 'v1' }, 'FileSystemResizeSuccessful', message)
  }

  async function growAll(pod: Pod): Promise<void> {
    const own = growing.get(uidOf(pod))
    for (const volume of own === undefined ? [] : (specOf(pod).volumes ?? [])) {
      const due = own?.get(volume.name)
      if (due === undefined || due > clock.monotonic()) continue
      own?.set(volume.name, clock.monotonic() + LOOK_AGAIN_MS)
      await expand(pod, volume).catch((error: unknown) => {
        events.warning(
          pod,
          'VolumeResizeFailed',
          `NodeExpandVolume failed for volume "${volume.name}" : ${messageOf(error)}`,
        )
      })
    }
  }

  return {
    boundTo,
    mayGrow(pod, volume) {
      const own = growing.get(uidOf(pod)) ?? new Map<string, number>()
      growing.set(uidOf(pod), own)
      own.set(volume.name, 0)
    },
    isDue: (pod) => (growing.get(uidOf(pod))?.values() ?? []).some((due) => due <= clock.monotonic()),
    growAll,
    forget(uid) {
      growing.delete(uid)
    },
  }
}

/** Of conditions of a claim: what is over when its volume has grown. */
const RESIZING = new Set(['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'])

const claimOf = (pod: Pod, volume: Volume): string | undefined =>
  volume.persistentVolumeClaim?.claimName ??
  (volume.ephemeral === undefined ? undefined : `${nameOf(pod)}-${volume.name}`)
