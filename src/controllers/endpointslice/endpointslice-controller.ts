/**
 * The EndpointSlice controller: the pods of each service that selects some, with their conditions, in slices of at most a
 * hundred. The controller manager starts it; slices of other makers are not its own.
 */
import type { KubeObject } from '../../api/object.ts'
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

const slicesResource = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
const nodesResource = { group: '', version: 'v1', resource: 'nodes' }
const serviceIndex = 'service'
const workers = 5

export function createEndpointSliceController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const services = informers.informer(servicesResource)
  const pods = informers.informer(podsResource)
  const nodes = informers.informer(nodesResource)
  const slices = informers.informer(slicesResource)
  const queue = createWorkQueue<string>(runtime, 'endpoint_slice')
  const recorder = createEventRecorder(runtime, client, { component: 'endpoint-slice-controller' })
  const triggerTimes = createTriggerTimes()
  const serviceOf = (slice: KubeObject): string | undefined => {
    const name = slice.metadata.labels?.[serviceNameLabel]
    return name && slice.metadata.labels?.[managedByLabel] === managedBy
      ? `${slice.metadata.namespace}/${name}`
      : undefined
  }

  async function sync(key: string): Promise<void> {
    const service = services.store.get(key)
    if (service === undefined) {
      triggerTimes.forget(key)
      return
    }
    if (!selectsPods(service)) return
    const selected = podsOf(service, pods)
    const existing = slices.store
      .byIndex(serviceIndex, key)
      .filter((slice) => slice.metadata.deletionTimestamp === undefined)
    const triggerTime = triggerTimes.earliestChange(service, selected)
    const resource = client.resource(slicesResource).namespace(service.metadata.namespace ?? '')
    const zoneOf = (node: string): string | undefined =>
      nodes.store.get(node)?.metadata.labels?.['topology.kubernetes.io/zone']
    const families: readonly string[] = service['spec'].ipFamilies ?? ['IPv4']
    try {
      for (const slice of existing) {
        if (!families.includes(slice['addressType'])) await remove(slice)
      }
      for (const family of families) {
        const own = existing.filter((slice) => slice['addressType'] === family)
        const plan = planSlices(service, family, own, endpointsByPorts(service, selected, family, zoneOf))
        for (const slice of plan.create) await resource.create(stamped(slice, triggerTime))
        for (const slice of plan.update) await resource.update(stamped(slice, triggerTime))
        for (const slice of plan.remove) await remove(slice)
      }
    } catch (error) {
      const message = `Error updating Endpoint Slices for Service ${key}: ${error instanceof Error ? error.message : error}`
      recorder.event(service, 'Warning', 'FailedToUpdateEndpointSlices', message)
      throw error
    }

    async function remove(slice: KubeObject): Promise<void> {
      await resource.delete(slice.metadata.name ?? '').catch((error) => {
        if (!isNotFound(error)) throw error
      })
    }
  }

  return {
    name: 'endpointslice-controller',
    async start() {
      slices.addIndex(serviceIndex, (slice) => {
        const key = serviceOf(slice)
        return key === undefined ? [] : [key]
      })
      const enqueue = (service: KubeObject) => queue.add(objectKey(service))
      const enqueueOwner = (slice: KubeObject) => {
        const key = serviceOf(slice)
        if (key !== undefined) queue.add(key)
      }
      services.addHandlers({ added: enqueue, updated: (_, service) => enqueue(service), deleted: enqueue })
      slices.addHandlers({ updated: (_, slice) => enqueueOwner(slice), deleted: enqueueOwner })
      nodes.addHandlers({})
      watchPodsOfServices(pods, services, (key) => queue.add(key))
      await Promise.all([services, pods, nodes, slices].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, workers, sync, signal)
    },
  }
}

/** With the time of the change that it tells of, or without one. */
function stamped(slice: KubeObject, triggerTime: string | undefined): KubeObject {
  const { annotations, ...metadata } = slice.metadata
  const { [triggerTimeAnnotation]: _, ...kept } = annotations ?? {}
  const all = triggerTime === undefined ? kept : { ...kept, [triggerTimeAnnotation]: triggerTime }
  return { ...slice, metadata: Object.keys(all).length > 0 ? { ...metadata, annotations: all } : metadata }
}
