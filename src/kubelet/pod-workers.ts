/**
 * PodWorkers: one worker per pod, which syncs it, then terminates it, then finishes it, one step at a time. What arrives
 * while a step runs waits as one pending update, the newest replacing the older. A pod that began to terminate never goes
 * back, and its grace period only gets shorter.
 */
import { boundedSeconds } from '../api/objects/integers.ts'
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { isTerminalPhase, type Pod, specOf, uidOf } from './pod.ts'
import { SyncError } from './sync-error.ts'
import type { WorkMetrics } from './work-metrics.ts'
import type { WorkerPhase, WorkerPhases } from './worker-phases.ts'

export interface PodUpdate {
  readonly pod: Pod
  /** `kill`: the pod has to end although its object does not say so (it is gone, or was evicted). */
  readonly type: 'create' | 'update' | 'sync' | 'kill'
  /** Seconds; of a kill. */
  readonly gracePeriodSeconds?: number
}

export interface PodWorkers {
  update(update: PodUpdate): void
  /** Looks at the pod again, as it is known. */
  sync(uid: string): void
  /** The same by the way: not while a pod whose last sync failed waits for the next one, as in a kubelet: its volumes are written anew only then. */
  look(uid: string): void
  /** The object is gone: the pod ends if it has not, then its worker is forgotten. */
  remove(pod: Pod): void
  knows(uid: string): boolean
  working(): readonly { readonly pod: Pod; readonly phase: WorkerPhase }[]
  /** Nothing of the pod is left on the node, or it never came. */
  isFinished(uid: string): boolean
}

export interface PodWorkerOptions {
  readonly runtime: Runtime
  /** Kept here. */
  readonly phases: WorkerPhases
  /** True when the pod has ended by itself. */
  readonly syncPod: (pod: Pod, signal: AbortSignal) => Promise<boolean>
  readonly syncTerminatingPod: (pod: Pod, gracePeriodSeconds: number | undefined) => Promise<void>
  /** Until it has succeeded the pod is not finished: a failure is tried again like that of any other step. */
  readonly syncTerminatedPod: (pod: Pod) => Promise<void>
  /** The pod that is being killed has less time than it had. */
  readonly shorten: (uid: string, gracePeriodSeconds: number) => void
  /** Object and worker are gone. */
  readonly forget: (uid: string) => void
  readonly counts?: Pick<WorkMetrics, 'worked'> | undefined
  /** The pod as the API server tells it now: a sync goes by the newest status. */
  readonly newest?: (uid: string) => Pod | undefined
}

interface Worker {
  readonly uid: string
  pod: Pod
  pending: PodUpdate | undefined
  /** When that came. */
  pendingSince: number
  working: AbortController | undefined
  scheduled: boolean
  retry: Timer | undefined
  gracePeriodSeconds: number | undefined
  finished: boolean
  removed: boolean
}

/** A failed step is tried again after this, and up to half as much more. */
const BACK_OFF_MS = 10_000

export function createPodWorkers(options: PodWorkerOptions): PodWorkers {
  const { runtime, phases } = options
  const { clock, scheduler, random, log } = runtime
  const workers = new Map<string, Worker>()

  function workerOf(pod: Pod): Worker {
    const uid = uidOf(pod)
    let worker = workers.get(uid)
    if (worker === undefined) {
      worker = {
        uid,
        pod,
        pending: undefined,
        pendingSince: 0,
        working: undefined,
        scheduled: false,
        retry: undefined,
        gracePeriodSeconds: undefined,
        finished: false,
        removed: false,
      }
      workers.set(uid, worker)
      phases.set(uid, 'syncing')
    }
    return worker
  }

  function schedule(worker: Worker): void {
    if (worker.scheduled || worker.working !== undefined) return
    worker.scheduled = true
    scheduler.handOver('pod worker', () => {
      worker.scheduled = false
      void work(worker)
    })
  }

  function terminate(worker: Worker, update: PodUpdate): void {
    const grace = askedGraceOf(update)
    const phase = phases.get(worker.uid)
    if (phase === 'syncing') {
      phases.set(worker.uid, 'terminating')
      worker.gracePeriodSeconds = grace
      worker.working?.abort()
      return
    }
    if (phase !== 'terminating' || grace === undefined) return
    if (worker.gracePeriodSeconds !== undefined && grace >= worker.gracePeriodSeconds) return
    worker.gracePeriodSeconds = grace
    options.shorten(worker.uid, grace)
  }

  async function work(worker: Worker): Promise<void> {
    const { pending: update, pendingSince } = worker
    if (update === undefined || worker.working !== undefined || worker.finished) return
    worker.pending = undefined
    worker.retry?.cancel()
    worker.retry = undefined
    const abort = new AbortController()
    worker.working = abort
    const phase = phases.get(worker.uid)
    try {
      await step(worker, phase, abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) {
        log.info(2, 'Error syncing pod, skipping', { podUID: worker.uid, err: String(error) })
        retry(worker, error)
      }
    } finally {
      worker.working = undefined
      options.counts?.worked(worker.pod, phase, update.type, clock.monotonic() - pendingSince)
    }
    if (worker.finished && worker.removed) {
      end(worker)
      return
    }
    if (phases.get(worker.uid) !== phase && !worker.finished) syncSoon(worker)
    if (worker.pending !== undefined) schedule(worker)
  }

  function syncSoon(worker: Worker): void {
    if (worker.pending !== undefined) return
    worker.pending = { pod: worker.pod, type: 'sync' }
    worker.pendingSince = clock.monotonic()
  }

  function end({ uid }: Worker): void {
    workers.delete(uid)
    phases.forget(uid)
    options.forget(uid)
  }

  async function step(worker: Worker, phase: WorkerPhase | undefined, signal: AbortSignal): Promise<void> {
    const { pod } = worker
    switch (phase) {
      case 'syncing':
        if ((await options.syncPod(pod, signal)) && phases.get(worker.uid) === 'syncing')
          phases.set(worker.uid, 'terminating')
        return
      case 'terminating':
        await options.syncTerminatingPod(pod, worker.gracePeriodSeconds)
        phases.set(worker.uid, 'terminated')
        return
      case 'terminated':
        await options.syncTerminatedPod(pod)
        worker.finished = true
    }
  }

  function retry(worker: Worker, error: unknown): void {
    const wait = error instanceof SyncError ? error.retryMs : undefined
    const ms = wait ?? BACK_OFF_MS * (1 + random.float() / 2)
    worker.retry = clock.setTimer(ms, 'pod worker retry', () => {
      worker.retry = undefined
      sync(worker.uid)
    })
  }

  function update(next: PodUpdate): void {
    const { pod, type } = next
    const known = workers.has(uidOf(pod))
    const worker = workerOf(pod)
    worker.pod = pod
    if (worker.finished) return
    const ended = isTerminalPhase(pod.status?.phase)
    if (!known && ended && pod.metadata.deletionTimestamp === undefined) {
      // It ended in an earlier life of this kubelet: there is nothing to run and nothing to say.
      phases.set(worker.uid, 'terminated')
      worker.finished = true
      return
    }
    if (type === 'kill' || pod.metadata.deletionTimestamp !== undefined || ended) terminate(worker, next)
    worker.pending = next
    worker.pendingSince = clock.monotonic()
    schedule(worker)
  }

  function sync(uid: string): void {
    const worker = workers.get(uid)
    if (worker === undefined || worker.finished) return
    const status = options.newest?.(uid)?.status
    if (status !== undefined && status !== worker.pod.status) worker.pod = { ...worker.pod, status }
    syncSoon(worker)
    schedule(worker)
  }

  return {
    update,
    sync,
    look(uid) {
      if (workers.get(uid)?.retry === undefined) sync(uid)
    },
    remove(pod) {
      const worker = workers.get(uidOf(pod))
      if (worker === undefined) return options.forget(uidOf(pod))
      worker.removed = true
      if (!worker.finished) update({ pod, type: 'kill' })
      else {
        end(worker)
      }
    },
    knows: (uid) => workers.has(uid),
    working: () => [...workers.values()].map(({ uid, pod }) => ({ pod, phase: phases.get(uid) ?? 'syncing' })),
    isFinished: (uid) => workers.get(uid)?.finished ?? true,
  }
}

/** The time the pod has to end, in whole seconds, at least 1; undefined: what its spec says. */
function askedGraceOf({ pod, gracePeriodSeconds }: PodUpdate): number | undefined {
  const { deletionGracePeriodSeconds } = pod.metadata
  const own = deletionGracePeriodSeconds === undefined ? specOf(pod).terminationGracePeriodSeconds : undefined
  const asked = [deletionGracePeriodSeconds, gracePeriodSeconds].filter((seconds) => seconds !== undefined)
  if (asked.length === 0) return undefined
  return Math.max(1, Math.min(...[...asked, ...(own === undefined ? [] : [own])].map(boundedSeconds)))
}
