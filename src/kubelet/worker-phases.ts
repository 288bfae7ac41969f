/**
 * How far each pod that has a worker has come. The pod workers write it; what must not come before a pod's containers have ended
 * reads it: the status manager (a final phase), the eviction manager, preemption, the collection of dead containers.
 */
export type WorkerPhase = 'syncing' | 'terminating' | 'terminated'

export interface WorkerPhases {
  get(uid: string): WorkerPhase | undefined
  set(uid: string, phase: WorkerPhase): void
  forget(uid: string): void
  couldHaveRunningContainers(uid: string): boolean
}

export function createWorkerPhases(): WorkerPhases {
  const phases = new Map<string, WorkerPhase>()
  return {
    get: (uid) => phases.get(uid),
    set: (uid, phase) => void phases.set(uid, phase),
    forget: (uid) => void phases.delete(uid),
    couldHaveRunningContainers: (uid) => (phases.get(uid) ?? 'terminated') !== 'terminated',
  }
}
