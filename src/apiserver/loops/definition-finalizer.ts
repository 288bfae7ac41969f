/**
 * What ends a definition that is being deleted, as a kube-apiserver v1.37.1 was seen to do it (2026-11-27): its objects are deleted, and once
 * none is left one write says so and takes the finalizer off. Objects that are held are looked for at once and then every five seconds;
 * after a minute a condition says that they are still there, and the definition begins anew behind those that wait. Five are
 * worked on at a time: a sixth waits until one of them has gone or its minute is over. Where objects cannot be read (a conversion webhook that
 * is gone) a condition says why, and it is tried again, less and less often whatever the condition says. The loop of definitions
 * (crd-loop.ts) calls it.
 */
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { Given, KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { isConflict, isNotFound, StatusError } from '../../api/status.ts'
import { formatTime, type Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { ResourceCache } from '../cache/resource-cache.ts'
import { CLEANUP_FINALIZER, withDefinitionCondition } from '../customresources/name-conflicts.ts'
import type { DeleteInstances } from './delete-instances.ts'

const AT_ONCE = 5
const LOOK_MS = 5_000
const ROUND_MS = 60_000
const RETRY_MS = 1000

type Instances = Pick<ResourceCache, 'size' | 'list' | 'onChange'>

export interface DefinitionFinalizerOptions {
  readonly runtime: Runtime
  /** The definition as it is now; undefined: it is gone. */
  get(name: string): Given<CustomResourceDefinition> | undefined
  /** How its objects are stored; undefined: it serves none. */
  rowOf(name: string): ResourceRow | undefined
  instancesOf(row: ResourceRow): Instances
  remove: DeleteInstances
  putStatus(definition: Given<CustomResourceDefinition>): Promise<KubeObject>
  /** Ends what is under way. */
  readonly signal: AbortSignal
}

/** Objects of it cannot be decrypted or converted: none of them is deleted. */
const isUnreadable = (error: unknown): error is StatusError =>
  error instanceof StatusError && error.reason === 'StorageReadError'

interface Retry {
  readonly timer: Timer
  /** The definition with which it failed. */
  readonly tried: Given<CustomResourceDefinition>
}

/** Without the condition that tells of its end, and what every write changes. */
function apartFromTerminating(definition: Given<CustomResourceDefinition>) {
  const { resourceVersion: _, managedFields: __, ...metadata } = definition.metadata
  const conditions = definition.status?.conditions?.filter(({ type }) => type !== 'Terminating') ?? []
  return { ...definition, metadata, status: { ...definition.status, conditions } }
}

export interface DefinitionFinalizer {
  /** Looks at a definition that has changed, when its turn comes. */
  add(name: string): void
}

export function createDefinitionFinalizer(options: DefinitionFinalizerOptions): DefinitionFinalizer {
  const { runtime, get, rowOf, instancesOf, remove, putStatus, signal } = options
  const { clock } = runtime
  /** Those that wait for their turn, in its order. */
  const queue = new Set<string>()
  const active = new Set<string>()
  /** Changed while they were worked on. */
  const changed = new Set<string>()
  /** Those whose objects have been deleted once: in another turn nothing happens unless they are gone. */
  const begun = new Set<string>()
  /** How often in a row the objects of one could not be read. */
  const failures = new Map<string, number>()
  /** Those that failed and wait to be tried again: they are neither in the queue nor worked on. */
  const retries = new Map<string, Retry>()
  const cancelAll = () => {
    for (const { timer } of retries.values()) timer.cancel()
  }
  signal.addEventListener('abort', cancelAll, { once: true })

  const isEnding = (definition: Given<CustomResourceDefinition> | undefined) =>
    definition?.metadata.deletionTimestamp !== undefined && definition.metadata.finalizers?.includes(CLEANUP_FINALIZER)

  function add(name: string): void {
    const definition = get(name)
    if (definition === undefined || !isEnding(definition)) {
      queue.delete(name)
      begun.delete(name)
      failures.delete(name)
      cancelRetry(name)
    } else if (active.has(name)) changed.add(name)
    else {
      const retry = retries.get(name)
      // What was told of the failure is no reason to try again.
      if (retry !== undefined && sameJson(apartFromTerminating(retry.tried), apartFromTerminating(definition))) return
      enqueue(name)
    }
  }

  function cancelRetry(name: string): void {
    retries.get(name)?.timer.cancel()
    retries.delete(name)
  }

  function enqueue(name: string): void {
    cancelRetry(name)
    queue.add(name)
    next()
  }

  function retryLater(name: string, tried: Given<CustomResourceDefinition>, error: unknown): void {
    const before = failures.get(name) ?? 0
    if (isUnreadable(error)) failures.set(name, before + 1)
    const wait = isUnreadable(error) ? Math.min(ROUND_MS, RETRY_MS * 2 ** before) : RETRY_MS
    retries.set(name, { timer: clock.setTimer(wait, 'the end of a definition', () => enqueue(name)), tried })
  }

  function next(): void {
    for (const name of queue) {
      if (active.size >= AT_ONCE || signal.aborted) return
      queue.delete(name)
      active.add(name)
      runtime.scheduler.handOver('the end of a definition', () => void work(name))
    }
  }

  async function work(name: string): Promise<void> {
    const definition = get(name)
    try {
      if (definition !== undefined && isEnding(definition)) await round(name, definition)
    } catch (error) {
      if (signal.aborted) return
      if (isConflict(error)) changed.add(name)
      else if (definition !== undefined && !isNotFound(error)) {
        runtime.log.error(`the objects of ${name} were not deleted`, error)
        retryLater(name, definition, error)
      }
    }
    active.delete(name)
    if (changed.delete(name)) add(name)
    next()
  }

  async function round(name: string, definition: Given<CustomResourceDefinition>): Promise<void> {
    let current: Given<CustomResourceDefinition> = definition
    const terminating = (status: 'True' | 'False', reason: string, message: string) =>
      withDefinitionCondition(current, { type: 'Terminating', status, reason, message }, formatTime(clock.now()))
    const began = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress')
    const hasFailed = current.status?.conditions?.some(({ reason }) => reason === 'InstanceDeletionFailed') === true
    if (began !== current && !hasFailed) current = await putStatus(began)
    const row = rowOf(name)
    if (row !== undefined) {
      const instances = instancesOf(row)
      try {
        await remove(row, instances.list())
      } catch (error) {
        if (!isUnreadable(error)) throw error
        const failed = terminating('True', 'InstanceDeletionFailed', `could not list instances: ${error.message}`)
        if (failed !== current) await putStatus(failed)
        throw error
      }
      failures.delete(name)
      if (hasFailed) current = await putStatus(began)
      begun.add(name)
      if (!(await areGone(instances))) {
        const message = 'could not confirm zero CustomResources remaining: context deadline exceeded'
        await putStatus(terminating('True', 'InstanceDeletionCheck', message))
        return
      }
    }
    // One write tells that they are gone and lets the definition go.
    const done = terminating('False', 'InstanceDeletionCompleted', 'removed all instances')
    const finalizers = (done.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER)
    await putStatus({ ...done, metadata: { ...done.metadata, finalizers } })
  }

  /** Whether a definition that waits for its turn would do something in it. */
  const isAnyDue = (): boolean =>
    [...queue].some((name) => {
      const row = rowOf(name)
      return !begun.has(name) || row === undefined || instancesOf(row).size === 0
    })

  /**
   * Whether the objects are gone at one of the looks of a round; at its end that is not asked any more. That they go is heard of, and told at
   * the next look: nothing need wake up for a look at which they are there.
   */
  function areGone(instances: Instances): Promise<boolean> {
    if (instances.size === 0) return Promise.resolve(true)
    return new Promise((resolve, reject) => {
      const began = clock.monotonic()
      let look: Timer | undefined
      const end = (): void => {
        off()
        look?.cancel()
        over.cancel()
        signal.removeEventListener('abort', stop)
      }
      const stop = (): void => {
        end()
        reject(signal.reason)
      }
      const settle = (gone: boolean): void => {
        end()
        resolve(gone)
      }
      const off = instances.onChange(() => {
        if (instances.size > 0 || look !== undefined) return
        const wait = LOOK_MS - ((clock.monotonic() - began) % LOOK_MS)
        look = clock.setTimer(wait, 'a look for objects of a definition', () => {
          look = undefined
          // One may have come since whose creation was admitted before the definition was deleted.
          if (instances.size === 0) settle(true)
        })
      })
      // Nothing comes of it but conditions, where no other definition waits for its place.
      const recurrence = { everyMs: ROUND_MS, nothingBefore: () => (isAnyDue() ? 0 : Number.POSITIVE_INFINITY) }
      const over = clock.setTimer(ROUND_MS, 'objects of a definition are held', () => settle(false), recurrence)
      signal.addEventListener('abort', stop, { once: true })
    })
  }

  return { add }
}
