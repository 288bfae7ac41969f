/**
 * The EndpointSlice controller: the pods of each service that selects some, with their conditions, in slices of at most a
 * hundred. The controller manager starts it; slices of other makers are not its own.
 */
import type { EndpointSlice, Node, Pod, Service } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import {
  createTriggerTimes,
  podsOf,
  selectsPods,
  servicesResource,
  triggerTimeAnnotation,
  watchPodsOfServices,
} from '../endpoints/service-pods-and-ports.ts'
import { podsResource } from '../pods/pod.ts'
import { managedBy, managedByLabel, planSlices, serviceNameLabel } from './distribute-endpoints.ts'
import { endpointsByPorts } from './endpoint.ts'
import { sliceMetrics } from './slice-metrics.ts'
import { createSliceTracker } from './slice-tracker.ts'
import { createTopologyRouting } from './topology-routing.ts'
import { asksForZoneHints } from './traffic-distribution.ts'
import { isReadyNode, topologyZoneOf } from './zone-shares.ts'

const slicesResource = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
const nodesResource = { group: '', version: 'v1', resource: 'nodes' }
const serviceIndex = 'service'
const workers = 5
/** All nodes are looked at no more often. */
const topologyWaitMs = 1000
/** The wait before a failed sync is tried again the first time. */
const retryMs = 1000

export function createEndpointSliceController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const services = informers.informer<Service>(servicesResource)
  const pods = informers.informer<Pod>(podsResource)
  const nodes = informers.informer<Node>(nodesResource)
  const slices = informers.informer<EndpointSlice>(slicesResource)
  const queue = createWorkQueue<string>(runtime, 'endpoint_slice', { baseDelayMs: retryMs })
  const recorder = createEventRecorder(runtime, client, { component: 'endpoint-slice-controller' })
  const triggerTimes = createTriggerTimes()
  const tracker = createSliceTracker(runtime.clock)
  const topology = createTopologyRouting()
  const metrics = sliceMetrics(runtime)
  const serviceOf = (slice: EndpointSlice): string | undefined => {
    const name = slice.metadata.labels?.[serviceNameLabel]
    return name && slice.metadata.labels?.[managedByLabel] === managedBy
      ? `${slice.metadata.namespace}/${name}`
      : undefined
  }

  async function sync(key: string): Promise<'retry' | undefined> {
    try {
      const again = await syncService(key)
      metrics.synced(again === undefined ? 'success' : 'stale')
      return again
    } catch (error) {
      metrics.synced('error')
      throw error
    }
  }

  async function syncService(key: string): Promise<'retry' | undefined> {
    const service = services.store.get(key)
    if (service === undefined) {
      triggerTimes.forget(key)
      topology.forget(key)
      metrics.forget(key)
      return undefined
    }
    if (!selectsPods(service)) return undefined
    const all = slices.store.byIndex(serviceIndex, key)
    if (tracker.isBehind(service, all)) return 'retry'
    const selected = podsOf(service, pods)
    const existing = all.filter((slice) => slice.metadata.deletionTimestamp === undefined)
    // A pod whose node is gone will go too; until then it is looked at again and again, in case the node only comes later.
    const isPlaced = ({ spec }: Pod) =>
      service.spec?.publishNotReadyAddresses === true || nodes.store.get(spec?.nodeName ?? '') !== undefined
    const placed = selected.filter(isPlaced)
    const triggerTime = triggerTimes.earliestChange(service, selected)
    const resource = client.resource<EndpointSlice>(slicesResource).namespace(service.metadata.namespace ?? '')
    const ignoreHints = asksForZoneHints(service)
    const families: readonly string[] = service.spec?.ipFamilies ?? ['IPv4']
    const remove = async (slice: EndpointSlice): Promise<void> => {
      tracker.deletes(service, slice)
      try {
        await resource.delete(slice.metadata.name ?? '')
        metrics.wrote('delete')
      } catch (error) {
        if (isNotFound(error)) return
        tracker.keeps(service, slice)
        throw error
      }
    }
    try {
      for (const slice of existing) {
        if (!families.includes(slice.addressType)) await remove(slice)
      }
      for (const family of families) {
        const own = existing.filter((slice) => slice.addressType === family)
        const groups = endpointsByPorts(service, placed, family, (node) => topologyZoneOf(nodes.store.get(node)))
        const { counts, ...planned } = planSlices(service, family, own, groups, { ignoreHints })
        const { plan, event } = topology.hint(service, family, planned)
        if (event !== undefined) recorder.event(service, event.type, event.reason, event.message)
        for (const slice of plan.create) {
          tracker.wrote(service, await resource.create(stamped(slice, triggerTime)))
          metrics.wrote('create')
        }
        for (const slice of plan.update) {
          tracker.wrote(service, await resource.update(stamped(slice, triggerTime)))
          metrics.wrote('update')
        }
        for (const slice of plan.remove) await remove(slice)
        metrics.done(service, family, counts, plan)
      }
      const missing = selected.filter((pod) => !isPlaced(pod))
      if (missing.length > 0) throw new Error(skippedText(key, missing))
    } catch (error) {
      const message = `Error updating Endpoint Slices for Service ${key}: ${error instanceof Error ? error.message : error}`
      recorder.event(service, 'Warning', 'FailedToUpdateEndpointSlices', message)
      throw error
    }
    return undefined
  }

  let lookedAt = Number.NEGATIVE_INFINITY
  let isLookDue = false
  function lookAtNodes(): void {
    lookedAt = runtime.clock.monotonic()
    for (const key of topology.setNodes(nodes.store.list())) queue.add(key)
  }
  /** At once, if that was not done a moment ago. */
  function lookAtNodesSoon(): void {
    if (isLookDue) return
    const wait = lookedAt + topologyWaitMs - runtime.clock.monotonic()
    if (wait <= 0) {
      lookAtNodes()
      return
    }
    isLookDue = true
    runtime.clock.setTimer(wait, 'zones of nodes', () => {
      isLookDue = false
      if (!signal.aborted) lookAtNodes()
    })
  }

  return {
    name: 'endpointslice-controller',
    async start() {
      slices.addIndex(serviceIndex, (slice) => {
        const key = serviceOf(slice)
        return key === undefined ? [] : [key]
      })
      const enqueue = (service: Service) => queue.add(objectKey(service))
      const enqueueOwner = (slice: EndpointSlice, type: 'changed' | 'gone') => {
        const key = serviceOf(slice)
        const service = key === undefined ? undefined : services.store.get(key)
        if (service !== undefined && tracker.isNews(service, slice, type)) enqueue(service)
      }
      services.addHandlers({
        added: enqueue,
        updated(old, service) {
          if (old.metadata.uid !== service.metadata.uid) tracker.forget(old)
          enqueue(service)
        },
        deleted(service) {
          tracker.forget(service)
          enqueue(service)
        },
      })
      slices.addHandlers({
        added: (slice) => enqueueOwner(slice, 'changed'),
        // One that names another service now, or another manager, is still waited for: its service gets no other in its place.
        updated: (_, slice) => enqueueOwner(slice, 'changed'),
        deleted: (slice) => enqueueOwner(slice, 'gone'),
      })
      nodes.addHandlers({
        added: (_, initial) => {
          if (!initial) lookAtNodesSoon()
        },
        updated(old, node) {
          // Processors alone are looked at with the next change of this kind.
          if (isReadyNode(old) !== isReadyNode(node) || topologyZoneOf(old) !== topologyZoneOf(node)) lookAtNodesSoon()
        },
        deleted: lookAtNodesSoon,
      })
      watchPodsOfServices(pods, services, (key) => queue.add(key))
      await Promise.all([services, pods, nodes, slices].map((informer) => informer.whenSynced(signal)))
      lookAtNodes()
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

function skippedText(service: string, pods: readonly Pod[]): string {
  const texts = pods.map(
    ({ metadata, spec }) =>
      `skipping Pod ${metadata.name} for Service ${service}: Node ${spec?.nodeName ?? ''} Not Found`,
  )
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`
}

/** With the time of the change that it tells of, or without one. */
function stamped(slice: EndpointSlice, triggerTime: string | undefined): EndpointSlice {
  const { annotations, ...metadata } = slice.metadata
  const { [triggerTimeAnnotation]: _, ...kept } = annotations ?? {}
  const all = triggerTime === undefined ? kept : { ...kept, [triggerTimeAnnotation]: triggerTime }
  return { ...slice, metadata: Object.keys(all).length > 0 ? { ...metadata, annotations: all } : metadata }
}
