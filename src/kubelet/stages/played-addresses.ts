/** Addresses of nodes and pods that stages play: a pod keeps the one it has, and gives it back when it is gone. */
import type { Node } from '../../api/generated/types.ts'
import { type Pod, specOf } from '../pod.ts'
import { createPodAddresses, nodeIPOf, type PodAddresses } from '../pod-addresses.ts'
import { TemplateError } from './template/tokens.ts'

export interface PlayedAddresses {
  /** Its InternalIP, else its ExternalIP, else that of a node without any. */
  nodeIP(nodeName: string): string
  podIP(pod: { readonly uid: string; readonly nodeName: string; readonly hostNetwork: boolean }): string
  /** The pod has one already. */
  keep(pod: Pod): void
  release(uid: string): void
}

export interface PlayedAddressesOptions {
  node(name: string): Node | undefined
  podCIDROf(nodeName: string): string | undefined
}

/** Of nodes that have no range of their own. */
const SHARED_RANGE = '10.200.0.0/16'

export function createPlayedAddresses({ node, podCIDROf }: PlayedAddressesOptions): PlayedAddresses {
  const ranges = new Map<string, PodAddresses>()
  const taken = new Map<string, { readonly ip: string; readonly range: string }>()
  const rangeOf = (nodeName: string): string => {
    const { podCIDRs = [], podCIDR } = node(nodeName)?.spec ?? {}
    const own = [...podCIDRs, podCIDR ?? '']
    // One address: of IPv6 only where there is no range of IPv4.
    return own.find((cidr) => cidr.includes('.')) ?? podCIDROf(nodeName) ?? own.find(Boolean) ?? SHARED_RANGE
  }
  const addressesOf = (range: string): PodAddresses => {
    let addresses = ranges.get(range)
    if (addresses === undefined) {
      addresses = createPodAddresses(range)
      ranges.set(range, addresses)
    }
    return addresses
  }
  const nodeIP = (nodeName: string): string => {
    const addresses = node(nodeName)?.status?.addresses ?? []
    const found = ['InternalIP', 'ExternalIP'].flatMap((type) => addresses.filter((one) => one.type === type))
    return found[0]?.address ?? nodeIPOf(0)
  }
  return {
    nodeIP,
    podIP({ uid, nodeName, hostNetwork }) {
      if (hostNetwork) return nodeIP(nodeName)
      const has = taken.get(uid)
      if (has !== undefined) return has.ip
      const range = rangeOf(nodeName)
      try {
        const [ip = ''] = addressesOf(range).take()
        taken.set(uid, { ip, range })
        return ip
      } catch (cause) {
        throw new TemplateError(`no address is free in ${range}`, { cause })
      }
    },
    keep(pod) {
      const uid = pod.metadata.uid ?? ''
      const ip = pod.status?.podIP
      const { hostNetwork, nodeName = '' } = specOf(pod)
      if (ip === undefined || ip === '' || taken.has(uid) || hostNetwork === true) return
      const range = rangeOf(nodeName)
      addressesOf(range).reserve(ip)
      taken.set(uid, { ip, range })
    },
    release(uid) {
      const has = taken.get(uid)
      if (has === undefined) return
      taken.delete(uid)
      addressesOf(has.range).release(has.ip)
    },
  }
}
