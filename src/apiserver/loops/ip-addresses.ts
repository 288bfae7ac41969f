/**
 * Address repair (KEP-1880): every cluster IP of a Service has an IPAddress object that names the Service, and those of
 * Services that are gone go too. The allocator itself looks at Services alone; these objects are for users and other tools.
 */
import type { IPAddress, Service } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import { loopbackOf } from '../loopback.ts'
import { type LoopOptions, startLoop } from './settling.ts'

const FOLLOWED = ['services/specs', 'ipaddresses']
const PATH = '/apis/networking.k8s.io/v1/ipaddresses'
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by'
const ALLOCATOR = 'ipallocator.k8s.io'

export function startIpAddressLoop(options: LoopOptions): void {
  startLoop(options, {
    name: 'ip addresses',
    followed: FOLLOWED,
    work: () => repair(options),
    settleMs: 20,
    retryMs: 5_000,
  })
}

async function repair({ reads, handler, signal }: LoopOptions): Promise<void> {
  const wanted = new Map<string, KubeObject>()
  for (const service of reads.list<Service>('', 'services'))
    for (const ip of (service.spec?.clusterIPs ?? []) as readonly string[])
      if (ip !== 'None' && ip !== '') wanted.set(ip, service)
  const present = reads.list<IPAddress>('networking.k8s.io', 'ipaddresses')
  const send = loopbackOf(handler, signal)
  for (const address of present) {
    const name = address.metadata.name ?? ''
    const service = wanted.get(name)
    if (service !== undefined && isParent(address, service)) wanted.delete(name)
    else if (address.metadata.labels?.[MANAGED_BY] === ALLOCATOR)
      await send('DELETE', `${PATH}/${name}`).catch((error) => {
        if (!isNotFound(error)) throw error
      })
  }
  for (const [ip, service] of wanted)
    await send('POST', PATH, addressOf(ip, service)).catch((error) => {
      if (!isAlreadyExists(error)) throw error
    })
}

function isParent(address: IPAddress, service: IPAddress): boolean {
  const ref = address.spec?.parentRef
  return (
    ref?.resource === 'services' && ref.namespace === service.metadata.namespace && ref.name === service.metadata.name
  )
}

function addressOf(ip: string, service: Service): KubeObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name: ip,
      labels: { 'ipaddress.kubernetes.io/ip-family': ip.includes(':') ? 'IPv6' : 'IPv4', [MANAGED_BY]: ALLOCATOR },
    },
    spec: {
      parentRef: { resource: 'services', namespace: service.metadata.namespace, name: service.metadata.name },
    },
  }
}
