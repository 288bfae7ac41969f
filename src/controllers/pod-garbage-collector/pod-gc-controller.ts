/**
 * Pod garbage collection: pods whose node is gone, terminating pods that never got a node, pods on nodes that are out of
 * service, and finished pods when there are too many: evicted ones first, then the oldest.
 */
import type { Node, Pod } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { sleep } from '../../base/clock.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { type Disruption, disruptionPatch } from '../pods/disruption-target.ts'
import { isTerminated, podsResource } from '../pods/pod.ts'

const nodesResource = { group: '', version: 'v1', resource: 'nodes' }
const checkPeriodMs = 20_000
/** A node's absence is believed after this long. */
const quarantineMs = 40_000
const outOfService = 'node.kubernetes.io/out-of-service'

export interface PodGarbageCollectorOptions {
  /** Finished pods beyond this number go, evicted ones first, then oldest first; 0 keeps all. Default 12,500. */
  readonly terminatedPodThreshold?: number
}

export function createPodGarbageCollector(
  context: ControllerContext,
  options: PodGarbageCollectorOptions = {},
): Controller {
  const { runtime, client, informers, signal } = context
  const { clock } = runtime
  const log = runtime.log.named('pod-garbage-collector-controller')
  const pods = informers.informer<Pod>(podsResource)
  const nodes = informers.informer<Node>(nodesResource)
  const threshold = options.terminatedPodThreshold ?? 12_500
  const missingSince = new Map<string, number>()

  /** The revisions of pods and nodes at the beginning of the last pass that found nothing to do. */
  let nothingAt = ''
  const seen = () => `${pods.changedAt} ${nodes.changedAt}`
  const nothingBefore = () => (seen() === nothingAt && missingSince.size === 0 ? Number.POSITIVE_INFINITY : 0)

  async function collect(): Promise<void> {
    nothingAt = seen()
    const all = pods.store.list()
    if (threshold > 0) await collectTerminated(all)
    await collectOutOfService(all)
    await collectOrphaned(all)
    for (const pod of all) {
      if (pod.metadata.deletionTimestamp === undefined || pod.spec?.nodeName) continue
      log.info(4, 'Found unscheduled terminating pod not assigned to any node, deleting', { pod: pod.metadata.name })
      await failAndDelete(pod)
    }
  }

  async function collectTerminated(all: readonly Pod[]): Promise<void> {
    const finished = all.filter((pod) => {
      const phase = pod.status?.phase
      return phase !== 'Pending' && phase !== 'Running' && phase !== 'Unknown' && phase !== undefined
    })
    const surplus = finished.length - threshold
    if (surplus <= 0) return
    const turn = (pod: Pod) => `${isEvicted(pod) ? 0 : 1} ${pod.metadata.creationTimestamp} ${pod.metadata.name}`
    finished.sort((a, b) => (turn(a) < turn(b) ? -1 : 1))
    for (const pod of finished.slice(0, surplus)) await failAndDelete(pod)
  }

  async function collectOutOfService(all: readonly Pod[]): Promise<void> {
    for (const pod of all) {
      const node = pod.spec?.nodeName ? nodes.store.get(pod.spec.nodeName) : undefined
      if (pod.metadata.deletionTimestamp === undefined || node === undefined) continue
      const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready')
      const tainted = node.spec?.taints?.some((taint) => taint.key === outOfService)
      if (tainted && ready?.status !== 'True') await failAndDelete(pod)
    }
  }

  async function collectOrphaned(all: readonly Pod[]): Promise<void> {
    const gone = new Set<string>()
    for (const pod of all) {
      const name: string = pod.spec?.nodeName ?? ''
      if (name !== '' && nodes.store.get(name) === undefined) gone.add(name)
    }
    for (const name of missingSince.keys()) if (!gone.has(name)) missingSince.delete(name)
    const now = clock.monotonic()
    const believed = new Set<string>()
    for (const name of gone) {
      const since = missingSince.get(name)
      if (since === undefined) missingSince.set(name, now)
      else if (now - since >= quarantineMs) {
        // What is left of its pods then waits as long again.
        missingSince.set(name, now)
        if (await isGone(name)) believed.add(name)
      }
    }
    for (const pod of all) {
      if (!believed.has(pod.spec?.nodeName ?? '')) continue
      log.info(2, 'Found orphaned Pod assigned to the Node, deleting', { pod: pod.metadata.name })
      await failAndDelete(pod, { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' })
    }
  }

  async function isGone(node: string): Promise<boolean> {
    try {
      await client.resource<Node>(nodesResource).get(node)
      return false
    } catch (error) {
      return isNotFound(error)
    }
  }

  /** What finished otherwise keeps its phase; anything else has failed. */
  async function failAndDelete(pod: Pod, disruption?: Disruption): Promise<void> {
    nothingAt = ''
    const { name = '', namespace = '' } = pod.metadata
    const resource = client.resource<Pod>(podsResource).namespace(namespace)
    try {
      if (!isTerminated(pod)) {
        const patch = disruptionPatch(pod, disruption, true, clock.now())
        if (patch !== undefined) await resource.patch(name, 'strategic', patch, { subresource: 'status' })
      }
      await resource.delete(name, { gracePeriodSeconds: 0 })
    } catch (error) {
      if (!isNotFound(error)) log.info(2, 'Failed to delete pod', { pod: `${namespace}/${name}`, err: String(error) })
    }
  }

  return {
    name: 'pod-garbage-collector',
    async start() {
      await Promise.all([pods.whenSynced(signal), nodes.whenSynced(signal)])
      const run = async () => {
        for (;;) {
          await collect()
          await sleep(clock, checkPeriodMs, signal, {
            label: 'pod garbage collection',
            everyMs: checkPeriodMs,
            nothingBefore,
          })
        }
      }
      void run().catch((error) => {
        if (!signal.aborted) log.error('Pod garbage collection stopped', error)
      })
    },
  }
}

/** Node pressure ended it. One that succeeded is not evicted, whatever its reason says. */
const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted'
