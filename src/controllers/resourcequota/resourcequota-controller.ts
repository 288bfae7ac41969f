/**
 * The ResourceQuota controller: counts what each quota's namespace uses and keeps it in the quota's status, by which
 * admission lets writes through. Admission adds; what goes is noticed here. The controller manager starts it. It says nothing
 * in Events.
 */
import type { ResourceQuota } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import { sleep } from '../../base/clock.ts'
import type { DiscoveredResource } from '../../client/client.ts'
import { indexNamespace, namespaceIndex, objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { createCounted } from './quota-monitors.ts'
import { isLower, limits, quotaStatus, usageOf } from './usage.ts'

const quotasResource = { group: '', version: 'v1', resource: 'resourcequotas' }
const workers = 5
const fullResyncMs = 300_000
const discoveryMs = 30_000
/** Admission may have let something through that was not there yet when it was counted. */
const recountMs = 2000

export function createResourceQuotaController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named('resourcequota-controller')
  const quotas = informers.informer<ResourceQuota>(quotasResource)
  const queue = createWorkQueue<string>(runtime, 'resourcequota_primary')
  const counted = createCounted(context, released)
  let following = false

  function released(resource: DiscoveredResource, namespace: string): void {
    for (const quota of quotas.store.byIndex(namespaceIndex, namespace))
      if (limits(quota, resource)) queue.add(objectKey(quota))
  }

  async function sync(key: string): Promise<void> {
    if (quotas.store.get(key) === undefined) return
    if (!following) void followDiscovery().catch(() => {})
    const { namespace } = splitKey(key)
    const wanted = (resource: DiscoveredResource) => {
      const quota = quotas.store.get(key)
      return quota !== undefined && limits(quota, resource)
    }
    const objects = await counted.inNamespace(namespace, wanted)
    const quota = quotas.store.get(key)
    if (quota === undefined) return
    const status = quotaStatus(quota, usageOf(quota, objects, runtime.clock.now()))
    if (status === undefined) return
    try {
      const resource = client.resource<ResourceQuota>(quotasResource).namespace(namespace)
      await resource.update({ ...quota, status }, { subresource: 'status' })
    } catch (error) {
      if (isNotFound(error)) return
      throw error
    }
    if (isLower(status.used, quota.status?.used ?? {})) queue.addAfter(key, recountMs)
  }

  /** From the first quota on. */
  async function followDiscovery(): Promise<void> {
    following = true
    for (;;) {
      await sleep(runtime.clock, discoveryMs, signal)
      try {
        if (await counted.refresh()) for (const quota of quotas.store.list()) queue.add(objectKey(quota))
      } catch (error) {
        if (!signal.aborted) log.info(2, 'failed to discover resources', { err: String(error) })
      }
    }
  }

  return {
    name: 'resourcequota-controller',
    async start() {
      quotas.addIndex(namespaceIndex, indexNamespace)
      quotas.addHandlers(
        {
          added: (quota) => queue.add(objectKey(quota)),
          updated(old, quota) {
            if (old === quota || !sameJson(old.spec, quota.spec)) queue.add(objectKey(quota))
          },
        },
        { resyncMs: fullResyncMs },
      )
      await quotas.whenSynced(signal)
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
