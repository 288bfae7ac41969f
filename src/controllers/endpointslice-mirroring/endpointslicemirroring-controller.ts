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
import { createSliceTracker } from '../endpointslice/slice-tracker.ts'
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
  const tracker = createSliceTracker(runtime.clock)
  /** What the informer told of slices while those of their Endpoints were being written: judged when the answers are there. */
  const heard = new Map<string, (() => void)[]>()
  const mirroredBy = ({ metadata }: KubeObject): readonly string[] => {
    const name = metadata.labels?.[serviceNameLabel]
    return name && metadata.labels?.[managedByLabel] === managedByMirroring ? [`${metadata.namespace}/${name}`] : []
  }

  async function sync(key: string): Promise<void> {
    const own = endpoints.store.get(key)
    const service = services.store.get(key)
    const all = slices.store.byIndex(mirrorIndex, key)
    const existing = all.filter((slice) => slice.metadata.deletionTimestamp === undefined)
    const mirrors =
      own !== undefined && wantsMirror(own) && service !== undefined && service.spec?.selector === undefined
    if (!mirrors) return removeAll(own, existing)
    // What was made and not seen yet would be made twice.
    if (tracker.isBehind(own, all)) return
    const { create, update, remove, skipped } = planMirror(own, existing)
    if (skipped > 0) {
      const message = `A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
      recorder.event(own, 'Warning', 'TooManyAddressesToMirror', message)
    }
    const resource = client.resource<EndpointSlice>(slicesResource).namespace(own.metadata.namespace ?? '')
    heard.set(key, [])
    await Promise.all([
      ...create.map(async (slice) => tracker.wrote(own, await resource.create(slice))),
      ...update.map(async (slice) => tracker.wrote(own, await resource.update(slice))),
      removeAll(own, remove),
    ]).finally(() => {
      const events = heard.get(key) ?? []
      heard.delete(key)
      for (const judge of events) judge()
    })
  }

  async function removeAll(own: Endpoints | undefined, all: readonly EndpointSlice[]): Promise<void> {
    await Promise.all(
      all.map(async (slice) => {
        const { namespace = '', name = '' } = slice.metadata
        if (own !== undefined) tracker.deletes(own, slice)
        await client
          .resource<EndpointSlice>(slicesResource)
          .namespace(namespace)
          .delete(name)
          .catch((error) => {
            if (isNotFound(error)) return
            if (own !== undefined) tracker.keeps(own, slice)
            throw error
          })
      }),
    )
  }

  return {
    name: 'endpointslicemirroring-controller',
    async start() {
      slices.addIndex(mirrorIndex, mirroredBy)
      const enqueue = (object: KubeObject) => queue.add(objectKey(object))
      endpoints.addHandlers({ deleted: (own) => tracker.forget(own) })
      const enqueueMirrored = (slice: EndpointSlice, type: 'changed' | 'gone') => {
        for (const key of mirroredBy(slice)) {
          const judge = () => {
            const own = endpoints.store.get(key)
            if (own === undefined || tracker.isNews(own, slice, type)) queue.add(key)
          }
          const waiting = heard.get(key)
          if (waiting === undefined) judge()
          else waiting.push(judge)
        }
      }
      for (const informer of [endpoints, services])
        informer.addHandlers({ added: enqueue, updated: (_, object) => enqueue(object), deleted: enqueue })
      slices.addHandlers({
        added: (slice) => enqueueMirrored(slice, 'changed'),
        updated: (_, slice) => enqueueMirrored(slice, 'changed'),
        deleted: (slice) => enqueueMirrored(slice, 'gone'),
      })
      await Promise.all([endpoints, services, slices].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
