/** The status of a ReplicaSet or ReplicationController, from its pods. */

import type { Pod, ReplicaSetCondition, ReplicaSetStatus } from '../../api/generated/types.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { isAvailable } from '../pods/min-ready-seconds.ts'
import { isReady } from '../pods/pod.ts'
import type { ReplicaFlavor, ReplicaOwner } from './replicaset-and-replicationcontroller.ts'

export function replicaStatus(
  flavor: ReplicaFlavor,
  object: ReplicaOwner,
  active: readonly Pod[],
  terminating: number,
  failure: { readonly error: unknown; readonly creating: boolean } | undefined,
  nowMs: number,
): ReplicaSetStatus {
  const { spec } = object
  const template = labelSelectorOf({ matchLabels: spec?.template?.metadata?.labels })
  let fullyLabeled = 0
  let ready = 0
  let available = 0
  for (const pod of active) {
    if (template.matches(pod.metadata.labels)) fullyLabeled++
    if (!isReady(pod)) continue
    ready++
    if (isAvailable(pod, spec?.minReadySeconds ?? 0, nowMs)) available++
  }
  const conditions = replicaConditions(object.status?.conditions ?? [], failure, nowMs)
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
  old: readonly ReplicaSetCondition[],
  failure: { readonly error: unknown; readonly creating: boolean } | undefined,
  nowMs: number,
): readonly ReplicaSetCondition[] {
  const known = old.find((condition) => condition.type === 'ReplicaFailure')
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

const counts = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'] as const

export function sameReplicaStatus(a: Partial<ReplicaSetStatus>, b: Partial<ReplicaSetStatus>): boolean {
  return (
    counts.every((name) => (a[name] ?? 0) === (b[name] ?? 0)) &&
    a.terminatingReplicas === b.terminatingReplicas &&
    ((a.conditions ?? none) === (b.conditions ?? none) || sameJson(a.conditions ?? none, b.conditions ?? none))
  )
}
const none: readonly ReplicaSetCondition[] = []
