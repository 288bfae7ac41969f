/** The cluster's node of real containers: looked at before anything starts, started with the components, taken down with them. */
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Node } from '../api/generated/types.ts'
import { isWithin, parseIPRange } from '../api/objects/ip-range.ts'
import { isNotFound } from '../api/status.ts'
import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { FoundRuntime } from '../kubelet/machine/machine-requirements.ts'
import type { PreparedNode } from '../kubelet/machine/prepare-node.ts'
import type { RealNode } from '../kubelet/machine/real-node.ts'
import type { NodeSettings } from '../kubelet/node-settings.ts'
import type { ServerTls } from '../kubelet/server/server.ts'
import { issue } from './certificate.ts'
import { StartError } from './errors.ts'
import { nodeName } from './nodes.ts'
import type { Pki } from './pki.ts'

const DAY_MS = 86_400_000
/** How long the certificate of the node's server lasts, and after how long it is made anew. */
const SERVING_DAYS = 365
const RENEWAL_DAYS = 290

export interface RealNodeChoice {
  readonly found: FoundRuntime
  /** Where the node keeps what it has. */
  readonly directory: string
  readonly imagesDirectory: string
}

/** Of each family that Services have: their ranges, and, where they were chosen, those of the pods of all nodes. */
export interface WantedNetwork {
  readonly serviceRanges: readonly string[]
  readonly clusterCidrs: readonly string[] | undefined
  readonly hasOtherNodes: boolean
}

/**
 * Below the cluster's own directory, by the path that the kernel knows it by: what is mounted below is found by comparing paths, and
 * one that leads over a symbolic link would find nothing.
 */
export const nodeDirectory = (dataDir: string, name: string): string => join(realPath(dataDir), 'kubelet', name)

/** What outlives a node: what is known of its images, and, where it has a container runtime of its own, these. `dataDir`: as the kernel knows it. */
export const keptDirectory = (dataDir: string, name: string): string => join(dataDir, 'nodes', name)

/** Also of what is not there yet. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), basename(path))
  }
}

/** @throws StartError with a line for each thing that the machine lacks */
export async function findContainerRuntime(
  endpoint: string | undefined,
  nodes: number,
  hasIPv6: boolean,
): Promise<FoundRuntime> {
  const { MOST_NODES } = await import('../kubelet/machine/node-links.ts')
  if (nodes > MOST_NODES) throw new StartError(`--runtime cri runs ${MOST_NODES} nodes at most, not ${nodes}`)
  const { checkMachine } = await import('../kubelet/machine/machine-requirements.ts')
  const { runtime, problems } = await checkMachine(liveRuntime().clock, endpoint, {
    hasFurtherNodes: nodes > 1,
    hasIPv6,
  })
  if (problems.length > 0 || runtime === undefined)
    throw new StartError(['this machine cannot run real containers yet:', ...problems].join('\n  '))
  return runtime
}

/** The machine's network is there when it returns. `takeDownLeftNodes` ends it, whatever follows. @throws StartError */
export async function prepareRealNode(
  runtime: Runtime,
  choice: RealNodeChoice,
  { serviceRanges, clusterCidrs, hasOtherNodes }: WantedNetwork,
): Promise<PreparedNode> {
  const { prepareNode } = await import('../kubelet/machine/prepare-node.ts')
  try {
    return prepareNode({
      ...choice,
      ...{ runtime, nodeName: nodeName(0), serviceRanges, hasOtherNodes },
      ...(clusterCidrs === undefined ? {} : { clusterRanges: clusterCidrs }),
    })
  } catch (cause) {
    throw new StartError(`the node's network cannot be made: ${messageOf(cause)}`, { cause })
  }
}

/** The nodes of a cluster whose process was killed: false where nothing of them is left. @throws StartError */
export async function takeDownLeftNodes(dataDir: string): Promise<boolean> {
  const others = await endLeftNamespaces(dataDir, true)
  const directory = nodeDirectory(dataDir, nodeName(0))
  if (!existsSync(directory)) return others
  const { takeOverRecords } = await import('../kubelet/images/pull-records.ts')
  const { takeDownNode } = await import('../kubelet/machine/take-down-node.ts')
  const keep = () => takeOverRecords(directory, keptDirectory(realPath(dataDir), nodeName(0)))
  await awake(() => takeDownNode(liveRuntime(), directory, keep))
  return true
}

/** Nodes in namespaces end with the process that started them: what is left of them runs no more. `forGood`: nor is it there. @throws StartError */
export async function endLeftNamespaces(dataDir: string, forGood: boolean): Promise<boolean> {
  const at = realPath(dataDir)
  if (!existsSync(join(at, 'nodes'))) return false
  const { endNode, namespacedNodes } = await import('./namespaced-nodes/left-nodes.ts')
  const left = namespacedNodes(at)
  await awake(async () => {
    for (const one of left) await endNode(liveRuntime(), one, forGood)
  })
  return left.length > 0
}

/** A live timer keeps no process alive by itself. @throws StartError */
async function awake(task: () => Promise<void>): Promise<void> {
  const held = new BroadcastChannel('skiff down')
  try {
    await task()
  } catch (cause) {
    throw new StartError(messageOf(cause), { cause })
  } finally {
    held.close()
  }
}

const NODES = { group: '', version: 'v1', resource: 'nodes' }

/**
 * A Node's ranges are given once. One of an earlier life whose ranges are none of today's is deleted, to be registered anew; one that has none yet is
 * given `own`. `clusterRanges`: one of each family, in their order. `admin`: an administrator's client.
 */
export async function fitRanges(
  admin: Client,
  name: string,
  clusterRanges: readonly string[],
  own?: readonly string[],
): Promise<void> {
  const nodes = admin.resource<Node>(NODES)
  try {
    const { spec } = await nodes.get(name)
    const { podCIDRs = [] } = spec ?? {}
    if (podCIDRs.length === 0) {
      if (own !== undefined) await nodes.patch(name, 'strategic', { spec: { podCIDR: own[0] ?? '', podCIDRs: own } })
    } else if (own === undefined ? !areWithin(podCIDRs, clusterRanges) : podCIDRs.join() !== own.join())
      await nodes.delete(name)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const areWithin = (podCIDRs: readonly string[], clusterRanges: readonly string[]) =>
  podCIDRs.length === clusterRanges.length &&
  clusterRanges.every((cidr, i) => {
    const [range, whole] = [parseIPRange(podCIDRs[i] ?? ''), parseIPRange(cidr)]
    return range !== undefined && whole !== undefined && isWithin(range, whole)
  })

/** The server's certificate is made anew well before it ends. Looked at each day, whatever time the clock is set to. Rejects with the signal. */
export async function renewed(runtime: Runtime, renew: () => void, signal: AbortSignal): Promise<never> {
  let made = runtime.clock.now()
  for (;;) {
    await sleep(runtime.machineClock, DAY_MS, signal)
    if (runtime.clock.now() - made < RENEWAL_DAYS * DAY_MS) continue
    made = runtime.clock.now()
    renew()
  }
}

/** `dnsServers`: the cluster's own. @throws StartError */
export async function startNode(
  runtime: Runtime,
  client: Client,
  prepared: PreparedNode,
  dnsServers: readonly string[],
  pki: Pick<Pki, 'ca'>,
  signal: AbortSignal,
  own: NodeSettings,
): Promise<RealNode> {
  const { startRealNode } = await import('../kubelet/machine/real-node.ts')
  const { guestOverride } = await import('../kubelet/shutdown/logind.ts')
  try {
    const certificate = (hosts: readonly string[]) => {
      const commonName = `system:node:${prepared.nodeName}`
      const serving = issue(
        runtime,
        { commonName, organizations: ['system:nodes'], usage: 'server', hosts, validDays: SERVING_DAYS },
        pki.ca,
      )
      return { ...serving, clientCa: pki.ca.cert }
    }
    const keepCertificate = (hosts: readonly string[], show: (tls: ServerTls) => void) =>
      void renewed(runtime, () => show(certificate(hosts)), signal).catch(() => {})
    return await startRealNode({
      ...own,
      ...{ runtime, client, signal, prepared, dnsServers, certificate, keepCertificate },
      logindOverride: guestOverride(prepared.cluster),
    })
  } catch (cause) {
    throw new StartError(`the node cannot start: ${messageOf(cause)}`, { cause })
  }
}
