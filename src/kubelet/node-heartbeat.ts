/**
 * Keeps this node known: registers it, renews its Lease every 10 seconds, reports its status every 5 minutes or when what
 * the API server has is not what it should be.
 */
import type { Node, NodeStatus } from '../api/generated/types.ts'
import { sameJson } from '../api/same.ts'
import { isAlreadyExists } from '../api/status.ts'
import { heartOf, sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { StatusTold } from './node-condition-events.ts'
import { createNodeLease, LEASE_SECONDS } from './node-lease.ts'
import type { KubeletSettings } from './node-settings.ts'
import { type NodeDescription, nodeObject, nodeStatus } from './node-status.ts'

export interface NodeReporter {
  /** Resolves once the node is registered, by itself or by others, its status says Ready, and its Lease is held. */
  register(): Promise<void>
  /** The API server's Node changed. */
  observed(node: Node): void
  /** What is to be said of the node is something else now. */
  changed(): void
  /** The Node was deleted: it is registered again, if it may be, or nothing is told of it until it is observed again. */
  deleted(): void
  run(): void
  /** Writes the status as it is described now. @throws StatusError */
  report(): Promise<void>
}

const NODES = { group: '', version: 'v1', resource: 'nodes' }
/** Nodes of one process renew their Leases on the same tenths of a second, so that these are written together. */
const TOGETHER_MS = 100
const REPORT_MS = 300_000
const RETRY_MS = 1000
/** Labels that a Node made by others gets too. */
const OF_MACHINE = /\/(?:arch|os)$/

export interface ReporterOptions extends Pick<KubeletSettings, 'registersItself' | 'lease' | 'statusReportMs'> {
  /** The Node's conditions are written by others, from the first on. */
  readonly isPlayed?: boolean
  /** A status has been taken. */
  readonly told?: StatusTold
  /** Whether it makes its Node again when that was deleted. Default: true. */
  readonly registersAgain?: boolean
}

export function createNodeReporter(
  runtime: Runtime,
  client: Client,
  describe: () => NodeDescription,
  signal: AbortSignal,
  {
    isPlayed = false,
    registersAgain = true,
    told,
    registersItself = true,
    lease: { seconds } = { seconds: LEASE_SECONDS },
    statusReportMs = REPORT_MS,
  }: ReporterOptions = {},
): NodeReporter {
  const { clock, log } = runtime
  const nodes = client.resource<Node>(NODES)
  const { name } = describe()
  let node: Node | undefined
  const lease = createNodeLease(clock, client, name, () => node?.metadata.uid, seconds)
  // As kubelets have it: four times before the Lease has run out.
  const renewMs = (seconds * 1000) / 4
  let reportedAt = Number.NEGATIVE_INFINITY
  let busy: Promise<void> | undefined
  let isGone = false

  async function registerOnce(): Promise<void> {
    try {
      if (registersItself) {
        node = await nodes.create(newNode())
        told?.(undefined, node)
        reportedAt = clock.monotonic()
        return
      }
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    node = await nodes.get(name)
    await adoptLabels(node)
    if (!isPlayed) await report()
  }

  function newNode(): Node {
    const made = nodeObject(describe(), clock.now())
    return isPlayed ? { ...made, status: { ...made.status, conditions: [] } } : made
  }

  /** A Node that was there before gets the labels it lacks. */
  async function adoptLabels(existing: Node): Promise<void> {
    const wanted = nodeObject(describe(), clock.now()).metadata.labels ?? {}
    const missing = Object.entries(wanted).filter(
      ([key, value]) => existing.metadata.labels?.[key] !== value && (registersItself || OF_MACHINE.test(key)),
    )
    if (missing.length === 0) return
    node = await nodes.patch(name, 'strategic', { metadata: { labels: Object.fromEntries(missing) } })
  }

  async function report(): Promise<void> {
    const status = nodeStatus(describe(), clock.now(), node?.status)
    const before = node
    const body = { status: changed(node?.status, status) } as never
    node = await nodes.patch(name, 'strategic', body, { subresource: 'status' })
    told?.(before, node)
    reportedAt = clock.monotonic()
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
    if (isGone) return
    busy ??= untilDone(what, task).finally(() => {
      busy = undefined
    })
  }

  function reportSoon(): void {
    if (isGone) return
    if (busy === undefined) once('update node status', report)
    else void busy.finally(reportSoon)
  }

  return {
    report,
    async register() {
      await untilDone(registersItself ? 'register node' : 'find node made by others', registerOnce)
      await untilDone('acquire lease', lease.renew)
    },
    observed(seen) {
      const before = node
      node = seen
      // One that does not make its Node again is known again when others do.
      isGone = false
      if (before !== undefined && before.spec?.unschedulable !== seen.spec?.unschedulable) told?.(seen, seen)
      if (!isPlayed && busy === undefined && needsReport(seen, describe(), clock.now()))
        once('update node status', report)
    },
    changed: reportSoon,
    deleted() {
      node = undefined
      lease.forget()
      isGone = !registersAgain
      once('register node', registerOnce)
    },
    run() {
      const beat = () => {
        if (signal.aborted) return
        if (!isGone)
          lease.renew().catch((error) => log.info(2, 'Failed to renew lease', { node: name, err: String(error) }))
        if (!isPlayed && clock.monotonic() - reportedAt >= statusReportMs) once('update node status', report)
        arm()
      }
      // Its clock is the kubelet's, which ends with it.
      const arm = () => {
        const due = clock.monotonic() + renewMs
        const ms = renewMs + ((TOGETHER_MS - (due % TOGETHER_MS)) % TOGETHER_MS)
        clock.setTimer(ms, 'node heartbeat', beat, { everyMs: renewMs, keeps: heartOf(name) })
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
