/**
 * The static pods of one node: what their sources have becomes work of the kubelet, an API server or not; where there is one, a mirror pod
 * shows each of them there. Nothing ends by the deletion of a mirror pod: it is made anew. A pod whose manifest has changed begins when the
 * one before it has ended.
 */
import type { Node } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import { nameOf, namespaceOf, type Pod, uidOf } from '../pod.ts'
import type { PodOperation } from '../pod-config.ts'
import { CONFIG_SEEN, fullNameOf, isMirrorOf, mirrorPodOf } from './static-pod.ts'

/** Where manifests lie. */
export interface StaticPodSource {
  readonly name: string
  /** Tells all pods that it has, for the first time before it returns where it can, and again when they have changed. */
  start(tell: (pods: readonly Pod[]) => void, signal: AbortSignal): void
}

export interface StaticPods {
  /** All pods that the source of this name has now. */
  set(source: string, pods: readonly Pod[]): void
  isStatic(uid: string): boolean
  /** The mirror pod that shows it, as the API server last had it. */
  mirrorOf(uid: string): Pod | undefined
  /** Of a mirror pod: what the API server told. */
  handleMirror(operation: PodOperation, mirror: Pod, observed: Pod): void
  /** Sees to it that there is a mirror pod, and that it shows this pod. */
  reconcile(pod: Pod): void
  /** Nothing of the pod is left on the node. */
  forget(uid: string): void
  /** The Node and all pods that the API server has for it are known. */
  allSeen(): void
}

export interface StaticPodsOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly signal: AbortSignal
  readonly node: () => Node | undefined
  readonly handle: (operation: 'ADD' | 'UPDATE' | 'REMOVE', pod: Pod) => void
  readonly sync: (uid: string) => void
  readonly observed: (mirror: Pod, uid: string) => void
  /** One begins anew that had ended under the same uid. */
  readonly restarted?: (() => void) | undefined
}

const PODS = { group: '', version: 'v1', resource: 'pods' }
const RETRY_MS = 10_000
/** The longest that a pod is not looked at. */
const LOOK_AGAIN_MS = 90_000

export function createStaticPods(options: StaticPodsOptions): StaticPods {
  const { runtime, signal } = options
  const { clock, log } = runtime
  const pods = options.client.resource<Pod>(PODS)
  const sources = new Map<string, readonly Pod[]>()
  /** By full name: what the sources have. */
  const wanted = new Map<string, Pod>()
  /** By uid: what the kubelet was given and has not brought to its end. */
  const given = new Map<string, Pod>()
  /** By full name. */
  const mirrors = new Map<string, Pod>()
  const working = new Set<string>()
  /** Asked for before all was seen. */
  const due = new Set<string>()
  /** By uid. */
  const later = new Set<string>()
  let seen = false

  const givenOf = (fullName: string) => [...given.values()].find((pod) => fullNameOf(pod) === fullName)
  const isWanted = (pod: Pod) => uidOf(wanted.get(fullNameOf(pod)) ?? pod) === uidOf(pod) && wanted.has(fullNameOf(pod))

  function begin(pod: Pod): void {
    given.set(uidOf(pod), pod)
    options.handle('ADD', pod)
  }

  function set(source: string, all: readonly Pod[]): void {
    sources.set(source, all)
    const next = new Map<string, Pod>()
    for (const pod of [...sources.values()].flat()) {
      const fullName = fullNameOf(pod)
      if (!next.has(fullName)) next.set(fullName, pod)
      else if (uidOf(next.get(fullName)!) !== uidOf(pod))
        log.info(0, 'Two manifests are of the same pod: the second is passed over', { pod: fullName })
    }
    for (const [fullName, pod] of wanted) {
      const now = next.get(fullName)
      if (now !== undefined && uidOf(now) === uidOf(pod)) continue
      wanted.delete(fullName)
      if (given.has(uidOf(pod))) options.handle('REMOVE', pod)
    }
    for (const [fullName, pod] of next) {
      const before = wanted.get(fullName)
      if (before !== undefined && isSame(before, pod)) continue
      wanted.set(fullName, pod)
      if (before !== undefined && given.has(uidOf(pod))) {
        given.set(uidOf(pod), pod)
        options.handle('UPDATE', pod)
      } else if (givenOf(fullName) === undefined) begin(pod)
    }
  }

  /** @returns whether there was something to do */
  async function bringMirror(fullName: string): Promise<void> {
    const pod = wanted.get(fullName)
    const mirror = mirrors.get(fullName)
    if (pod === undefined) {
      if (mirror !== undefined && givenOf(fullName) === undefined) await remove(mirror)
      return
    }
    if (mirror !== undefined) {
      if (mirror.metadata.deletionTimestamp === undefined && isMirrorOf(mirror, pod)) return
      await remove(mirror)
    }
    const node = options.node()
    if (node === undefined || node.metadata.deletionTimestamp !== undefined) return
    try {
      const made = await pods.namespace(namespaceOf(pod)).create(mirrorPodOf(pod, node))
      mirrors.set(fullName, made)
      if (given.has(uidOf(pod))) options.observed(made, uidOf(pod))
    } catch (error) {
      // The watch will tell which one it is.
      if (!isAlreadyExists(error)) throw error
    }
  }

  async function remove(mirror: Pod): Promise<void> {
    const uid = uidOf(mirror)
    try {
      await pods
        .namespace(namespaceOf(mirror))
        .delete(nameOf(mirror), { gracePeriodSeconds: 0, preconditions: { uid } })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
    const fullName = fullNameOf(mirror)
    if (uidOf(mirrors.get(fullName) ?? mirror) === uid) mirrors.delete(fullName)
  }

  function reconcileName(fullName: string): void {
    if (!seen) due.add(fullName)
    if (!seen || signal.aborted || working.has(fullName)) return
    working.add(fullName)
    bringMirror(fullName).then(
      () => {
        working.delete(fullName)
        if (isBehind(fullName)) reconcileName(fullName)
      },
      (error: unknown) => {
        working.delete(fullName)
        if (signal.aborted) return
        log.info(2, 'A mirror pod could not be brought up to date', { pod: fullName, err: messageOf(error) })
        clock.setTimer(RETRY_MS, 'mirror pod retry', () => reconcileName(fullName))
      },
    )
  }

  /** That a mirror pod goes is no reason to look at its pod, which is looked at again anyhow. */
  function syncLater(uid: string): void {
    if (later.has(uid)) return
    later.add(uid)
    clock.setTimer(runtime.random.float() * LOOK_AGAIN_MS, 'mirror pod is missed', () => {
      later.delete(uid)
      if (!signal.aborted && given.has(uid)) options.sync(uid)
    })
  }

  /** What changed while a request was under way. */
  function isBehind(fullName: string): boolean {
    const pod = wanted.get(fullName)
    const mirror = mirrors.get(fullName)
    if (pod === undefined) return mirror !== undefined && givenOf(fullName) === undefined
    return mirror !== undefined && (mirror.metadata.deletionTimestamp !== undefined || !isMirrorOf(mirror, pod))
  }

  return {
    set,
    isStatic: (uid) => given.has(uid),
    mirrorOf(uid) {
      const pod = given.get(uid)
      const mirror = pod === undefined ? undefined : mirrors.get(fullNameOf(pod))
      return pod !== undefined && mirror !== undefined && isMirrorOf(mirror, pod) ? mirror : undefined
    },
    handleMirror(operation, mirror, observed) {
      const fullName = fullNameOf(mirror)
      if (operation === 'REMOVE') {
        if (uidOf(mirrors.get(fullName) ?? mirror) === uidOf(mirror)) mirrors.delete(fullName)
      } else {
        mirrors.set(fullName, observed)
        for (const pod of given.values()) if (isMirrorOf(mirror, pod)) options.observed(observed, uidOf(pod))
      }
      if (operation === 'RECONCILE') return
      const pod = wanted.get(fullName)
      if (pod !== undefined && given.has(uidOf(pod))) {
        if (operation === 'DELETE' || operation === 'REMOVE') syncLater(uidOf(pod))
        else options.sync(uidOf(pod))
      }
      if (pod === undefined && givenOf(fullName) === undefined) reconcileName(fullName)
    },
    reconcile(pod) {
      if (isWanted(pod)) reconcileName(fullNameOf(pod))
    },
    forget(uid) {
      const pod = given.get(uid)
      if (pod === undefined) return
      given.delete(uid)
      const next = wanted.get(fullNameOf(pod))
      if (next === undefined) reconcileName(fullNameOf(pod))
      else {
        if (uidOf(next) === uid) options.restarted?.()
        begin(next)
      }
    },
    allSeen() {
      seen = true
      for (const fullName of new Set([...due, ...mirrors.keys()])) reconcileName(fullName)
      due.clear()
    },
  }
}

/** When a manifest was read is no difference. */
function isSame(one: Pod, other: Pod): boolean {
  if (uidOf(one) !== uidOf(other)) return false
  const unseen = (pod: Pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [CONFIG_SEEN]: '' } },
  })
  return sameJson(unseen(one), unseen(other))
}
