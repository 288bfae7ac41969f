/** What carries the traffic of a node of real containers beside its kubelet: its traffic, and the cluster's DNS. */

import { addressAt } from '../api/objects/ip-range.ts'
import type { UserInfo } from '../api/request.ts'
import { ADMINISTRATOR } from '../api/users.ts'
import type { ServiceNetwork, ServiceRange } from '../apiserver/registry/allocators/service-network.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { DnsServer } from '../dns/dns.ts'
import type { PreparedNode } from '../kubelet/machine/prepare-node.ts'
import type { ComponentsOptions } from './components.ts'
import { begun, NETWORK_READER, NETWORK_READS, startTraffic } from './node-traffic.ts'
import { ensureReader } from './reader.ts'

export interface NodeServices {
  /** Pods' name servers: the usual address of the first family, whatever answers there. */
  readonly dnsServers: readonly string[]
  /** Where the cluster's DNS listens, once it does. */
  readonly dnsPort: number | undefined
  /** Resolves once Services lead somewhere and names mean something. @throws StartError */
  start(): Promise<void>
  /** Resolves when nothing of it is under way any more, once the signal is aborted. */
  stopped(): Promise<void>
}

/** The role system:node-proxier is bound to it. */
export const PROXY: UserInfo = { name: 'system:kube-proxy', groups: ['system:authenticated'] }

/** The tenth address of each range, as kubeadm has it; of the smallest ranges the second. */
const dnsAddresses = ({ ranges: [first, ...more] }: ServiceNetwork) => {
  const of = (range: ServiceRange) => addressAt(range, range.size > 11n ? 10 : 2)
  return [of(first), ...more.map(of)] as const
}

export function nodeServices(
  runtime: Runtime,
  { components, clientFor, network: serviceNetwork }: ComponentsOptions,
  node: PreparedNode,
  signal: AbortSignal,
): NodeServices {
  const { network } = node
  const serviceAddresses = dnsAddresses(serviceNetwork)
  const addresses = network.map(({ address }) => address)
  const admin = clientFor(ADMINISTRATOR, 'skiff')
  let traffic: { stopped(): Promise<void> } | undefined
  let dns: DnsServer | undefined

  async function startTheDns(): Promise<void> {
    const { ensureDnsObjects } = await import('../dns/objects.ts')
    const { startDns } = await import('../dns/dns.ts')
    const user = await ensureReader(admin, 'skiff:dns', {
      '': ['services', 'namespaces'],
      'discovery.k8s.io': ['endpointslices'],
    })
    dns = await startDns({
      runtime: { ...runtime, log: runtime.log.named('dns') },
      client: clientFor(user, 'skiff-dns'),
      addresses,
      serviceAddresses,
      podRanges: network.flatMap(({ clusterRange, podRanges }) => clusterRange ?? podRanges),
      signal,
    })
    await ensureDnsObjects(admin, { serviceAddresses, addresses, port: dns.port })
  }

  async function withoutDns(): Promise<void> {
    const { removeDnsObjects } = await import('../dns/objects.ts')
    await removeDnsObjects(admin, true)
  }

  return {
    dnsServers: [serviceAddresses[0]],
    get dnsPort() {
      return dns?.port
    },
    async start() {
      await begun("the cluster's DNS", components.includes('dns') ? startTheDns : withoutDns)
      const reader = await ensureReader(admin, NETWORK_READER, NETWORK_READS)
      traffic = await startTraffic({
        runtime,
        node,
        proxy: components.includes('proxy') ? clientFor(PROXY, 'kube-proxy') : undefined,
        network: clientFor(reader, 'skiff-network-policies'),
        signal,
      })
    },
    async stopped() {
      await traffic?.stopped()
      await dns?.stop()
      if (dns === undefined) return
      const { removeDnsObjects } = await import('../dns/objects.ts')
      await removeDnsObjects(admin, false).catch((error: unknown) => {
        runtime.log.info(1, 'The slice of the DNS was not removed', { err: messageOf(error) })
      })
    },
  }
}
