/** The status of a ReplicaSet or ReplicationController, from its pods. */

import type { Fields, KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { isAvailable, isReady } from '../pods/pod.ts'
import type { ReplicaFlavor } from './replicaset-and-replicationcontroller.ts'

export function replicaStatus(
  flavor: ReplicaFlavor,
  object: KubeObject,
  active: readonly KubeObject[],
  terminating: number,
  failure: { readonly error: unknown; readonly creating: boolean } | undefined,
  nowMs: number,
): Fields {
  const spec: Fields = object['spec']
  const old: Fields = object['status'] ?? {}
  const template = labelSelectorOf({ matchLabels: spec['template']?.metadata?.labels })
  let fullyLabeled = 0
  let ready = 0
  let available = 0
  for (const pod of active) {
    if (template.matches(pod.metadata.labels)) fullyLabeled++
    if (!isReady(pod)) continue
    ready++
    if (isAvailable(pod, spec['minReadySeconds'] ?? 0, nowMs)) available++
  }
  const conditions = replicaConditions(old['conditions'] ?? [], failure, nowMs)
  return {
    replicas: active.length,
    ...(fullyLabeled > 0 ? { fullyLabeledReplicas: fullyLabeled } : {}),
    ...(ready > 0 ? { readyReplicas: ready } : {}),
    ...(available > 0 ? { availableReplicas: available } : {}),
    ...(flavor.countsTerminating ? { terminatingReplicas: terminating } : {}),
    observedGeneration: object.metadata.generation ?? 0,
    ...(conditions.length > 0 ? { conditions } : {}),
  }
}

/** ReplicaFailure is there while creating or deleting fails. */
function replicaConditions(
  old: readonly Fields[],
  failure: { readonly error: unknown; readonly creating: boolean } | undefined,
  nowMs: number,
): readonly Fields[] {
  const known = old.find((condition) => condition['type'] === 'ReplicaFailure')
  if (failure === undefined) {
    return known === undefined ? old : old.filter((condition) => condition !== known)
  }
  if (known !== undefined) return old
  return [
    ...old,
    {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: formatTime(nowMs),
      reason: failure.creating ? 'FailedCreate' : 'FailedDelete',
      message: messageOf(failure.error),
    },
  ]
}

const counts = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration']

export function sameReplicaStatus(a: Fields, b: Fields): boolean {
  return (
    counts.every((name) => (a[name] ?? 0) === (b[name] ?? 0)) &&
    a['terminatingReplicas'] === b['terminatingReplicas'] &&
    ((a['conditions'] ?? none) === (b['conditions'] ?? none) ||
      JSON.stringify(a['conditions'] ?? none) === JSON.stringify(b['conditions'] ?? none))
  )
}
const none: readonly Fields[] = []
