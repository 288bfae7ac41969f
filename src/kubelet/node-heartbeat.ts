/**
 * Keeps this node known: registers it, renews its Lease every 10 seconds, reports its status every 5 minutes or when what
 * the API server has is not what it should be.
 */
import type { Lease, Node, NodeStatus } from '../api/generated/types.ts'
import { sameJson } from '../api/same.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../api/status.ts'
import { formatMicroTime, heartOf, sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { type NodeDescription, nodeObject, nodeStatus } from './node-status.ts'

export interface NodeReporter {
  /** Resolves once the node is registered, its status says Ready, and its Lease is held. */
  register(): Promise<void>
  /** The API server's Node changed. */
  observed(node: Node): void
  /** What is to be said of the node is something else now. */
  changed(): void
  /** The Node was deleted: it is registered again. */
  deleted(): void
  run(): void
  /** Writes the status as it is described now. @throws StatusError */
  report(): Promise<void>
}

const NODES = { group: '', version: 'v1', resource: 'nodes' }
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const LEASE_NAMESPACE = 'kube-node-lease'
const LEASE_SECONDS = 40
const RENEW_MS = 10_000
/** Nodes of one process renew their Leases on the same tenths of a second, so that these are written together. */
const TOGETHER_MS = 100
const REPORT_MS = 300_000
const RETRY_MS = 1000
const CONFLICTS = 5

export function createNodeReporter(
  runtime: Runtime,
  client: Client,
  describe: () => NodeDescription,
  signal: AbortSignal,
): NodeReporter {
  const { clock, log } = runtime
  const nodes = client.resource<Node>(NODES)
  const leases = client.resource<Lease>(LEASES).namespace(LEASE_NAMESPACE)
  const { name } = describe()
  let node: Node | undefined
  let lease: Lease | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  let busy: Promise<void> | undefined

  async function registerOnce(): Promise<void> {
    try {
      node = await nodes.create(nodeObject(describe(), clock.now()))
      reportedAt = clock.monotonic()
      return
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    node = await nodes.get(name)
    await adoptLabels(node)
    await report()
  }

  /** A Node that was there before gets the labels it lacks. */
  async function adoptLabels(existing: Node): Promise<void> {
    const wanted = nodeObject(describe(), clock.now()).metadata.labels ?? {}
    const missing = Object.entries(wanted).filter(([key, value]) => existing.metadata.labels?.[key] !== value)
    if (missing.length === 0) return
    node = await nodes.patch(name, 'strategic', { metadata: { labels: Object.fromEntries(missing) } })
  }

  async function report(): Promise<void> {
    const status = nodeStatus(describe(), clock.now(), node?.status)
    const body = { status: changed(node?.status, status) } as never
    node = await nodes.patch(name, 'strategic', body, { subresource: 'status' })
    reportedAt = clock.monotonic()
  }

  async function renew(tries = 0): Promise<void> {
    const renewTime = formatMicroTime(clock.now())
    const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime }
    try {
      if (lease === undefined) lease = await leases.get(name)
      lease = await leases.update({ ...lease, spec: { ...lease.spec, ...spec } })
    } catch (error) {
      lease = undefined
      if (isConflict(error) && tries < CONFLICTS) return renew(tries + 1)
      if (!isNotFound(error)) throw error
      const uid = node?.metadata.uid
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: uid ?? '' }
      lease = await leases.create({
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { name, namespace: LEASE_NAMESPACE, ...(uid === undefined ? {} : { ownerReferences: [owner] }) },
        spec,
      })
    }
  }

  async function untilDone(what: string, task: () => Promise<void>): Promise<void> {
    for (let wait = 50; !signal.aborted; wait = Math.min(wait * 2, RETRY_MS)) {
      try {
        return await task()
      } catch (error) {
        if (signal.aborted) return
        log.info(2, `Failed to ${what}, will retry`, { node: name, err: String(error) })
        await sleep(clock, wait, signal).catch(() => {})
      }
    }
  }

  /** One of these at a time. */
  function once(what: string, task: () => Promise<void>): void {
    busy ??= untilDone(what, task).finally(() => {
      busy = undefined
    })
  }

  function reportSoon(): void {
    if (busy === undefined) once('update node status', report)
    else void busy.finally(reportSoon)
  }

  return {
    report,
    async register() {
      await untilDone('register node', registerOnce)
      await untilDone('acquire lease', () => renew())
    },
    observed(seen) {
      node = seen
      if (busy === undefined && needsReport(seen, describe(), clock.now())) once('update node status', report)
    },
    changed: reportSoon,
    deleted() {
      node = undefined
      lease = undefined
      once('register node', registerOnce)
    },
    run() {
      const beat = () => {
        if (signal.aborted) return
        renew().catch((error) => log.info(2, 'Failed to renew lease', { node: name, err: String(error) }))
        if (clock.monotonic() - reportedAt >= REPORT_MS) once('update node status', report)
        arm()
      }
      // Its clock is the kubelet's, which ends with it.
      const arm = () => {
        const due = clock.monotonic() + RENEW_MS
        const ms = RENEW_MS + ((TOGETHER_MS - (due % TOGETHER_MS)) % TOGETHER_MS)
        clock.setTimer(ms, 'node heartbeat', beat, { everyMs: RENEW_MS, keeps: heartOf(name) })
      }
      arm()
    },
  }
}

/** Whether the Node's status differs in anything but heartbeats (a controller marked it not ready, or its capacity changed). */
function needsReport(node: Node, description: NodeDescription, now: number): boolean {
  const wanted = nodeStatus(description, now, node.status)
  const { conditions = [] } = wanted
  return (
    !sameAmounts(node.status?.capacity, wanted.capacity) ||
    !sameAmounts(node.status?.allocatable, wanted.allocatable) ||
    conditions.some(({ type, status }) => node.status?.conditions?.find((one) => one.type === type)?.status !== status)
  )
}

const sameAmounts = (one: NodeStatus['capacity'] = {}, other: NodeStatus['capacity'] = {}): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, amount]) => other[name] === amount)

/** Fields of the new status that are not what is there. */
function changed(old: NodeStatus | undefined, status: NodeStatus): Partial<NodeStatus> {
  const from = (old ?? {}) as { readonly [field: string]: unknown }
  return Object.fromEntries(Object.entries(status).filter(([key, value]) => !sameJson(from[key] ?? null, value)))
}
