/**
 * The node lifecycle controller: a node whose lease and status fall silent becomes Unknown, its pods not ready, and it is
 * tainted; NoExecute taints are put on at a rate that depends on how much of its zone is down, and not at all when every
 * zone is down, for then it is more likely this controller that is cut off.
 */
import type { Lease, Node, Pod, Taint } from '../../api/generated/types.ts'
import { isConflict, isNotFound } from '../../api/status.ts'
import { formatTime, heartOf, sleep } from '../../base/clock.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isReady, podsResource } from '../pods/pod.ts'
import {
  conditionTaints,
  noExecuteTaintFor,
  noScheduleKeys,
  notReadyKey,
  unreachableKey,
  withTaints,
} from './condition-taints.ts'
import { createZones, zoneOf } from './eviction-rate-by-zone.ts'
import {
  conditionsWhenSilent,
  type HeartbeatObservation,
  isSilent,
  nodeCondition,
  observe,
} from './missed-heartbeats.ts'
import { olderLabels } from './older-labels.ts'
import { zoneMetrics } from './zone-metrics.ts'

const nodesResource = { group: '', version: 'v1', resource: 'nodes' }
const leasesResource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const leaseNamespace = 'kube-node-lease'
const nodeIndex = 'node'

export interface NodeLifecycleOptions {
  /** Default 5 s. */
  readonly monitorPeriodMs?: number
  /** Silence after which a node is Unknown; default 50 s. */
  readonly gracePeriodMs?: number
  /** The same for a node that never told its status; default 60 s. */
  readonly startupGracePeriodMs?: number
}

const evictionPassMs = 100

export function createNodeLifecycleController(
  context: ControllerContext,
  options: NodeLifecycleOptions = {},
): Controller {
  const { runtime, client, informers, signal } = context
  const { clock } = runtime
  const log = runtime.log.named('node-lifecycle-controller')
  const gracePeriodMs = options.gracePeriodMs ?? 50_000
  const startupGracePeriodMs = options.startupGracePeriodMs ?? 60_000
  const nodes = informers.informer<Node>(nodesResource)
  const leases = informers.informer<Lease>(leasesResource, { namespace: leaseNamespace })
  const pods = informers.informer<Pod>(podsResource)
  pods.addIndex(nodeIndex, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
  const recorder = createEventRecorder(runtime, client, { component: 'node-controller' })
  const nodeClient = client.resource<Node>(nodesResource)
  const taintQueue = createWorkQueue<string>(runtime, 'node_lifecycle_controller')
  const observations = new Map<string, HeartbeatObservation>()
  /** Uids of the nodes that have been told of, by name. */
  const registered = new Map<string, string>()
  const zones = createZones(clock)
  const metrics = zoneMetrics(runtime)
  /** Nodes that are not ready and whose pods may not all have been told so. */
  const unmarked = new Set<string>()
  let passing = false

  /** When the next look may find what the last one did not, as long as no Node changes: in the clock's `now()`. */
  let quietUntil = 0
  let lookedAt = ''
  const nothingBefore = () => (nodes.changedAt === lookedAt ? quietUntil : 0)

  /** When the first of them has been silent for too long that no kubelet of this process keeps. */
  function firstSilence(): number {
    if (zones.pending) return 0
    let first = Number.POSITIVE_INFINITY
    for (const node of nodes.store.list()) {
      const name = node.metadata.name ?? ''
      const observation = observations.get(name)
      const status = nodeCondition(node, 'Ready')?.status
      if (observation === undefined || (status !== 'True' && status !== 'Unknown')) return 0
      if (status === 'Unknown') {
        if (unmarked.has(name)) return 0
        continue
      }
      if (clock.keeps?.(heartOf(name)) !== true) first = Math.min(first, observation.at + gracePeriodMs)
    }
    return first - clock.monotonic() + clock.now()
  }

  /** One look at every node. */
  async function monitor(): Promise<void> {
    lookedAt = nodes.changedAt
    const began = clock.monotonic()
    const known = new Set(nodes.store.keys())
    for (const name of observations.keys()) {
      if (known.has(name)) continue
      observations.delete(name)
      unmarked.delete(name)
      zones.forget(name)
    }
    tellOfNodes()
    const ready = new Map<string, boolean[]>()
    const down: (readonly [Node, string])[] = []
    await Promise.all(
      nodes.store.list().map(async (node) => {
        const beganNode = clock.monotonic()
        const status = await checkNode(node)
        metrics.looked('node', beganNode)
        const zone = zoneOf(node)
        getOrInsertComputed(ready, zone, () => []).push(status === 'True')
        if (status !== 'True') down.push([node, status])
      }),
    )
    metrics.zones(ready)
    const outcome = zones.update(ready)
    if (outcome === 'stopped') {
      log.info(0, 'Controller detected that all Nodes are not-Ready. Entering master disruption mode')
      await Promise.all(
        nodes.store.list().map((node) => changeTaints(node, [], [notReadyKey, unreachableKey], 'NoExecute')),
      )
    } else if (outcome === 'resumed') {
      log.info(0, 'Controller detected that some Nodes are Ready. Exiting master disruption mode')
      const now = clock.monotonic()
      for (const observation of observations.values()) observation.at = now
    }
    // Only now is it known whether it is the nodes that are cut off or this controller.
    if (!zones.stopped) await Promise.all(down.map(([node, status]) => condemn(node, status)))
    startPasses()
    metrics.looked('all', began)
    if (clock.keeps !== undefined) quietUntil = firstSilence()
  }

  function tellOfNodes(): void {
    const tell = (name: string, uid: string, reason: string, what: string) => {
      const subject = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid } }
      recorder.event(subject, 'Normal', reason, `Node ${name} event: ${what}`)
    }
    for (const { metadata } of nodes.store.list()) {
      const { name = '', uid = '' } = metadata
      if (!registered.has(name)) tell(name, uid, 'RegisteredNode', `Registered Node ${name} in Controller`)
      registered.set(name, uid)
    }
    for (const [name, uid] of registered) {
      if (nodes.store.get(name) !== undefined) continue
      registered.delete(name)
      tell(name, uid, 'RemovingNode', `Removing Node ${name} from Controller`)
    }
  }

  /** Returns the node's Ready status after this look. */
  async function checkNode(node: Node): Promise<string> {
    const name = node.metadata.name ?? ''
    const now = clock.monotonic()
    const lease = leases.store.get(`${leaseNamespace}/${name}`)
    // What became of its pods before this process looked is not known.
    if (!observations.has(name)) unmarked.add(name)
    const observation = observe(observations.get(name), node, lease, now)
    observations.set(name, observation)
    const observed: string = nodeCondition(node, 'Ready')?.status ?? 'Unknown'
    let current = node
    if (isSilent(node, observation, now, { node: gracePeriodMs, startup: startupGracePeriodMs })) {
      const conditions = conditionsWhenSilent(node, clock.now())
      if (conditions !== undefined) {
        try {
          const status = { ...node.status, conditions }
          current = await nodeClient.update({ ...node, status }, { subresource: 'status' })
        } catch (error) {
          if (!isConflict(error) && !isNotFound(error))
            log.info(2, 'Error updating node', { node: name, err: String(error) })
          return observed
        }
      }
    }
    const status: string = nodeCondition(current, 'Ready')?.status ?? 'Unknown'
    if (status === 'True') {
      unmarked.delete(name)
      zones.withdraw(name)
      await changeTaints(current, [], [notReadyKey, unreachableKey], 'NoExecute')
    }
    const own = pods.store.byIndex(nodeIndex, name)
    if (observed === 'True' && status !== 'True') {
      const message = `Node ${name} status is now: NodeNotReady`
      const subject = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: node.metadata.uid ?? '' } }
      recorder.event(subject, 'Normal', 'NodeNotReady', message)
      unmarked.add(name)
    }
    // Once, since what a kubelet that is there says of its pods later stands, though it calls its node not ready.
    if (unmarked.has(name) && (await markPodsNotReady(own))) unmarked.delete(name)
    return status
  }

  /** The node waits for its NoExecute taint; one that has the other kind is changed over at once. */
  async function condemn(node: Node, status: string): Promise<void> {
    const [key, other] = status === 'False' ? [notReadyKey, unreachableKey] : [unreachableKey, notReadyKey]
    const taints = node.spec?.taints ?? []
    const has = (wanted: string) => taints.some((taint) => taint.key === wanted && taint.effect === 'NoExecute')
    if (has(other as string)) {
      await changeTaints(node, [noExecuteTaintFor(status, clock.now())], [other as string], 'NoExecute')
    } else if (!has(key as string)) {
      zones.condemn(node.metadata.name ?? '', zoneOf(node))
    }
  }

  /** Whether none is left that is ready. */
  async function markPodsNotReady(own: readonly Pod[]): Promise<boolean> {
    let areAll = true
    for (const pod of own) {
      if (!isReady(pod)) continue
      const now = formatTime(clock.now())
      const conditions = (pod.status?.conditions ?? []).map((condition) =>
        condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: now } : condition,
      )
      try {
        const resource = client.resource<Pod>(podsResource).namespace(pod.metadata.namespace ?? '')
        await resource.update({ ...pod, status: { ...pod.status, conditions } }, { subresource: 'status' })
        recorder.event(pod, 'Warning', 'NodeNotReady', 'Node is not ready')
      } catch (error) {
        if (isNotFound(error)) continue
        areAll = false
        if (!isConflict(error))
          log.info(2, 'Unable to mark pod NotReady', { pod: pod.metadata.name, err: String(error) })
      }
    }
    return areAll
  }

  /** NoSchedule taints follow the node's conditions and spec.unschedulable, older labels the newer ones. */
  async function syncNode(name: string): Promise<void> {
    const node = nodes.store.get(name)
    if (node === undefined) return
    await changeTaints(node, conditionTaints(node, clock.now()), noScheduleKeys, 'NoSchedule')
    const labels = olderLabels(node.metadata.labels ?? {})
    if (labels === undefined) return
    await nodeClient.patch(name, 'strategic', { metadata: { labels } }).catch((error) => {
      if (!isNotFound(error)) throw error
    })
  }

  /** Taints of `effect` with one of `managedKeys` become `wanted`, nothing else changes. */
  async function changeTaints(
    node: Node,
    wanted: readonly Taint[],
    managedKeys: readonly string[],
    effect: string,
  ): Promise<void> {
    let current = node
    for (let tries = 1; ; tries++) {
      const taints = withTaints(current.spec?.taints ?? [], wanted, managedKeys, effect)
      if (taints === undefined) return
      const body = {
        metadata: { resourceVersion: current.metadata.resourceVersion ?? '' },
        spec: { taints: taints.length === 0 ? null : (taints as never[]) },
      }
      try {
        await nodeClient.patch(node.metadata.name ?? '', 'strategic', body)
        return
      } catch (error) {
        if (isNotFound(error)) return
        if (!isConflict(error) || tries >= 5) throw error
      }
      current = await nodeClient.get(node.metadata.name ?? '')
    }
  }

  /** Puts NoExecute taints on the nodes whose turn it is. */
  async function evictionPass(): Promise<void> {
    for (const name of zones.due()) {
      const node = nodes.store.get(name)
      const status: string | undefined = node === undefined ? 'True' : nodeCondition(node, 'Ready')?.status
      if (node === undefined || status === 'True') continue
      const [key, other] = status === 'False' ? [notReadyKey, unreachableKey] : [unreachableKey, notReadyKey]
      log.info(2, 'Adding NoExecute taint', { node: name, taint: key })
      const taint = noExecuteTaintFor(status ?? 'Unknown', clock.now())
      await changeTaints(node, [taint], [key as string, other as string], 'NoExecute')
      metrics.evicted(zoneOf(node))
    }
  }

  /** As long as nodes wait for their turn. */
  function startPasses() {
    if (passing || !zones.pending) return
    passing = true
    const run = async () => {
      while (zones.pending) {
        await evictionPass()
        await sleep(clock, evictionPassMs, signal)
      }
    }
    void run()
      .catch((error) => {
        if (!signal.aborted) log.info(2, 'Failed to taint nodes', { err: String(error) })
      })
      .finally(() => {
        passing = false
      })
  }

  async function keepMonitoring(): Promise<void> {
    for (;;) {
      await monitor().catch((error) => {
        if (!signal.aborted) log.info(2, 'Error monitoring node health', { err: String(error) })
      })
      const everyMs = options.monitorPeriodMs ?? 5000
      await sleep(clock, everyMs, signal, { label: 'node monitor', everyMs, nothingBefore })
    }
  }

  return {
    name: 'node-controller',
    async start() {
      const enqueue = (node: Node) => taintQueue.add(node.metadata.name ?? '')
      nodes.addHandlers({ added: enqueue, updated: (_, node) => enqueue(node) })
      await Promise.all([nodes, leases, pods].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, taintQueue, 8, syncNode, signal)
      void keepMonitoring().catch(() => {})
    },
  }
}
