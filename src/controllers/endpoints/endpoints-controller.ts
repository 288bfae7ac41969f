/**
 * The endpoints controller: an Endpoints object for each service that selects pods, with their addresses, ready or not. The
 * controller manager starts it. EndpointSlices have a controller of their own.
 */
import type { Endpoints, Pod, Service } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { podsResource } from '../pods/pod.ts'
import {
  createTriggerTimes,
  headlessLabel,
  isHeadless,
  podsOf,
  selectsPods,
  servicesResource,
  triggerTimeAnnotation,
  watchPodsOfServices,
} from './service-pods-and-ports.ts'
import { subsetsOf } from './subsets.ts'

const endpointsResource = { group: '', version: 'v1', resource: 'endpoints' }
const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity'
const capacity = 1000
const name = 'endpoint-controller'
const workers = 5

export function createEndpointsController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const services = informers.informer<Service>(servicesResource)
  const pods = informers.informer<Pod>(podsResource)
  const endpoints = informers.informer<Endpoints>(endpointsResource)
  const queue = createWorkQueue<string>(runtime, 'endpoint')
  const recorder = createEventRecorder(runtime, client, { component: name })
  const triggerTimes = createTriggerTimes()
  const ownWrites = createOwnWrites()
  /** Services whose turn came before the last write was seen. */
  const waiting = new Set<string>()

  async function sync(key: string): Promise<void> {
    const { namespace, name: serviceName } = splitKey(key)
    const resource = client.resource<Endpoints>(endpointsResource).namespace(namespace)
    const service = services.store.get(key)
    if (service === undefined) {
      triggerTimes.forget(key)
      ownWrites.forget(key)
      waiting.delete(key)
      await resource.delete(serviceName).catch((error) => {
        if (!isNotFound(error)) throw error
      })
      return
    }
    if (!selectsPods(service)) return
    const existing = endpoints.store.get(key)
    if (existing !== undefined && ownWrites.isBehind(key, existing)) {
      waiting.add(key)
      return
    }
    const selected = podsOf(service, pods)
    const triggerTime = triggerTimes.earliestChange(service, selected)
    const { subsets, truncated } = subsetsOf(service, selected, capacity)
    const labels = labelsOf(service)
    if (
      existing !== undefined &&
      sameJson(existing.subsets ?? [], subsets) &&
      sameJson(existing.metadata.labels ?? {}, labels) &&
      (existing.metadata.annotations?.[overCapacityAnnotation] !== undefined) === truncated
    )
      return
    const { [triggerTimeAnnotation]: _, [overCapacityAnnotation]: __, ...kept } = existing?.metadata.annotations ?? {}
    const annotations = {
      ...kept,
      ...(triggerTime === undefined ? {} : { [triggerTimeAnnotation]: triggerTime }),
      ...(truncated ? { [overCapacityAnnotation]: 'truncated' } : {}),
    }
    const { annotations: ___, ...metadata } = existing?.metadata ?? { name: serviceName }
    const object: KubeObject = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { ...metadata, labels, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
      ...(subsets.length > 0 ? { subsets: subsets as never } : {}),
    }
    const way = existing === undefined ? 'create' : 'update'
    try {
      const written = existing === undefined ? await resource.create(object) : await resource.update(object)
      ownWrites.wrote(key, written)
    } catch (error) {
      const reason = way === 'create' ? 'FailedToCreateEndpoint' : 'FailedToUpdateEndpoint'
      const message = `Failed to ${way} endpoint ${key}: ${error instanceof Error ? error.message : error}`
      recorder.event(existing ?? service, 'Warning', reason, message)
      throw error
    }
  }

  return {
    name,
    async start() {
      const enqueue = (service: Service) => queue.add(objectKey(service))
      services.addHandlers({ added: enqueue, updated: (_, service) => enqueue(service), deleted: enqueue })
      endpoints.addHandlers({
        updated(_, object) {
          if (waiting.delete(objectKey(object))) queue.add(objectKey(object))
        },
        deleted: (object) => queue.add(objectKey(object)),
      })
      watchPodsOfServices(pods, services, (key) => queue.add(key))
      await Promise.all([services, pods, endpoints].map((informer) => informer.whenSynced(signal)))
      // What a service that went meanwhile has left.
      for (const object of endpoints.store.list()) if (isOurs(object)) queue.add(objectKey(object))
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

const isOurs = (object: KubeObject): boolean => object.metadata.labels?.[managedByLabel] === name

function labelsOf(service: Service): Readonly<Record<string, string>> {
  const { [headlessLabel]: _, ...own } = service.metadata.labels ?? {}
  return { ...own, [managedByLabel]: name, ...(isHeadless(service) ? { [headlessLabel]: '' } : {}) }
}
