/**
 * Taint eviction: pods on a node with NoExecute taints go, at once or after the shortest time that they tolerate all of
 * them. It speaks as node-controller, as on a real cluster.
 */

import type { Node, Pod } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import type { Timer } from '../../base/clock.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { disruptionPatch } from '../pods/disruption-target.ts'
import { podsResource } from '../pods/pod.ts'
import { deletionMetrics } from './deletion-metrics.ts'
import { noExecuteTaints, toleratedMs } from './toleration-seconds.ts'

const nodesResource = { group: '', version: 'v1', resource: 'nodes' }
const nodeIndex = 'node'
const workers = 8

export function createTaintEvictionController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const { clock } = runtime
  const log = runtime.log.named('taint-eviction-controller')
  const pods = informers.informer<Pod>(podsResource)
  const nodes = informers.informer<Node>(nodesResource)
  pods.addIndex(nodeIndex, (pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []))
  const recorder = createEventRecorder(runtime, client, { component: 'taint-eviction-controller' })
  const queue = createWorkQueue<string>(runtime, 'noexec_taint_pod')
  const evictions = createWorkQueue<string>(runtime, 'taint_eviction_delete')
  const metrics = deletionMetrics(runtime, 'taint_eviction_controller')
  /** Evictions that wait for their time, by pod. */
  const scheduled = new Map<string, { readonly uid: string; readonly timer: Timer }>()

  /** Uids of pods that are being, or have been, told to go: their own changes are no reason to tell them again. */
  const evicted = new Map<string, string>()
  /** Keys of pods whose node has other taints than before: those that are going already are told again, too. */
  const retold = new Set<string>()

  function cancel(key: string, announce: boolean) {
    const waiting = scheduled.get(key)
    if (waiting === undefined) return
    waiting.timer.cancel()
    scheduled.delete(key)
    if (announce) podEvent(key, `Cancelling deletion of Pod ${key}`)
  }

  function podEvent(key: string, message: string) {
    const metadata = splitKey(key)
    recorder.event({ apiVersion: 'v1', kind: 'Pod', metadata }, 'Normal', 'TaintManagerEviction', message)
  }

  async function sync(key: string): Promise<void> {
    const pod = pods.store.get(key)
    if (pod === undefined) evicted.delete(key)
    const again = retold.delete(key)
    if (pod === undefined || (pod.metadata.deletionTimestamp !== undefined && !again)) return cancel(key, false)
    const node = nodes.store.get(pod.spec?.nodeName ?? '')
    const taints = node === undefined ? [] : noExecuteTaints(node)
    if (taints.length === 0) {
      evicted.delete(key)
      return cancel(key, true)
    }
    const tolerated = toleratedMs(taints, pod.spec?.tolerations ?? [])
    if (tolerated === 0) {
      cancel(key, true)
      if (again || evicted.get(key) !== pod.metadata.uid) evictNow(key)
      return
    }
    if (tolerated === Number.POSITIVE_INFINITY) return cancel(key, true)
    const { uid = '' } = pod.metadata
    // Neither a longer toleration nor a shorter one moves an eviction that is due.
    if (scheduled.get(key)?.uid === uid) return
    cancel(key, false)
    const timer = clock.setTimer(tolerated, 'taint eviction', () => {
      scheduled.delete(key)
      evictNow(key)
    })
    scheduled.set(key, { uid, timer })
  }

  function evictNow(key: string) {
    metrics.due(key)
    evictions.add(key)
  }

  async function evict(key: string): Promise<void> {
    const { namespace, name } = splitKey(key)
    log.info(0, 'Deleting pod', { controller: 'taint-eviction-controller', pod: key })
    podEvent(key, `Marking for deletion Pod ${key}`)
    const resource = client.resource<Pod>(podsResource).namespace(namespace)
    try {
      const pod = await resource.get(name)
      evicted.set(key, pod.metadata.uid ?? '')
      const disruption = {
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
      }
      const patch = disruptionPatch(pod, disruption, false, clock.now())
      if (patch !== undefined) await resource.patch(name, 'strategic', patch, { subresource: 'status' })
      await resource.delete(name)
      metrics.deleted(key)
    } catch (error) {
      evicted.delete(key)
      if (!isNotFound(error)) throw error
      metrics.gone(key)
    }
  }

  return {
    name: 'node-controller',
    async start() {
      // Of a pod whose node has no such taint, and that nothing waits for, there is nothing to decide.
      const podChanged = (pod: Pod) => {
        const key = objectKey(pod)
        const node = nodes.store.get(pod.spec?.nodeName ?? '')
        const tainted = node !== undefined && noExecuteTaints(node).length > 0
        if (tainted || scheduled.has(key) || evicted.has(key)) queue.add(key)
      }
      pods.addHandlers({ added: podChanged, updated: (_, pod) => podChanged(pod), deleted: podChanged })
      const nodeChanged = (node: Node) => {
        for (const pod of pods.store.byIndex(nodeIndex, node.metadata.name ?? '')) queue.add(objectKey(pod))
      }
      nodes.addHandlers({
        added: nodeChanged,
        updated: (old, node) => {
          if (sameJson(noExecuteTaints(old), noExecuteTaints(node))) return
          for (const pod of pods.store.byIndex(nodeIndex, node.metadata.name ?? '')) retold.add(objectKey(pod))
          nodeChanged(node)
        },
        deleted: nodeChanged,
      })
      await Promise.all([pods.whenSynced(signal), nodes.whenSynced(signal)])
      signal.addEventListener('abort', () => {
        for (const { timer } of scheduled.values()) timer.cancel()
      })
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
      runWorkers(runtime, evictions, workers, evict, signal)
    },
  }
}
