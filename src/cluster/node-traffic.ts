/**
 * What carries the traffic of the pods of one node of real containers, in whichever process it runs: the proxy of Services, NetworkPolicies,
 * routes to the pods of other nodes.
 */
import { networkInterfaces } from 'node:os'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { isLinkLocal } from '../kubelet/machine/network-ranges.ts'
import { policyTableOf, serviceTableOf } from '../kubelet/machine/pod-network.ts'
import type { PreparedNode } from '../kubelet/machine/prepare-node.ts'
import type { ClusterServer } from '../proxy/network-policy-rules.ts'
import { StartError } from './errors.ts'

export interface TrafficOptions {
  readonly runtime: Runtime
  readonly node: PreparedNode
  /** The proxy's, which may read what system:node-proxier may. Undefined: another proxy leads Services. */
  readonly proxy: Client | undefined
  /** Reads pods, namespaces, NetworkPolicies and Nodes. */
  readonly network: Client
  /** The API server and the DNS, where they are not of this node. */
  readonly servers?: readonly ClusterServer[]
  readonly signal: AbortSignal
}

/** The user that reads what policies and routes are made of, and what it may read. */
export const NETWORK_READER = 'skiff:network-policies'
export const NETWORK_READS: Readonly<Record<string, readonly string[]>> = {
  '': ['pods', 'namespaces', 'nodes'],
  'networking.k8s.io': ['networkpolicies'],
}

/** Resolves once Services lead somewhere; gives what resolves when nothing is under way any more. @throws StartError */
export async function startTraffic(options: TrafficOptions): Promise<{ stopped(): Promise<void> }> {
  const { runtime, node, proxy, network: client, signal } = options
  const { cluster, nodeName, network } = node
  const named = (name: string): Runtime => ({ ...runtime, log: runtime.log.named(name) })
  const running: { stopped(): Promise<void> }[] = []

  async function startTheProxy(as: Client): Promise<void> {
    const { startProxy } = await import('../proxy/proxy.ts')
    running.push(
      await startProxy({
        runtime: named('proxy'),
        client: as,
        nodeName,
        tableName: serviceTableOf(cluster),
        families: network.map(({ family, podRanges, nodeIP }) => ({ family, podRanges, nodePortAddresses: [nodeIP] })),
        signal,
      }),
    )
  }

  async function startThePolicies(): Promise<void> {
    const { startNetworkPolicies } = await import('../proxy/keep-network-policies.ts')
    const tableName = policyTableOf(cluster)
    const { servers = [] } = options
    const families = network.map(({ family }) => family)
    const own = { runtime: named('policies'), client, nodeName, tableName, families, servers, signal }
    running.push(await startNetworkPolicies(own))
  }

  async function startTheRoutes(clusterRanges: readonly string[]): Promise<void> {
    const { startNodeRoutes } = await import('../proxy/node-routes.ts')
    running.push(await startNodeRoutes({ runtime: named('routes'), client, nodeName, clusterRanges, links, signal }))
  }

  if (proxy !== undefined) await begun('the proxy of Services', () => startTheProxy(proxy))
  // Where the pods' network is another's, so are its policies and its routes.
  if (network.some(({ podCIDR }) => podCIDR !== undefined))
    await begun('the enforcement of NetworkPolicies', startThePolicies)
  const clusterRanges = network.flatMap(({ podCIDR, clusterRange = podCIDR }) =>
    clusterRange === podCIDR ? [] : (clusterRange ?? []),
  )
  if (clusterRanges.length > 0) await begun('the routes to other nodes', () => startTheRoutes(clusterRanges))
  return {
    async stopped() {
      for (const one of running) await one.stopped()
    },
  }
}

/** Networks that this machine is on itself. */
const links = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) =>
    all.flatMap(({ internal, cidr }) => (internal || cidr === null || isLinkLocal(cidr) ? [] : cidr)),
  )

export async function begun(what: string, start: () => Promise<void>): Promise<void> {
  try {
    await start()
  } catch (cause) {
    throw new StartError(`${what} cannot start: ${messageOf(cause)}`, { cause })
  }
}
