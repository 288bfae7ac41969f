/** What PodConfig tells of a pod, and the static pods' source, becomes work of its worker. */
import { isMirrorPod } from '../api/objects/mirror-pods.ts'
import type { PodAdmission } from './admit-pods.ts'
import type { References } from './configmaps-and-secrets.ts'
import type { PodStartMetrics } from './metrics/pod-start-metrics.ts'
import { isTerminalPhase, type Pod, specOf, uidOf } from './pod.ts'
import type { PodConfigHandler } from './pod-config.ts'
import type { PodManager } from './pod-manager.ts'
import type { PodResizes } from './pod-resize.ts'
import type { PodWorkers } from './pod-workers.ts'
import type { SeenPods } from './seen-pods.ts'
import type { StaticPods } from './static-pods/static-pods.ts'
import type { StatusManager } from './status-manager.ts'

export interface PodOperationsOptions extends Pick<StaticPods, 'isStatic' | 'handleMirror'> {
  readonly pods: PodManager
  readonly seen: SeenPods | undefined
  readonly podStarts: PodStartMetrics | undefined
  readonly statuses: StatusManager
  readonly resizes: PodResizes
  readonly admission: PodAdmission
  readonly workers: PodWorkers
  readonly references: Pick<References, 'renew'>
  /** The node has a pod that it had not. */
  readonly found: (pod: Pod) => void
  readonly forget: (uid: string) => void
}

export interface PodOperations {
  readonly handle: PodConfigHandler
  /** The same of pods that are no mirrors. */
  readonly handleOwn: PodConfigHandler
}

export function createPodOperations(options: PodOperationsOptions): PodOperations {
  const { pods, seen, podStarts, statuses, resizes, admission, workers, references } = options
  const { found, forget, isStatic, handleMirror } = options

  const handle: PodConfigHandler = (operation, pod, observed) => {
    if (isMirrorPod(pod)) handleMirror(operation, pod, observed)
    else handleOwn(operation, seen?.noted(pod) ?? pod, observed)
  }

  const handleOwn: PodConfigHandler = (operation, pod, observed) => {
    if (operation === 'ADD') podStarts?.seen(pod)
    else podStarts?.observed(observed)
    if (admission.isPending(uidOf(pod))) {
      if (operation === 'REMOVE') {
        pods.delete(uidOf(pod))
        forget(uidOf(pod))
      } else pods.set(pod)
      return
    }
    switch (operation) {
      case 'ADD':
        pods.set(pod)
        found(pod)
        admission.add(pod)
        break
      case 'UPDATE':
      case 'DELETE':
        pods.set(pod)
        // What a user changed before is there by the time that the pod is synced.
        if (operation === 'UPDATE') references.renew()
        if (!isStatic(uidOf(pod))) statuses.observed(observed)
        workers.update({ pod: resizes.accept(pod), type: 'update' })
        break
      case 'RECONCILE':
        pods.set(pod)
        statuses.observed(observed)
        if ((specOf(pod).readinessGates ?? []).length > 0 || isTerminalPhase(pod.status?.phase))
          workers.update({ pod: resizes.accept(pod), type: 'sync' })
        return
      case 'REMOVE':
        pods.delete(uidOf(pod))
        workers.remove(pod)
    }
  }

  return { handle, handleOwn }
}
