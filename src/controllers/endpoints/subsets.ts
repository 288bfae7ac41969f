/** The subsets of an Endpoints object: ports that have the same addresses stand together, the addresses in their order. */
import type { EndpointAddress, EndpointSubset, ObjectReference, Pod, Service } from '../../api/generated/types.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { isReady } from '../pods/pod.ts'
import { inEndpointsOrder } from './port-order.ts'
import { addressesOf, type EndpointPort, hostnameOf, isHeadless, portsOf } from './service-pods-and-ports.ts'

interface Subset {
  readonly ports: readonly EndpointPort[]
  readonly ready: EndpointAddress[]
  readonly notReady: EndpointAddress[]
}

/** At most `capacity` addresses, ready ones first; `truncated` says that there were more. */
export function subsetsOf(
  service: Service,
  pods: readonly Pod[],
  capacity: number,
): { readonly subsets: readonly EndpointSubset[]; readonly truncated: boolean } {
  const anyState = service.spec?.publishNotReadyAddresses === true
  const withoutPorts = isHeadless(service) && (service.spec?.ports ?? []).length === 0
  const family: string = service.spec?.ipFamilies?.[0] ?? 'IPv4'
  const byPort = new Map<string, Subset>()
  let count = 0
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined && !anyState) continue
    const ip = addressesOf(pod).find((address) => address.includes(':') === (family === 'IPv6'))
    if (ip === undefined) continue
    const ports = portsOf(service, pod)
    if (ports.length === 0 && !withoutPorts) continue
    const { name, namespace, uid } = pod.metadata
    const hostname = hostnameOf(service, pod)
    const address = {
      ip,
      ...(hostname === undefined ? {} : { hostname }),
      ...(pod.spec?.nodeName ? { nodeName: pod.spec?.nodeName } : {}),
      targetRef: { kind: 'Pod', namespace, name, uid } as ObjectReference,
    }
    const isOpen = anyState || isReady(pod)
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const group = getOrInsertComputed(byPort, JSON.stringify(port), () => ({
        ports: port === undefined ? [] : [port],
        ready: [],
        notReady: [],
      }))
      ;(isOpen ? group.ready : group.notReady).push(address)
    }
    count++
  }
  const groups = joined([...byPort.values()])
  let room = capacity
  const take = (addresses: readonly EndpointAddress[]) => {
    const taken = [...addresses].sort(byAddress).slice(0, Math.max(0, room))
    room -= taken.length
    return taken
  }
  const all = groups.toSorted((a, b) => (JSON.stringify(a.ports) < JSON.stringify(b.ports) ? -1 : 1))
  const ready = all.map((group) => take(group.ready))
  const subsets = all.map((group, at): EndpointSubset => {
    const addresses = ready[at] ?? []
    const notReady = take(group.notReady)
    return {
      ...(addresses.length > 0 ? { addresses } : {}),
      ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
      ...(group.ports.length > 0 ? { ports: inEndpointsOrder(group.ports).map(withoutEmptyName) } : {}),
    }
  })
  return {
    subsets: subsets.filter((subset) => 'addresses' in subset || 'notReadyAddresses' in subset),
    truncated: count > capacity,
  }
}

/** Those with the same addresses become one, with all their ports. */
function joined(subsets: readonly Subset[]): readonly Subset[] {
  const groups = new Map<string, Subset>()
  for (const subset of subsets) {
    const key = JSON.stringify([subset.ready, subset.notReady])
    const same = groups.get(key)
    groups.set(key, same === undefined ? subset : { ...same, ports: [...same.ports, ...subset.ports] })
  }
  return [...groups.values()]
}

function withoutEmptyName({ name, port, protocol, appProtocol }: EndpointPort) {
  return { ...(name === '' ? {} : { name }), port, protocol, ...(appProtocol ? { appProtocol } : {}) }
}

/** As text: 10.0.0.100 stands before 10.0.0.96. */
function byAddress(a: EndpointAddress, b: EndpointAddress): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1
  return (a.targetRef?.uid ?? '') < (b.targetRef?.uid ?? '') ? -1 : 1
}
