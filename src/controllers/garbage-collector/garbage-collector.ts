/**
 * The garbage collector: an object goes when its owners are gone (background), before its owners (foreground), or stays
 * behind without them (orphan). monitors → graphChanges → graph builder → attemptToDelete and attemptToOrphan → workers.
 *
 * The controller manager starts it. It knows metadata only, and no kind by name but Events, which it ignores.
 */

import { sleep, type Timer } from '../../base/clock.ts'
import type { DiscoveredResource, GroupVersionResource } from '../../client/client.ts'
import { createDiscoveredResources } from '../../client/discovered-resources.ts'
import { createEventRecorder } from '../../client/events.ts'
import type { Informer } from '../../client/informer.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { createAbsentOwnerCache } from './absent-owner-cache.ts'
import { attemptToDeleteItem } from './attempt-to-delete.ts'
import { attemptToOrphanDependents } from './attempt-to-orphan.ts'
import type { GraphNode, UidToNode } from './graph.ts'
import { type GraphChange, processGraphChange } from './graph-builder.ts'
import { createMonitors, deletableResources } from './monitors.ts'
import { createGarbageOperations, NoSuchKindError } from './operations.ts'
import { graphAsDot } from './owner-graph-dot.ts'

export interface GarbageCollectorOptions {
  readonly workers?: number
  /** How often discovery is asked for new and vanished resources; default 30 s. */
  readonly resyncMs?: number
}

export interface GarbageCollector extends Controller {
  /** The dependency graph as DOT: whole, or what is connected with these uids. */
  dot(uids?: readonly string[]): string
  /** Nothing is waiting or being worked on. */
  readonly idle: boolean
  /** Asks discovery now. */
  resync(): Promise<void>
  /** A resource as it was discovered last, in the version its group prefers. */
  resourceOf(group: string, resource: string): DiscoveredResource | undefined
  /** All objects of a resource; undefined for one whose objects are not followed. */
  monitorOf(resource: GroupVersionResource): Informer | undefined
}

const discoveryRetryMs = 1000
/** How long after a definition or an APIService has changed discovery is asked, instead of at the next resync. */
const newKindsMs = 500
const discoveryPatienceMs = 30_000
/** A kind that cannot be listed does not hold up the others for longer. */
const syncPatienceMs = 30_000

export function createGarbageCollector(
  context: ControllerContext,
  options: GarbageCollectorOptions = {},
): GarbageCollector {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named('garbage-collector-controller')
  const workers = options.workers ?? 20
  const syncErrors = runtime.metrics
    ?.counter(
      'garbagecollector_controller_resources_sync_error_total',
      'How often the resources that are watched could not be brought up to date.',
    )
    .child()

  const uidToNode: UidToNode = new Map()
  const absentOwnerCache = createAbsentOwnerCache()
  const graphChanges = createWorkQueue<GraphChange>(runtime, 'garbage_collector_graph_changes')
  const attemptToDelete = createWorkQueue<GraphNode>(runtime, 'garbage_collector_attempt_to_delete')
  const attemptToOrphan = createWorkQueue<GraphNode>(runtime, 'garbage_collector_attempt_to_orphan')
  const recorder = createEventRecorder(runtime, client, { component: 'garbage-collector-controller' })
  const builder = { uidToNode, attemptToDelete, attemptToOrphan, absentOwnerCache, recorder, log }
  const monitors = createMonitors(informers, (change) => graphChanges.add(change), kindsChanged)
  let following = false
  let looking: Timer | undefined
  /** Groups in which kinds have come, changed or gone since they were discovered. */
  const changedGroups = new Set<string>()
  let mustAskAgain = false
  const discovered = createDiscoveredResources(client)
  const operations = createGarbageOperations({ ...runtime, log }, client, discovered.findByKind)
  const attempt = {
    operations,
    absentOwnerCache,
    attemptToDelete,
    log,
    enqueueVirtualDelete: (identity: GraphNode['identity']) => graphChanges.add({ type: 'virtualDelete', identity }),
  }

  async function deleteWorker(node: GraphNode): Promise<'retry' | undefined> {
    if (node.virtual) {
      const current = uidToNode.get(node.identity.uid)
      if (current === undefined || !current.virtual) {
        log.info(5, 'item is no longer virtual or not in the graph', { item: node.identity })
        return undefined
      }
    }
    try {
      const result = await attemptToDeleteItem(attempt, node)
      if (result !== 'done' || !node.virtual) return undefined
    } catch (error) {
      // A kind that is not served may be one of a CRD that is gone, or is about to come: worth a try, not a complaint.
      log.info(error instanceof NoSuchKindError ? 5 : 2, 'error syncing item', {
        item: node.identity,
        err: String(error),
      })
      return 'retry'
    }
    // It exists, but no informer has shown it yet. If it went while a watch was being taken up again, none ever will.
    log.info(5, "item hasn't been observed via informer yet", { item: node.identity })
    return 'retry'
  }

  const orphanWorker = (owner: GraphNode) => attemptToOrphanDependents(attempt, owner)

  /** Asks discovery for these groups, or for everything. */
  async function resync(groups?: readonly string[]): Promise<void> {
    const added: DiscoveredResource[] = []
    for (const group of await discovered.refresh(groups)) {
      const deletable = deletableResources(discovered.inGroup(group))
      log.info(2, 'syncing garbage collector with updated resources from discovery', {
        group,
        resources: deletable.length,
      })
      added.push(...monitors.sync(group, deletable))
    }
    await synced(added)
  }

  /** Resolves when the monitors have their lists, or after a while without some of them. */
  async function synced(added: readonly DiscoveredResource[]): Promise<void> {
    const done = Promise.withResolvers<void>()
    const timer = runtime.clock.setTimer(syncPatienceMs, 'garbage collector monitors', () => {
      log.info(0, 'Garbage collector: not all resource monitors could be synced, proceeding')
      done.resolve()
    })
    monitors.whenSynced(signal, added).then(done.resolve, done.reject)
    try {
      await done.promise
    } finally {
      timer.cancel()
    }
  }

  /** Dependents of a group without monitors would not keep their owner, so a group that fails is asked for again; not for ever. */
  async function discoverEverything(): Promise<void> {
    for (let waited = 0; discovered.unknown().length > 0 && waited < discoveryPatienceMs; waited += discoveryRetryMs) {
      log.info(2, 'discovery failed for some groups, trying again', { groups: discovered.unknown() })
      await sleep(runtime.clock, discoveryRetryMs, signal)
      await resync(discovered.failedGroups()).catch((error) =>
        log.info(2, 'failed to discover resources', { err: String(error) }),
      )
    }
  }

  async function resyncOrComplain(groups?: readonly string[]): Promise<void> {
    try {
      await resync(groups)
      if (groups === undefined) mustAskAgain = false
    } catch (error) {
      if (signal.aborted) return
      syncErrors?.add()
      mustAskAgain = true
      log.info(2, 'failed to discover resources', { err: String(error) })
    }
  }

  /** What comes and goes tells of itself; only groups for which discovery has failed must be asked again. */
  const nothingBefore = () => (mustAskAgain || discovered.failedGroups().length > 0 ? 0 : Number.POSITIVE_INFINITY)

  async function followDiscovery(): Promise<void> {
    following = true
    for (;;) {
      const everyMs = options.resyncMs ?? 30_000
      await sleep(runtime.clock, everyMs, signal, { label: 'garbage collector discovery', everyMs, nothingBefore })
      await resyncOrComplain()
    }
  }

  /** Kinds of this group have probably come or gone: the deletion of one of the new kind should not wait for the next resync. */
  function kindsChanged(group: string): void {
    if (!following || signal.aborted) return
    changedGroups.add(group)
    looking ??= runtime.scheduler.soon(newKindsMs, 'garbage collector discovery', () => {
      looking = undefined
      const groups = [...changedGroups]
      changedGroups.clear()
      void resyncOrComplain(groups)
    })
  }

  return {
    name: 'generic-garbage-collector',
    async start() {
      const stop = () => {
        looking?.cancel()
        monitors.stop()
      }
      signal.addEventListener('abort', stop, { once: true })
      const process = async (change: GraphChange) => {
        processGraphChange(builder, change)
        operations.graphChanged()
      }
      runWorkers(runtime, graphChanges, 1, process, signal)
      await resync()
      await discoverEverything()
      // Nothing is decided before all that exists has been seen.
      while (!graphChanges.idle) await sleep({ setTimer: runtime.scheduler.soon }, 1, signal)
      log.info(2, 'Proceeding to collect garbage')
      runWorkers(runtime, attemptToDelete, context.concurrentSyncs ?? workers, deleteWorker, signal)
      runWorkers(runtime, attemptToOrphan, context.concurrentSyncs ?? workers, orphanWorker, signal)
      void followDiscovery().catch(() => {})
    },
    dot: (uids) => graphAsDot(uidToNode, uids),
    get idle() {
      return graphChanges.idle && attemptToDelete.idle && attemptToOrphan.idle
    },
    resync,
    resourceOf: (group, resource) => discovered.inGroup(group).find((known) => known.resource === resource),
    monitorOf: monitors.informerOf,
  }
}
