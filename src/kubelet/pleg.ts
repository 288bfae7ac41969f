/**
 * PLEG, the pod lifecycle event generator: learns from the runtime what became of sandboxes and containers, keeps the
 * PodCache, and tells which pods need a look. A runtime that tells of its changes is listened to, so that nothing polls;
 * one that does not is relisted every second. What a real runtime tells may be lost: it is relisted now and then all the same.
 */
import { sleep, type Timer } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { PodCache, RuntimePodStatus } from './pod-cache.ts'
import {
  type ContainerEvent,
  type ContainerRuntime,
  type ListFilter,
  POD_UID_LABEL,
  type PodSandboxStatus,
  type RealRuntime,
  type RuntimeContainerStatus,
} from './runtimes/runtime.ts'

import type { WorkMetrics } from './work-metrics.ts'

export type PodLifecycleEventType = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'ContainerChanged'

export interface PodLifecycleEvent {
  readonly uid: string
  readonly type: PodLifecycleEventType
  /** A container's or sandbox's id. */
  readonly id: string
}

export interface Pleg {
  /** Reads one pod's state from the runtime now, into the cache; what changed is told. */
  relistPod(uid: string): Promise<RuntimePodStatus>
  /** Notes that this kubelet has just changed a container or sandbox of the pod. */
  changed(uid: string): void
  /**
   * Brings the cache up to what this kubelet did before now: a sync must not decide by what was before the last one's doing. Where nothing was
   * done since the pod was read last, nothing is asked: what happens by itself is told soon enough. What changed is not told: the sync goes by it.
   */
  settle(uid: string): Promise<void>
  /** Reads all pods' state, again and again until the runtime answers: without it nothing may be begun. @throws when aborted */
  firstRelist(signal: AbortSignal): Promise<void>
  run(signal: AbortSignal): void
  /** The pod is gone: nothing more is told about it. */
  forget(uid: string): void
}

const RELIST_PERIOD_MS = 1000
/** While events come. */
const RELIST_BESIDE_EVENTS_MS = 300_000
/** Events that end, or that there are none of, are asked for again after this. */
const EVENTS_RETRY_MS = 30_000

export function createPleg(
  runtime: Runtime,
  containerRuntime: ContainerRuntime,
  cache: PodCache,
  tell: (events: readonly PodLifecycleEvent[]) => void,
  counts?: Pick<WorkMetrics, 'relisted' | 'podRelisted' | 'eventsBegan' | 'eventsFailed'>,
): Pleg {
  const dirty = new Set<string>()
  const known = new Set<string>()
  /** The read that the cache's status of each pod is from: of two under way at once, the later begun one counts. */
  const readBy = new Map<string, number>()
  /** Pods that this kubelet has changed since they were read last: with the last read that was begun before. */
  const changedAt = new Map<string, number>()
  let reads = 0
  let scheduled = false
  let isRunning = false
  /** A real runtime tells of its changes. */
  let eventsCome = false

  async function read(filter: ListFilter): Promise<Map<string, RuntimePodStatus>> {
    const [sandboxes, containers] = await Promise.all([
      containerRuntime.listPodSandboxes(filter),
      containerRuntime.listContainers(filter),
    ])
    const pods = new Map<string, { sandboxes: PodSandboxStatus[]; containers: RuntimeContainerStatus[] }>()
    const podOf = (uid: string) => {
      let pod = pods.get(uid)
      if (pod === undefined) {
        pod = { sandboxes: [], containers: [] }
        pods.set(uid, pod)
      }
      return pod
    }
    for (const sandbox of sandboxes) podOf(sandbox.metadata.uid).sandboxes.push(sandbox)
    for (const container of containers) podOf(container.labels[POD_UID_LABEL] ?? '').containers.push(container)
    const statuses = new Map<string, RuntimePodStatus>()
    for (const [uid, pod] of pods) {
      if (pod.sandboxes.length > 1) pod.sandboxes.sort((a, b) => b.metadata.attempt - a.metadata.attempt)
      if (pod.containers.length > 1) pod.containers.sort(newestFirst)
      const current = pod.sandboxes[0]
      const ips = current !== undefined && current.ips.length > 0 ? current.ips : cache.get(uid).ips
      // Copies without the room that lists which grew in place keep.
      statuses.set(uid, { uid, ips, sandboxes: pod.sandboxes.slice(), containers: pod.containers.slice() })
    }
    return statuses
  }

  function take(uid: string, status: RuntimePodStatus | undefined, read: number): PodLifecycleEvent[] {
    if ((readBy.get(uid) ?? 0) > read) return []
    const events = changes(cache.get(uid), status ?? { uid, ips: [], sandboxes: [], containers: [] })
    if (status === undefined) {
      known.delete(uid)
      readBy.delete(uid)
      cache.delete(uid)
    } else {
      known.add(uid)
      readBy.set(uid, read)
      cache.set(status)
    }
    return events
  }

  /** A read that was begun after the change has seen it. */
  function seen(uid: string, read: number): void {
    if ((changedAt.get(uid) ?? read) < read) changedAt.delete(uid)
  }

  const relistPod = (uid: string, isTold?: boolean): Promise<RuntimePodStatus> =>
    counts === undefined ? readPod(uid, isTold) : counts.podRelisted(() => readPod(uid, isTold))

  async function readPod(uid: string, isTold = true): Promise<RuntimePodStatus> {
    dirty.delete(uid)
    const own = ++reads
    const statuses = await read({ labels: { [POD_UID_LABEL]: uid } })
    seen(uid, own)
    const events = take(uid, statuses.get(uid), own)
    if (events.length > 0 && isTold) tell(events)
    return cache.get(uid)
  }

  const relist = (): Promise<void> => (counts === undefined ? readAll() : counts.relisted(readAll))

  async function readAll(): Promise<void> {
    const own = ++reads
    const statuses = await read({})
    for (const uid of [...changedAt.keys()]) seen(uid, own)
    const events: PodLifecycleEvent[] = []
    for (const uid of [...known]) if (!statuses.has(uid)) events.push(...take(uid, undefined, own))
    for (const [uid, status] of statuses) events.push(...take(uid, status, own))
    if (events.length > 0) tell(events)
  }

  function readLater(uid: string): void {
    dirty.add(uid)
    if (scheduled) return
    scheduled = true
    runtime.scheduler.handOver('pleg', readDirty)
  }

  function readDirty(): void {
    scheduled = false
    const uids = [...dirty]
    for (const uid of uids) {
      relistPod(uid).catch((error) => {
        runtime.log.error('Relisting failed', error, { podUID: uid })
        runtime.clock.setTimer(RELIST_PERIOD_MS, 'pleg relist', () => readLater(uid))
      })
    }
  }

  /** A deletion may be told when the pod that it was of is not known to the runtime any more. */
  function podOfContainer(id: string): string | undefined {
    for (const uid of known) {
      const { sandboxes, containers } = cache.get(uid)
      if (sandboxes.some((one) => one.id === id) || containers.some((one) => one.id === id)) return uid
    }
    return undefined
  }

  function runReal(signal: AbortSignal): void {
    let timer: Timer | undefined
    isRunning = true
    const relistAfter = (ms: number) => {
      timer?.cancel()
      timer = runtime.clock.setTimer(ms, 'pleg relist', () => {
        void relist()
          .catch((error) => runtime.log.error('Relisting failed', error))
          .finally(() => {
            if (!signal.aborted) relistAfter(eventsCome ? RELIST_BESIDE_EVENTS_MS : RELIST_PERIOD_MS)
          })
      })
    }
    const take = ({ podUid, containerId }: ContainerEvent) => {
      if (!eventsCome) {
        eventsCome = true
        counts?.eventsBegan()
        // What happened before the first of them has not been told.
        relistAfter(0)
      }
      const uid = podUid === '' ? podOfContainer(containerId) : podUid
      if (uid !== undefined) readLater(uid)
    }
    const listen = async (real: RealRuntime) => {
      while (!signal.aborted) {
        try {
          await real.events(take, signal)
        } catch (error) {
          if (!signal.aborted) counts?.eventsFailed()
          runtime.log.info(4, 'The container runtime tells of no changes', { err: messageOf(error) })
        }
        if (signal.aborted) return
        if (eventsCome) {
          eventsCome = false
          relistAfter(0)
        }
        await sleep(runtime.clock, EVENTS_RETRY_MS, signal)
      }
    }
    relistAfter(RELIST_PERIOD_MS)
    if (containerRuntime.real !== undefined) listen(containerRuntime.real).catch(() => {})
  }

  return {
    relistPod: (uid) => relistPod(uid),
    async firstRelist(signal) {
      for (;;) {
        try {
          return await relist()
        } catch (error) {
          runtime.log.error('Relisting failed', error)
          await sleep(runtime.clock, RELIST_PERIOD_MS, signal)
        }
      }
    },
    changed(uid) {
      // One that tells at once has told of it.
      if (containerRuntime.containerEvents !== undefined) return
      changedAt.set(uid, reads)
      // What was begun is seen before it ends again, as by a kubelet, which lists its pod anew too.
      if (isRunning && !eventsCome) readLater(uid)
    },
    async settle(uid) {
      if (changedAt.has(uid) || dirty.has(uid)) await relistPod(uid, false)
    },
    forget(uid) {
      dirty.delete(uid)
      changedAt.delete(uid)
      known.delete(uid)
      readBy.delete(uid)
      cache.delete(uid)
    },
    run(signal) {
      if (containerRuntime.containerEvents !== undefined) {
        containerRuntime.containerEvents(({ podUid }) => readLater(podUid), signal)
        return
      }
      runReal(signal)
    },
  }
}

function newestFirst(a: RuntimeContainerStatus, b: RuntimeContainerStatus): number {
  return b.createdAt - a.createdAt || b.metadata.attempt - a.metadata.attempt
}

function changes(old: RuntimePodStatus, now: RuntimePodStatus): PodLifecycleEvent[] {
  const { uid } = now
  const events: PodLifecycleEvent[] = []
  const before = new Map<string, string>()
  for (const { id, state } of [...old.containers, ...old.sandboxes]) before.set(id, state)
  for (const { id, state } of [...now.containers, ...now.sandboxes]) {
    const was = before.get(id)
    before.delete(id)
    if (was === state) continue
    if (state === 'running' || state === 'ready') events.push({ uid, type: 'ContainerStarted', id })
    else if (state === 'exited' || state === 'notReady') events.push({ uid, type: 'ContainerDied', id })
    else events.push({ uid, type: 'ContainerChanged', id })
  }
  for (const [id, was] of before) {
    if (was === 'running' || was === 'ready') events.push({ uid, type: 'ContainerDied', id })
    events.push({ uid, type: 'ContainerRemoved', id })
  }
  return events
}
