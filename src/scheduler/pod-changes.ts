/** Which changes of a pod can change where it may run, or that it does. */
import type { Pod } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { takenRequests, tellSameTaken } from '../api/objects/pod-requests.ts'
import { sameJson } from '../api/same.ts'

export const isDeleting = (object: KubeObject) => object.metadata.deletionTimestamp !== undefined

/** It is the pod of that uid, without a node, and stays. */
export const awaitsNode = (pod: Pod | undefined, uid: string): pod is Pod =>
  pod !== undefined && pod.metadata.uid === uid && !pod.spec?.nodeName && !isDeleting(pod)

export function sameForScheduling(a: Pod, b: Pod): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    sameSpec(a, b) &&
    takeSame(a, b) &&
    sameJson(a.metadata.labels, b.metadata.labels) &&
    sameClaims(a, b)
  )
}

/** A status tells of what is taken when the pod has begun to run: mostly as much as it asked for. */
const takeSame = (a: Pod, b: Pod): boolean =>
  tellSameTaken(a.status, b.status) || sameJson(takenRequests(a), takenRequests(b))

/** Those made for the pod are told in its status. */
const sameClaims = (a: Pod, b: Pod): boolean =>
  sameJson(a.status?.resourceClaimStatuses, b.status?.resourceClaimStatuses)

/** The API server counts the changes of a specification (metadata.generation). */
function sameSpec(a: Pod, b: Pod): boolean {
  const { generation } = a.metadata
  return generation === undefined ? sameJson(a.spec, b.spec) : generation === b.metadata.generation
}
