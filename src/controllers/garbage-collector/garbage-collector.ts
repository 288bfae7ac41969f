/**
 * The garbage collector: an object goes when its owners are gone (background), before its owners (foreground), or stays
 * behind without them (orphan). monitors → graphChanges → graph builder → attemptToDelete and attemptToOrphan → workers.
 *
 * The controller manager starts it. It knows metadata only, and no kind by name but Events, which it ignores.
 */

import { sleep, type Timer } from '../../base/clock.ts'
import type { DiscoveredResource, Discovery, GroupVersionResource } from '../../client/client.ts'
import { findByKind } from '../../client/discovery.ts'
import { createEventRecorder } from '../../client/events.ts'
import type { Informer } from '../../client/informer.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { createAbsentOwnerCache } from './absent-owner-cache.ts'
import { attemptToDeleteItem } from './attempt-to-delete.ts'
import { attemptToOrphanDependents } from './attempt-to-orphan.ts'
import type { GraphNode, UidToNode } from './graph.ts'
import { type GraphChange, processGraphChange } from './graph-builder.ts'
import { createMonitors, deletableResources, keyOf } from './monitors.ts'
import { createOperations, NoSuchKindError } from './operations.ts'
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

const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

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
  let discovery: Discovery = { resources: [], everyVersion: [], failed: [] }
  const operations = createOperations({ ...runtime, log }, client, (apiVersion, kind) =>
    findByKind(discovery.everyVersion, apiVersion, kind),
  )
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

  async function resync(): Promise<void> {
    const found = await client.discover()
    // What could not be discovered now may well exist: it stays as it was.
    const failed = new Set(found.failed)
    const kept = (all: Discovery['resources']) =>
      all.filter(({ group, version }) => failed.has(groupVersion(group, version)))
    const before = new Set(deletableResources(discovery.resources).map(keyOf))
    discovery = {
      resources: [...found.resources, ...kept(discovery.resources)],
      everyVersion: [...found.everyVersion, ...kept(discovery.everyVersion)],
      failed: found.failed,
    }
    const deletable = deletableResources(discovery.resources)
    if (deletable.length === before.size && deletable.every((resource) => before.has(keyOf(resource)))) return
    log.info(2, 'syncing garbage collector with updated resources from discovery', { resources: deletable.length })
    monitors.sync(deletable)
    await monitors.whenSynced(signal)
  }

  /** Dependents of a group without monitors would not keep their owner, so a group that fails is asked for again; not for ever. */
  async function discoverEverything(): Promise<void> {
    const unknown = () =>
      discovery.failed.filter((failed) =>
        discovery.everyVersion.every(({ group, version }) => groupVersion(group, version) !== failed),
      )
    for (let waited = 0; unknown().length > 0 && waited < discoveryPatienceMs; waited += discoveryRetryMs) {
      log.info(2, 'discovery failed for some groups, trying again', { groups: unknown() })
      await sleep(runtime.clock, discoveryRetryMs, signal)
      await resync().catch((error) => log.info(2, 'failed to discover resources', { err: String(error) }))
    }
  }

  const resyncOrComplain = () =>
    resync().catch((error) => {
      if (signal.aborted) return
      syncErrors?.add()
      log.info(2, 'failed to discover resources', { err: String(error) })
    })

  /** What comes and goes tells of itself; only groups for which discovery has failed must be asked again. */
  const nothingBefore = () => (discovery.failed.length > 0 ? 0 : Number.POSITIVE_INFINITY)

  async function followDiscovery(): Promise<void> {
    following = true
    for (;;) {
      const everyMs = options.resyncMs ?? 30_000
      await sleep(runtime.clock, everyMs, signal, { label: 'garbage collector discovery', everyMs, nothingBefore })
      await resyncOrComplain()
    }
  }

  /** Kinds have probably come or gone: whoever deletes one of the new kind should not wait for the next resync. */
  function kindsChanged(): void {
    if (!following || looking !== undefined || signal.aborted) return
    looking = runtime.scheduler.soon(newKindsMs, 'garbage collector discovery', () => {
      looking = undefined
      void resyncOrComplain()
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
    resourceOf: (group, resource) =>
      discovery.resources.find((known) => known.group === group && known.resource === resource),
    monitorOf: monitors.informerOf,
  }
}
