/**
 * What Services take from shared pools: cluster IPs and node ports of the service network. Called by the Service
 * strategy before validation. What is taken is what the stored Services hold and what requests under way have reserved, so
 * there is nothing else to persist or to repair; a reservation ends when its write is visible or has failed.
 */
import type { Service, ServicePort, ServiceSpec } from '../../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { parseIPv4 } from '../../../api/objects/ip.ts'
import { internalError, StatusError } from '../../../api/status.ts'
import { type FieldError, invalid, invalidError } from '../../../api/validation/errors.ts'
import {
  allocatesNodePorts,
  isExternalName,
  isHeadlessByClusterIPs,
  mayHaveNodePorts,
  needsClusterIP,
  needsHealthCheckNodePort,
  validateClusterIPs,
} from '../../../api/validation/service.ts'
import type { Begun, Pools } from '../strategy.ts'
import { addressAt, type ServiceNetwork } from './service-network.ts'

const reservations = new WeakMap<Pools, Set<string>>()

interface Pool {
  /** A dry run asks only whether something is taken, and of ports not even whether they are in the range. */
  readonly dryRun: boolean
  take(key: string): boolean
  isTaken(key: string): boolean
  release(): void
}

function poolOf(pools: Pools, except: Service | undefined, dryRun: boolean): Pool {
  const reserved = reservations.get(pools) ?? new Set<string>()
  reservations.set(pools, reserved)
  const taken = new Set<string>()
  for (const service of pools.services()) {
    if (except !== undefined && service.metadata.uid === except.metadata.uid) continue
    for (const key of heldBy(service)) taken.add(key)
  }
  const mine = new Set<string>()
  const isTaken = (key: string) => taken.has(key) || (reserved.has(key) && !mine.has(key))
  return {
    dryRun,
    isTaken: (key) => isTaken(key) || mine.has(key),
    take(key) {
      if (isTaken(key) || mine.has(key)) return false
      mine.add(key)
      reserved.add(key)
      return true
    },
    release() {
      for (const key of mine) reserved.delete(key)
    },
  }
}

function heldBy(service: Service): string[] {
  const spec: ServiceSpec = service.spec ?? {}
  const keys: string[] = []
  for (const ip of spec.clusterIPs ?? []) if (ip !== 'None') keys.push(`ip/${ip}`)
  for (const { nodePort, protocol } of spec.ports ?? [])
    if (nodePort) keys.push(`port/${nodePort}`, `${protocol}/${nodePort}`)
  if (spec.healthCheckNodePort) keys.push(`port/${spec.healthCheckNodePort}`)
  return keys
}

const refuse = (name: string, ...errors: FieldError[]): StatusError =>
  invalidError({ group: '', kind: 'Service' }, name, errors)

/** The service with its addresses and ports; `old` is undefined at creation. Throws a StatusError 422 or 500. */
export function allocate(service: Service, old: Service | undefined, pools: Pools, dryRun = false): Begun {
  const pool = poolOf(pools, old, dryRun)
  try {
    const families = withFamilies(service, old)
    const addressed = withClusterIPs(families, old, pool, pools)
    const ported = (old === undefined ? withNodePorts : withUpdatedNodePorts)(addressed, pool, pools)
    return { object: withHealthCheckPort(ported, pool, pools), finish: pool.release }
  } catch (error) {
    pool.release()
    throw error
  }
}

function withSpec(service: Service, changes: Fields): KubeObject {
  return { ...service, spec: { ...service.spec, ...changes } }
}

/** An update that does not speak of families keeps them. */
function withOldFamilies(service: Service, old: Service): KubeObject {
  const spec: ServiceSpec = service.spec ?? {}
  return withSpec(service, {
    ipFamilyPolicy: spec.ipFamilyPolicy ?? old.spec?.ipFamilyPolicy,
    ipFamilies: spec.ipFamilies?.length ? spec.ipFamilies : old.spec?.ipFamilies,
  })
}

/** ipFamilies and ipFamilyPolicy of a cluster that has IPv4 alone. */
function withFamilies(given: Service, old: Service | undefined): KubeObject {
  if (isExternalName(given)) return given
  const service: Service = old === undefined || isExternalName(old) ? given : withOldFamilies(given, old)
  const name = service.metadata.name ?? ''
  const wrong = validateClusterIPs(service)
  if (wrong.length > 0) throw refuse(name, ...wrong)
  const spec: ServiceSpec = service.spec ?? {}
  const ips: readonly string[] = spec.clusterIPs ?? []
  const policy: string | undefined = spec.ipFamilyPolicy ?? undefined
  let families: readonly string[] = spec.ipFamilies ?? []
  const errors: FieldError[] = []
  if (policy === 'SingleStack') {
    const several = 'must be RequireDualStack or PreferDualStack when multiple'
    if (ips.length === 2) errors.push(invalid('spec.ipFamilyPolicy', policy, `${several} clusterIPs are specified`))
    if (families.length === 2)
      errors.push(invalid('spec.ipFamilyPolicy', policy, `${several} ipFamilies are specified`))
  }
  ips.forEach((ip, i) => {
    if (ip === 'None' || i < families.length) return
    if (ip.includes(':')) errors.push(invalid(`spec.clusterIPs[${i}]`, ips, 'IPv6 is not configured on this cluster'))
    else families = [...families, 'IPv4']
  })
  if (errors.length > 0) throw refuse(name, ...errors)
  if (isHeadlessByClusterIPs(service) && Object.keys(spec.selector ?? {}).length === 0) {
    const wanted = policy ?? 'RequireDualStack'
    const first = families[0] ?? 'IPv4'
    const both =
      families.length < 2 && wanted !== 'SingleStack' ? [first, first === 'IPv4' ? 'IPv6' : 'IPv4'] : undefined
    return withSpec(service, {
      ipFamilyPolicy: wanted,
      ipFamilies: both ?? (families.length > 0 ? families : [first]),
    })
  }
  if (policy === 'RequireDualStack')
    errors.push(invalid('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services'))
  families.forEach((family, i) => {
    if (family !== 'IPv4') errors.push(invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'))
  })
  if (errors.length > 0) throw refuse(name, ...errors)
  return withSpec(service, {
    ipFamilyPolicy: policy ?? 'SingleStack',
    ipFamilies: families.length > 0 ? families : ['IPv4'],
  })
}

function withClusterIPs(service: Service, old: Service | undefined, pool: Pool, pools: Pools): KubeObject {
  if (!needsClusterIP(service) && service.spec?.type !== undefined) return service
  if (isExternalName(service) || isHeadlessByClusterIPs(service)) return service
  if (old !== undefined && !isExternalName(old)) return service
  const wanted: readonly string[] = service.spec?.clusterIPs ?? []
  const one = wanted[0] || undefined
  if (one === undefined) {
    const ip = nextAddress(pool, pools)
    return withSpec(service, { clusterIP: ip, clusterIPs: [ip] })
  }
  const why = whyNotAddress(one, pool, pools.network)
  if (why !== undefined)
    throw refuse(
      service.metadata.name ?? '',
      invalid('spec.clusterIPs', wanted, `failed to allocate IP ${one}: ${why}`),
    )
  return withSpec(service, { clusterIP: one, clusterIPs: wanted })
}

function whyNotAddress(ip: string, pool: Pool, { cidr, base, size }: ServiceNetwork): string | undefined {
  const outOfRange = `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${cidr}`
  const bits = parseIPv4(ip)
  if (bits === undefined || bits < base || bits >= base + size)
    return pool.dryRun ? outOfRange : 'the provided network does not match the current range'
  if (bits === base || bits === base + size - 1) return outOfRange
  return pool.take(`ip/${ip}`) ? undefined : 'provided IP is already allocated'
}

/** A free one, from a random place on, in [low, high) of the pool; undefined when all are taken. */
function nextFree(low: number, high: number, pools: Pools, take: (at: number) => boolean): number | undefined {
  const size = high - low
  const start = Math.floor(pools.random.float() * size)
  for (let i = 0; i < size; i++) {
    const at = low + ((start + i) % size)
    if (take(at)) return at
  }
  return undefined
}

function nextAddress(pool: Pool, pools: Pools): string {
  const { network } = pools
  const take = (offset: number) => pool.take(`ip/${addressAt(network, offset)}`)
  const above = network.staticBand + 1
  const found = nextFree(above, network.size - 1, pools, take) ?? nextFree(1, above, pools, take)
  if (found === undefined) throw internalError(new Error('failed to allocate a serviceIP: range is full'))
  return addressAt(network, found)
}

function whyNotPort(port: number, protocol: string, pool: Pool, { network }: Pools): string | undefined {
  const { first, last } = network.ports
  if (!pool.dryRun && (port < first || port > last))
    return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
  if (pool.isTaken(`port/${port}`)) return 'provided port is already allocated'
  pool.take(`port/${port}`)
  pool.take(`${protocol}/${port}`)
  return undefined
}

function nextPort(pool: Pool, pools: Pools): number {
  const take = (port: number) => pool.take(`port/${port}`)
  const { first, last, staticBand } = pools.network.ports
  const above = first + staticBand
  const found = nextFree(above, last + 1, pools, take) ?? nextFree(first, above, pools, take)
  if (found === undefined) throw internalError(new Error('failed to allocate a nodePort: range is full'))
  return found
}

/** One node port for each port; a port served by several protocols has the same one for all. */
function withNodePorts(service: Service, pool: Pool, pools: Pools): KubeObject {
  if (!mayHaveNodePorts(service)) return service
  const ports: readonly ServicePort[] = service.spec?.ports ?? []
  const byPort = new Map<number, number>()
  const chosen = ports.map((port, i): Fields => {
    const known = byPort.get(port.port)
    const wanted: number | undefined =
      port.nodePort ||
      (known === undefined ? ports.find((p) => p.port === port.port && p.nodePort)?.nodePort : undefined)
    if (!wanted && !allocatesNodePorts(service)) return port
    if (known !== undefined && (!wanted || wanted === known)) return { ...port, nodePort: known }
    const number = wanted ?? nextPort(pool, pools)
    const why = wanted ? whyNotPort(wanted, port.protocol ?? 'TCP', pool, pools) : undefined
    if (why !== undefined) throw refuse(service.metadata.name ?? '', invalid(`spec.ports[${i}].nodePort`, number, why))
    if (known === undefined) byPort.set(port.port, number)
    return { ...port, nodePort: number }
  })
  return withSpec(service, { ports: chosen })
}

/** An update gives every port its own number, and does not ask why two have the same. */
function withUpdatedNodePorts(service: Service, pool: Pool, pools: Pools): KubeObject {
  if (!mayHaveNodePorts(service)) return service
  const ports: readonly ServicePort[] = service.spec?.ports ?? []
  const seen = new Set<string>()
  const chosen = ports.map((port, i): Fields => {
    const wanted: number | undefined = port.nodePort || undefined
    if (wanted === undefined && !allocatesNodePorts(service)) return port
    const number = wanted ?? nextPort(pool, pools)
    const identity = `${port.protocol} ${number}`
    if (seen.has(identity)) throw new StatusError(500, '', `duplicate nodePort: {${identity}}`)
    seen.add(identity)
    const why = wanted === undefined ? undefined : whyNotPort(wanted, port.protocol ?? 'TCP', pool, pools)
    if (why !== undefined) throw refuse(service.metadata.name ?? '', invalid(`spec.ports[${i}].nodePort`, number, why))
    return wanted === undefined ? { ...port, nodePort: number } : port
  })
  return withSpec(service, { ports: chosen })
}

function withHealthCheckPort(service: Service, pool: Pool, pools: Pools): KubeObject {
  if (!needsHealthCheckNodePort(service)) return service
  const wanted: number | undefined = service.spec?.healthCheckNodePort || undefined
  if (wanted === undefined) return withSpec(service, { healthCheckNodePort: nextPort(pool, pools) })
  const why = whyNotPort(wanted, 'TCP', pool, pools)
  if (why !== undefined)
    throw internalError(new Error(`failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`))
  return service
}
