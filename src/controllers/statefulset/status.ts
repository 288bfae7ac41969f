/** The status of a StatefulSet, from its pods as a sync found them. */
import type { Pod, StatefulSet, StatefulSetStatus } from '../../api/generated/types.ts'
import { isAvailable, minReadySecondsOf } from '../pods/min-ready-seconds.ts'
import { revisionOfPod, statefulSetReplicas } from './pod-identity.ts'
import { isRunningAndReady } from './rolling-update-and-order.ts'

export interface RevisionNames {
  readonly current: string
  readonly update: string
  readonly collisionCount: number
}

/** `outdated`: pods deleted by this sync to be made again. */
export function setStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: RevisionNames,
  outdated: number,
  nowMs: number,
): StatefulSetStatus {
  const ready = pods.filter(isRunningAndReady)
  const available = ready.filter((pod) => isAvailable(pod, minReadySecondsOf(set), nowMs))
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const ofRevision = (name: string) => staying.filter((pod) => revisionOfPod(pod) === name).length
  let currentRevision = revisions.current
  let currentReplicas = ofRevision(currentRevision) - outdated
  const updatedReplicas = ofRevision(revisions.update)
  const wanted = statefulSetReplicas(set)
  const isRolling = set.spec?.updateStrategy?.type !== 'OnDelete'
  if (isRolling && updatedReplicas === wanted && pods.length === wanted && ready.length === wanted) {
    currentRevision = revisions.update
    currentReplicas = updatedReplicas
  }
  const { conditions } = set.status ?? {}
  const counts = { readyReplicas: ready.length, currentReplicas, updatedReplicas }
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    currentRevision,
    updateRevision: revisions.update,
    collisionCount: revisions.collisionCount,
    ...(conditions === undefined ? {} : { conditions }),
    availableReplicas: available.length,
  }
}
