/**
 * The rules of an object's end, as pure functions: what a delete does to metadata, which garbage-collection finalizers it
 * sets or takes away, and when an update removes the object. Called by the store's delete and update; nothing here reads
 * or writes storage.
 */
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject } from '../../api/object.ts'
import { addInt64, durationMs } from '../../api/objects/integers.ts'
import { formatTime } from '../../base/clock.ts'
import type { DeleteOptions, Strategy, StrategyContext } from './strategy.ts'

const ORPHAN_FINALIZER = 'orphan'
const FOREGROUND_FINALIZER = 'foregroundDeletion'

const NONE: readonly string[] = []

/** What beforeDelete found: whether the kind ends gracefully, and the object with its grace period set. */
export type Grace =
  /** Not a graceful kind, or its grace is over: nothing stands in the way but finalizers. */
  | { readonly state: 'none' }
  /** Marked, with this many seconds to go (0: at once, but the mark is written first). */
  | { readonly state: 'marked'; readonly object: KubeObject; readonly seconds: number }
  /** An earlier delete's grace period is running and this one does not shorten it. */
  | { readonly state: 'pending' }

const seconds = (value: number) => (value < 0 ? 1 : value)

/** Graceful rules of one delete on one state of the object. */
function beforeDelete(strategy: Strategy, object: KubeObject, options: DeleteOptions, nowMs: number): Grace {
  if (strategy.gracePeriod === undefined) return { state: 'none' }
  const asked = options.gracePeriodSeconds === undefined ? undefined : seconds(options.gracePeriodSeconds)
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = object.metadata
  if (deletionTimestamp !== undefined) {
    // Grace 0 stored means an earlier delete should have removed the object: do it now.
    if (deletionGracePeriodSeconds === undefined || deletionGracePeriodSeconds === 0) return { state: 'none' }
    const running = seconds(deletionGracePeriodSeconds)
    if (asked === undefined || asked >= running) return { state: 'pending' }
    const requestedAt = Date.parse(deletionTimestamp) - durationMs(running)
    // As if the first delete had asked for it. Where that time is past it ends now, with the shortest period there is.
    const endsAt = requestedAt + durationMs(asked)
    const isPast = endsAt <= nowMs
    const left = isPast ? Math.min(asked, 1) : asked
    return {
      state: 'marked',
      seconds: left,
      object: withMetadata(object, {
        deletionTimestamp: formatTime(isPast ? nowMs : endsAt),
        deletionGracePeriodSeconds: left,
      }),
    }
  }
  const grace = strategy.gracePeriod(object, asked === undefined ? options : { ...options, gracePeriodSeconds: asked })
  if (grace === undefined) return { state: 'none' }
  return {
    state: 'marked',
    seconds: grace,
    object: withMetadata(object, {
      deletionTimestamp: formatTime(nowMs + durationMs(grace)),
      deletionGracePeriodSeconds: grace,
      // Deletion changes what controllers of the object do, so it counts as a change of what is wanted.
      ...(generation === undefined || generation === 0 ? {} : { generation: addInt64(generation, 1) as number }),
    }),
  }
}

function shouldOrphan(strategy: Strategy, finalizers: readonly string[], options: DeleteOptions): boolean {
  const policy = strategy.defaultGarbageCollectionPolicy
  if (policy === 'Unsupported') return false
  if (options.orphanDependents !== undefined) return options.orphanDependents
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan'
  for (const finalizer of finalizers) {
    if (finalizer === ORPHAN_FINALIZER) return true
    if (finalizer === FOREGROUND_FINALIZER) return false
  }
  return policy === 'OrphanDependents'
}

function shouldDeleteInForeground(strategy: Strategy, finalizers: readonly string[], options: DeleteOptions): boolean {
  if (strategy.defaultGarbageCollectionPolicy === 'Unsupported') return false
  if (options.orphanDependents !== undefined) return false
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground'
  for (const finalizer of finalizers) {
    if (finalizer === FOREGROUND_FINALIZER) return true
    if (finalizer === ORPHAN_FINALIZER) return false
  }
  return false
}

/**
 * The object's finalizers with the two of the garbage collector as the options want them; the same array when nothing changes.
 */
export function deletionFinalizersForGarbageCollection(
  strategy: Strategy,
  object: KubeObject,
  options: DeleteOptions,
): readonly string[] {
  const before = object.metadata.finalizers ?? NONE
  const after = before.filter((finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_FINALIZER)
  if (shouldOrphan(strategy, before, options)) after.push(ORPHAN_FINALIZER)
  if (shouldDeleteInForeground(strategy, before, options)) after.push(FOREGROUND_FINALIZER)
  const unchanged = after.length === new Set(before).size && after.every((finalizer) => before.includes(finalizer))
  return unchanged ? before : after
}

/** Marks an object that waits only for its finalizers: now, with no grace. Marked before, only the grace period is set to 0. */
function markAsDeleting(object: KubeObject, nowMs: number): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = object.metadata
  const future = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) > nowMs
  if (deletionTimestamp !== undefined && !future && deletionGracePeriodSeconds === 0) return object
  return withMetadata(object, {
    deletionTimestamp: deletionTimestamp === undefined || future ? formatTime(nowMs) : deletionTimestamp,
    deletionGracePeriodSeconds: 0,
    ...(deletionTimestamp === undefined && generation !== undefined && generation > 0
      ? { generation: addInt64(generation, 1) as number }
      : {}),
  })
}

/** What one DELETE request does to one state of an object: the next state to write (if any), and whether it goes. */
export type DeleteStep =
  /** Answer with the object as it is; nothing is written. */
  | { readonly action: 'keep'; readonly object: KubeObject }
  /** Write and answer with what was written. */
  | { readonly action: 'update'; readonly object: KubeObject }
  /** Write first (watchers see the mark), then remove. */
  | { readonly action: 'update-and-remove'; readonly object: KubeObject }
  /** Nothing is written before: the object goes, and is answered, with the finalizers it had. */
  | { readonly action: 'remove'; readonly object: KubeObject }

export function deleteStep(
  strategy: Strategy,
  object: KubeObject,
  options: DeleteOptions,
  context: StrategyContext,
): DeleteStep {
  const own = strategy.beginDeletion?.(object, options, context)
  if (own !== undefined) {
    if (own !== object) return { action: 'update', object: own }
    if (strategy.mayRemove !== undefined && !strategy.mayRemove(object)) return { action: 'keep', object }
  }
  const grace = beforeDelete(strategy, object, options, context.nowMs)
  if (grace.state === 'pending') return { action: 'keep', object }
  const marked = grace.state === 'marked' ? grace.object : object
  const finalizers =
    context.collectsGarbage === false
      ? (marked.metadata.finalizers ?? NONE)
      : deletionFinalizersForGarbageCollection(strategy, marked, options)
  const changed = finalizers !== (marked.metadata.finalizers ?? NONE)
  const next = changed ? withMetadata(marked, { finalizers: finalizers.length === 0 ? undefined : finalizers }) : marked
  if (grace.state === 'none') {
    return finalizers.length > 0
      ? { action: 'update', object: markAsDeleting(next, context.nowMs) }
      : { action: 'remove', object }
  }
  if (finalizers.length > 0 || grace.seconds > 0) return { action: 'update', object: next }
  return { action: 'update-and-remove', object: next }
}

/** Whether an update that leaves a terminating object without finalizers and without grace removes it in the same request. */
export function shouldDeleteDuringUpdate(strategy: Strategy, object: KubeObject, old: KubeObject): boolean {
  if (old.metadata.deletionTimestamp === undefined) return false
  if ((object.metadata.finalizers?.length ?? 0) > 0) return false
  if ((object.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  return strategy.mayRemove?.(object) ?? true
}
