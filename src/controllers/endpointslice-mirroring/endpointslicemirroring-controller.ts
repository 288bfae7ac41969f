/**
 * The EndpointSlice mirroring controller: Endpoints that users write for services without a selector are mirrored into
 * slices, which is what proxies read. The controller manager starts it.
 */
import type { EndpointSlice, Endpoints, Service } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { servicesResource } from '../endpoints/service-pods-and-ports.ts'
import { managedByLabel, serviceNameLabel } from '../endpointslice/distribute-endpoints.ts'
import { createExpectations } from '../pods/expectations.ts'
import { managedByMirroring, planMirror, wantsMirror } from './mirrored-slices.ts'

const endpointsResource = { group: '', version: 'v1', resource: 'endpoints' }
const slicesResource = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
const mirrorIndex = 'mirrored endpoints'
const workers = 5

export function createEndpointSliceMirroringController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const endpoints = informers.informer<Endpoints>(endpointsResource)
  const services = informers.informer<Service>(servicesResource)
  const slices = informers.informer<EndpointSlice>(slicesResource)
  const queue = createWorkQueue<string>(runtime, 'endpoint_slice_mirroring')
  const recorder = createEventRecorder(runtime, client, { component: 'endpoint-slice-mirroring-controller' })
  const expectations = createExpectations(runtime.clock)
  const mirroredBy = ({ metadata }: KubeObject): readonly string[] => {
    const name = metadata.labels?.[serviceNameLabel]
    return name && metadata.labels?.[managedByLabel] === managedByMirroring ? [`${metadata.namespace}/${name}`] : []
  }

  async function sync(key: string): Promise<void> {
    const own = endpoints.store.get(key)
    const service = services.store.get(key)
    const existing = slices.store
      .byIndex(mirrorIndex, key)
      .filter((slice) => slice.metadata.deletionTimestamp === undefined)
    const mirrors =
      own !== undefined && wantsMirror(own) && service !== undefined && service.spec?.selector === undefined
    if (!mirrors) return removeAll(existing)
    // What was made and not seen yet would be made twice.
    if (!expectations.satisfied(own)) return
    const { create, update, remove, skipped } = planMirror(own, existing)
    if (skipped > 0) {
      const message = `A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
      recorder.event(own, 'Warning', 'TooManyAddressesToMirror', message)
    }
    const resource = client.resource<EndpointSlice>(slicesResource).namespace(own.metadata.namespace ?? '')
    expectations.expectCreations(own, create.length)
    await Promise.all([
      ...create.map((slice) =>
        resource.create(slice).catch((error) => {
          expectations.creationObserved(own)
          throw error
        }),
      ),
      ...update.map((slice) => resource.update(slice)),
      removeAll(remove),
    ])
  }

  async function removeAll(all: readonly EndpointSlice[]): Promise<void> {
    await Promise.all(
      all.map(async ({ metadata }) => {
        const resource = client.resource<EndpointSlice>(slicesResource).namespace(metadata.namespace ?? '')
        await resource.delete(metadata.name ?? '').catch((error) => {
          if (!isNotFound(error)) throw error
        })
      }),
    )
  }

  return {
    name: 'endpointslicemirroring-controller',
    async start() {
      slices.addIndex(mirrorIndex, mirroredBy)
      const enqueue = (object: KubeObject) => queue.add(objectKey(object))
      const made = (slice: EndpointSlice) => {
        for (const key of mirroredBy(slice)) {
          const own = endpoints.store.get(key)
          if (own !== undefined) expectations.creationObserved(own)
          queue.add(key)
        }
      }
      endpoints.addHandlers({ deleted: (own) => expectations.forget(own) })
      const enqueueMirrored = (slice: EndpointSlice) => {
        for (const key of mirroredBy(slice)) queue.add(key)
      }
      for (const informer of [endpoints, services])
        informer.addHandlers({ added: enqueue, updated: (_, object) => enqueue(object), deleted: enqueue })
      slices.addHandlers({ added: made, updated: (_, slice) => enqueueMirrored(slice), deleted: enqueueMirrored })
      await Promise.all([endpoints, services, slices].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
