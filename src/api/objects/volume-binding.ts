/** What claims and volumes look like when they are bound, half bound and bound no more. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from '../generated/types.ts'
import type { Fields, KubeObject } from '../object.ts'
import { claimRefOf, isFor } from './best-volume-for-claim.ts'

const boundByController = 'pv.kubernetes.io/bound-by-controller'
const bindCompleted = 'pv.kubernetes.io/bind-completed'

const provisionerAnnotations = [
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-provisioner',
]

const annotated = (object: KubeObject, ...names: readonly string[]): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, ...Object.fromEntries(names.map((name) => [name, 'yes'])) },
  },
})

/** The node that the scheduler has chosen for the claim's first consumer: its volume may be made there. */
export const selectedNode = 'volume.kubernetes.io/selected-node'

export const isBindCompleted = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, bindCompleted)
const isBoundByController = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, boundByController)

/** With a reference to the claim; the same object when it has it. */
export function withClaim(volume: PersistentVolume, claim: PersistentVolumeClaim): KubeObject {
  const old = claimRefOf(volume)
  const { namespace, name, uid, resourceVersion } = claim.metadata
  if (old !== undefined && isFor(volume, claim) && old['uid'] === uid) return volume
  const claimRef = { kind: 'PersistentVolumeClaim', namespace, name, uid, apiVersion: 'v1', resourceVersion }
  const bound = { ...volume, spec: { ...volume.spec, claimRef } } as KubeObject
  // What a user reserved for the claim is not given up with it.
  return old === undefined ? annotated(bound, boundByController) : bound
}

/** With the volume's name; the same object when it has it. */
export function withVolume(claim: PersistentVolumeClaim, volume: PersistentVolume): KubeObject {
  const named = claim.spec!.volumeName === volume.metadata.name
  if (named && isBindCompleted(claim)) return claim
  const bound = { ...claim, spec: { ...claim.spec, volumeName: volume.metadata.name } } as KubeObject
  return named ? annotated(bound, bindCompleted) : annotated(bound, bindCompleted, boundByController)
}

/** With the name of the provisioner that is to make its volume; the same object when it has it. */
export function withProvisioner(claim: PersistentVolumeClaim, provisioner: string): KubeObject {
  const { annotations = {} } = claim.metadata
  if (provisionerAnnotations.every((name) => annotations[name] === provisioner)) return claim
  const asked = Object.fromEntries(provisionerAnnotations.map((name) => [name, provisioner]))
  return { ...claim, metadata: { ...claim.metadata, annotations: { ...annotations, ...asked } } }
}

/** With the node of its first consumer. */
export function withSelectedNode(claim: PersistentVolumeClaim, node: string): KubeObject {
  const annotations = { ...claim.metadata.annotations, [selectedNode]: node }
  return { ...claim, metadata: { ...claim.metadata, annotations } }
}

/** The reference taken away, or what a user had reserved left. */
export function withoutClaim(volume: PersistentVolume): KubeObject {
  const { claimRef = {}, ...spec } = volume.spec ?? {}
  if (!isBoundByController(volume)) {
    const { uid: _, resourceVersion: __, ...reserved } = claimRef
    return { ...volume, spec: { ...spec, claimRef: reserved } } as KubeObject
  }
  const { [boundByController]: _, ...annotations } = volume.metadata.annotations ?? {}
  return { ...volume, metadata: { ...volume.metadata, annotations }, spec } as KubeObject
}

/** The claim's status in this phase; with its volume it tells what it got. */
export function claimStatus(claim: PersistentVolumeClaim, phase: string, volume?: PersistentVolume): Fields {
  const { accessModes: _, capacity: __, currentVolumeAttributesClassName: current, ...rest } = claim.status ?? {}
  if (volume === undefined) return { ...rest, phase }
  const { accessModes, capacity, volumeAttributesClassName } = volume.spec ?? {}
  const wasBound = rest['phase'] === 'Bound'
  const resized = wasBound ? (claim.status?.capacity ?? capacity) : capacity
  const className = wasBound ? current : volumeAttributesClassName
  return {
    ...rest,
    phase,
    accessModes,
    capacity: resized,
    ...(className ? { currentVolumeAttributesClassName: className } : {}),
  }
}
