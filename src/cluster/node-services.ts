/** What carries the traffic of a node of real containers beside its kubelet: its traffic, and the cluster's DNS. */

import { addressAt } from '../api/objects/ip-range.ts'
import type { UserInfo } from '../api/request.ts'
import type { ServiceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { DnsServer } from '../dns/dns.ts'
import type { PreparedNode } from '../kubelet/machine/real-node.ts'
import type { ComponentsOptions } from './components.ts'
import { begun, NETWORK_READER, NETWORK_READS, startTraffic } from './node-traffic.ts'
import { ensureReader } from './reader.ts'

export interface NodeServices {
  /** Pods' name servers: the usual address, whatever answers there. */
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
const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

/** The tenth address, as kubeadm has it; of the smallest ranges the second. */
const dnsAddress = ({ ranges: [first] }: ServiceNetwork) => addressAt(first, first.size > 11n ? 10 : 2)

export function nodeServices(
  runtime: Runtime,
  { components, clientFor, network: serviceNetwork }: ComponentsOptions,
  node: PreparedNode,
  signal: AbortSignal,
): NodeServices {
  const { network } = node
  const serviceAddress = dnsAddress(serviceNetwork)
  const admin = clientFor(ADMIN, 'skiff')
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
      address: network.address,
      serviceAddress,
      podRanges: network.clusterRange === undefined ? network.podRanges : [network.clusterRange],
      signal,
    })
    await ensureDnsObjects(admin, { serviceAddress, address: network.address, port: dns.port })
  }

  async function withoutDns(): Promise<void> {
    const { removeDnsObjects } = await import('../dns/objects.ts')
    await removeDnsObjects(admin, true)
  }

  return {
    dnsServers: [serviceAddress],
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
