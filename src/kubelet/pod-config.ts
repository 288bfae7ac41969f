/** PodConfig: turns what the API server says about this node's pods into operations for the kubelet's main loop. */

import { sameJson } from '../api/same.ts'
import { type Pod, uidOf } from './pod.ts'
import type { Source } from './sources.ts'

/**
 * ADD: a new pod. UPDATE: its spec or metadata changed. DELETE: it is to end gracefully. RECONCILE: only its status changed.
 * REMOVE: the object is gone.
 */
export type PodOperation = 'ADD' | 'UPDATE' | 'DELETE' | 'RECONCILE' | 'REMOVE'

/** `observed`: the object as the API server has it. */
export type PodConfigHandler = (operation: PodOperation, pod: Pod, observed: Pod) => void

/**
 * Until something but the status changes, the kubelet keeps to the object it first saw (its resourceVersion is in the pod's
 * Events) and takes over only the status.
 */
export function watchPods(source: Source<Pod>, handler: PodConfigHandler): () => void {
  const known = new Map<string, Pod>()

  const seen = (pod: Pod) => {
    const before = known.get(uidOf(pod))
    const operation = before === undefined ? 'ADD' : operationOf(before, pod)
    const kept = operation === 'RECONCILE' && before !== undefined ? withStatusOf(before, pod) : pod
    known.set(uidOf(pod), kept)
    handler(operation, kept, pod)
  }
  const removed = (pod: Pod) => {
    if (known.delete(uidOf(pod))) handler('REMOVE', pod, pod)
  }
  return source.addHandlers({
    added: seen,
    updated(old, pod) {
      if (uidOf(old) !== uidOf(pod)) removed(old)
      seen(pod)
    },
    deleted: removed,
  })
}

function withStatusOf(before: Pod, pod: Pod): Pod {
  const { status: _, ...rest } = before
  return pod.status === undefined ? rest : { ...rest, status: pod.status }
}

function operationOf(before: Pod, pod: Pod): PodOperation {
  const { metadata: old } = before
  const { metadata: now } = pod
  const same =
    old.deletionTimestamp === now.deletionTimestamp &&
    old.deletionGracePeriodSeconds === now.deletionGracePeriodSeconds &&
    old.generation === now.generation &&
    sameJson(old.labels ?? null, now.labels ?? null) &&
    sameJson(old.annotations ?? null, now.annotations ?? null) &&
    // The API server counts the changes of the spec.
    (now.generation !== undefined || sameJson(before.spec, pod.spec))
  if (same) return 'RECONCILE'
  return now.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE'
}
