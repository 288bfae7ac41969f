/**
 * How the cluster knows its DNS: the Service kube-dns in kube-system, as clients and charts expect it, with a slice that leads to this
 * process. A Service kube-dns with a selector is another's (CoreDNS): it is left alone.
 */
import type { EndpointSlice, Service } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { sameJson } from '../api/same.ts'
import { isNotFound } from '../api/status.ts'
import { familyOf, type IPFamily } from '../api/values/ip.ts'
import type { Client, ResourceClient } from '../client/client.ts'

export interface DnsObjects {
  /** One of each family that Services have, in their order. */
  readonly serviceAddresses: readonly string[]
  /** Where the server listens. */
  readonly addresses: readonly string[]
  readonly port: number
}

const NAMESPACE = 'kube-system'
const SERVICE = 'kube-dns'
const FAMILIES = ['IPv4', 'IPv6'] as const
const sliceOf = (family: IPFamily) => (family === 'IPv4' ? 'kube-dns-skiff' : 'kube-dns-skiff-ipv6')
const MADE_BY = 'dns.skiff.dev'

const clientsOf = (client: Client) => ({
  services: client.resource<Service>({ group: '', version: 'v1', resource: 'services' }).namespace(NAMESPACE),
  slices: client
    .resource<EndpointSlice>({ group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' })
    .namespace(NAMESPACE),
})

/** `client`: an administrator's. @throws Error when the address is another Service's */
export async function ensureDnsObjects(
  client: Client,
  { serviceAddresses, addresses, port }: DnsObjects,
): Promise<void> {
  const { services, slices } = clientsOf(client)
  const existing = await ifThere(services.get(SERVICE))
  if (existing?.spec?.selector !== undefined) return
  const wanted = [...serviceAddresses]
  const addressed = {
    clusterIP: wanted[0] ?? '',
    ...(wanted.length === 1
      ? {}
      : {
          ipFamilyPolicy: 'RequireDualStack',
          ipFamilies: wanted.flatMap((ip) => familyOf(ip) ?? []),
          clusterIPs: wanted,
        }),
  }
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ]
  if (existing === undefined)
    await services.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: SERVICE,
        namespace: NAMESPACE,
        labels: { 'k8s-app': SERVICE, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
        annotations: { [MADE_BY]: 'true' },
      },
      spec: { ...addressed, ports: ports.map((one) => ({ ...one, targetPort: port })) },
    })
  else if (isOwn(existing) && wanted.length > (existing.spec?.clusterIPs ?? []).length)
    // It was made when Services had addresses of one family.
    await services.update({ ...existing, spec: { ...existing.spec, ...addressed } })
  for (const family of FAMILIES) {
    const address = addresses.find((one) => familyOf(one) === family)
    const name = sliceOf(family)
    if (address === undefined) {
      await ifThere(slices.delete(name))
      continue
    }
    await ensure(slices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name,
        namespace: NAMESPACE,
        labels: { 'kubernetes.io/service-name': SERVICE, 'endpointslice.kubernetes.io/managed-by': MADE_BY },
      },
      addressType: family,
      endpoints: [{ addresses: [address], conditions: { ready: true, serving: true, terminating: false } }],
      ports: ports.map(({ name: portName, protocol }) => ({ name: portName, protocol, port })),
    })
  }
}

const isOwn = ({ metadata, spec }: Service) =>
  metadata.annotations?.[MADE_BY] !== undefined && spec?.selector === undefined

/** This process answers no more. `forGood`: the Service goes too, so that another may take its place. @throws StatusError */
export async function removeDnsObjects(client: Client, forGood: boolean): Promise<void> {
  const { services, slices } = clientsOf(client)
  for (const family of FAMILIES) await ifThere(slices.delete(sliceOf(family)))
  if (!forGood) return
  const service = await ifThere(services.get(SERVICE))
  if (service === undefined || !isOwn(service)) return
  await ifThere(services.delete(SERVICE))
}

async function ensure<T extends KubeObject>(client: ResourceClient<T>, wanted: T): Promise<void> {
  const existing = await ifThere(client.get(wanted.metadata.name ?? ''))
  if (existing === undefined) {
    await client.create(wanted)
    return
  }
  const { apiVersion, kind, metadata, ...fields } = wanted
  if (Object.entries(fields).every(([field, value]) => sameJson(existing[field], value))) return
  await client.update({ ...existing, ...fields })
}

async function ifThere<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
