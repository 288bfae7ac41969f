/**
 * What Services take from shared pools: cluster IPs and node ports of the service network. Called by the Service
 * strategy before validation. What is taken is what the stored Services hold and what requests under way have reserved, so
 * there is nothing else to persist or to repair; a reservation ends when its write is visible or has failed.
 */
import { type FieldError, invalid, invalidError } from '../../../api/errors/field-errors.ts'
import type { Service, ServicePort, ServiceSpec } from '../../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { addressAt } from '../../../api/objects/ip-range.ts'
import { internalError, StatusError } from '../../../api/status.ts'
import { same } from '../../../api/validation/common.ts'
import {
  allocatesNodePorts,
  isExternalName,
  isHeadlessByClusterIPs,
  mayHaveNodePorts,
  needsClusterIP,
  needsHealthCheckNodePort,
  validateClusterIPs,
} from '../../../api/validation/service.ts'
import { canonicalIP, familyOf, type IPFamily, otherFamily } from '../../../api/values/ip.ts'
import type { Begun, Pools } from '../strategy.ts'
import { holds, lastOffset, rangeOfFamily, rangesInUse, type ServiceRange } from './service-network.ts'

/** Of a larger range the rest is given only to Services that ask for it. */
const MOST_OFFSETS = 2 ** 40

interface Pool {
  /** A dry run takes no address, and asks of ports only whether they are taken. */
  readonly dryRun: boolean
  take(key: string): boolean
  isTaken(key: string): boolean
  release(): void
}

function poolOf(pools: Pools, except: Service | undefined, dryRun: boolean): Pool {
  const { reserved } = pools
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

/** However it is spelled. */
const addressKey = (ip: string): string => `ip/${canonicalIP(ip) ?? ip}`

function heldBy(service: Service): string[] {
  const spec: ServiceSpec = service.spec ?? {}
  const keys: string[] = []
  for (const ip of spec.clusterIPs ?? []) if (ip !== 'None') keys.push(addressKey(ip))
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
    const families = withFamilies(service, old, pools)
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

/** Under SingleStack the second address and the second family go, where the client left them as they were. */
function withoutSecond(service: Service, old: Service): Service {
  const spec: ServiceSpec = service.spec ?? {}
  const before: ServiceSpec = old.spec ?? {}
  if (spec.ipFamilyPolicy !== 'SingleStack') return service
  const first = <T>(now: readonly T[] | undefined, then: readonly T[] | undefined) =>
    then?.length === 2 && same(now, then) ? then.slice(0, 1) : now
  return withSpec(service, {
    clusterIPs: first(spec.clusterIPs, before.clusterIPs),
    ipFamilies: first(spec.ipFamilies, before.ipFamilies),
  })
}

/** ipFamilies and ipFamilyPolicy, as they follow from what was asked and from what the cluster has (KEP-563). */
function withFamilies(given: Service, old: Service | undefined, { network }: Pools): KubeObject {
  if (isExternalName(given)) return given
  const before = old === undefined || isExternalName(old) ? undefined : old
  const name = given.metadata.name ?? ''
  const whole: Service = before === undefined ? given : withOldFamilies(given, before)
  const wrong = validateClusterIPs(whole)
  if (wrong.length > 0) throw refuse(name, ...wrong)
  const service: Service = before === undefined ? whole : withoutSecond(whole, before)
  const spec: ServiceSpec = service.spec ?? {}
  const ips: readonly string[] = spec.clusterIPs ?? []
  const isFree = isSelectorless(service)
  const policy: string = spec.ipFamilyPolicy ?? (isFree ? 'RequireDualStack' : 'SingleStack')
  const errors: FieldError[] = policyErrors(policy, spec, before?.spec)
  let families: readonly string[] = spec.ipFamilies ?? []
  // Once it has a selector it may have those of the cluster only: what the request does not say gives way.
  const isFreeNoMore = before !== undefined && isSelectorless(before) && !isFree
  if (isFreeNoMore && !given.spec?.ipFamilies?.length) families = families.slice(0, 1)
  ips.forEach((ip, i) => {
    const family = familyOf(ip)
    if (family === undefined || i < families.length) return
    if (rangeOfFamily(network, family) === undefined)
      errors.push(invalid(`spec.clusterIPs[${i}]`, ips, `${family} is not configured on this cluster`))
    else families = [...families, family]
  })
  if (errors.length > 0) throw refuse(name, ...errors)
  const done = (all: readonly string[]) => withSpec(service, { ipFamilyPolicy: policy, ipFamilies: all })
  // What it had before its cluster had two families stays until a write asks for more.
  if (before !== undefined && isAsBefore({ ...spec, ipFamilyPolicy: policy, ipFamilies: families }, before.spec))
    return done(families)
  const first = families[0] ?? network.ranges[0].family
  const both = [first, otherFamily(first as IPFamily)]
  if (isFree) return done(families.length < 2 && policy !== 'SingleStack' ? both : asked(families, first))
  const isDual = network.ranges.length > 1
  if (policy === 'RequireDualStack' && !isDual)
    errors.push(invalid('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services'))
  families.forEach((family, i) => {
    if (rangeOfFamily(network, family as IPFamily) === undefined)
      errors.push(invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'))
  })
  if (errors.length > 0) throw refuse(name, ...errors)
  return done(families.length < 2 && policy !== 'SingleStack' && isDual ? both : asked(families, first))
}

/** Headless, its endpoints made by others: it has the families that it says, whatever the cluster's are. */
const isSelectorless = (service: Service): boolean =>
  isHeadlessByClusterIPs(service) && Object.keys(service.spec?.selector ?? {}).length === 0

const asked = (families: readonly string[], first: string) => (families.length > 0 ? families : [first])

const isAsBefore = (now: ServiceSpec, before: ServiceSpec | undefined): boolean =>
  now.ipFamilyPolicy === 'PreferDualStack' &&
  (['type', 'ipFamilyPolicy', 'ipFamilies', 'clusterIPs'] as const).every((field) => same(now[field], before?.[field]))

/** Two of something under SingleStack, and a second that goes under another policy. */
function policyErrors(policy: string, spec: ServiceSpec, before: ServiceSpec | undefined): FieldError[] {
  const errors: FieldError[] = []
  const judge = (now: number, then: number, what: string, several: string) => {
    if (policy === 'SingleStack') {
      if (now === 2)
        errors.push(
          invalid(
            'spec.ipFamilyPolicy',
            policy,
            `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${several} are specified`,
          ),
        )
    } else if (then === 2 && now === 1)
      errors.push(invalid('spec.ipFamilyPolicy', policy, `must be 'SingleStack' to release the secondary ${what}`))
  }
  judge(spec.clusterIPs?.length ?? 0, before?.clusterIPs?.length ?? 0, 'cluster IP', 'cluster IPs')
  judge(spec.ipFamilies?.length ?? 0, before?.ipFamilies?.length ?? 0, 'IP family', 'IP families')
  return errors
}

function withClusterIPs(service: Service, old: Service | undefined, pool: Pool, pools: Pools): KubeObject {
  if (!needsClusterIP(service) && service.spec?.type !== undefined) return service
  if (isExternalName(service) || isHeadlessByClusterIPs(service)) return service
  const before = old === undefined || isExternalName(old) ? undefined : old
  if (before !== undefined && isHeadlessByClusterIPs(before)) return service
  const families: readonly IPFamily[] = (service.spec?.ipFamilies ?? []) as readonly IPFamily[]
  const given: readonly string[] = service.spec?.clusterIPs ?? []
  const kept = before?.spec?.clusterIPs?.length ?? 0
  // One that should have an address and has none was not made as others are: an update gives it none.
  if (kept >= families.length || (before !== undefined && kept === 0)) return service
  const wanted = families.map((_, i) => given[i] ?? '')
  const chosen = [...wanted]
  // Those that were asked for first: no other may be given one of them.
  for (const isAsked of [true, false])
    families.forEach((family, i) => {
      const ip = wanted[i] ?? ''
      if (i < kept || isAsked !== (ip !== '')) return
      const ranges = rangesInUse(pools.network, pools.serviceCidrs(), family)
      const why = ip === '' ? undefined : whyNotAddress(ip, pool, ranges)
      if (why !== undefined)
        throw refuse(
          service.metadata.name ?? '',
          invalid('spec.clusterIPs', wanted, `failed to allocate IP ${ip}: ${why}`),
        )
      if (ip === '') chosen[i] = nextAddress(service, pool, pools, ranges)
    })
  return withSpec(service, { clusterIP: chosen[0], clusterIPs: chosen })
}

function whyNotAddress(ip: string, pool: Pool, ranges: readonly ServiceRange[]): string | undefined {
  const range = ranges.find((one) => holds(one, ip)) ?? ranges[0]
  if (range === undefined) return 'the provided network does not match the current range'
  const outOfRange = `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${range.cidr}`
  if (!holds(range, ip)) return pool.dryRun ? outOfRange : 'the provided network does not match the current range'
  const canonical = canonicalIP(ip)
  if (canonical === addressAt(range, 0)) return outOfRange
  if (range.family === 'IPv4' && canonical === addressAt(range, range.size - 1n)) return outOfRange
  return pool.dryRun || pool.take(addressKey(ip)) ? undefined : 'provided IP is already allocated'
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

/** A dry run is shown the range's own address, which no Service has. */
function nextAddress(service: Service, pool: Pool, pools: Pools, ranges: readonly ServiceRange[]): string {
  for (const range of ranges) {
    if (pool.dryRun) return addressAt(range, 0)
    const take = (offset: number) => pool.take(addressKey(addressAt(range, offset)))
    const above = range.staticBand + 1
    const end = Math.min(Number(lastOffset(range)) + 1, MOST_OFFSETS)
    const found = nextFree(above, end, pools, take) ?? nextFree(1, above, pools, take)
    if (found !== undefined) return addressAt(range, found)
  }
  const { name = '' } = service.metadata
  throw internalError(new Error(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`))
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

/** 0, which is none, where the range begins with it. */
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
    return number === 0 ? port : { ...port, nodePort: number }
  })
  return withSpec(service, { ports: chosen })
}

/** An update gives every port its own number, and does not ask why two have the same. */
function withUpdatedNodePorts(service: Service, pool: Pool, pools: Pools): KubeObject {
  if (!mayHaveNodePorts(service)) return service
  const ports: readonly ServicePort[] = service.spec?.ports ?? []
  const seen = new Set<string>()
  const taken = new Set<number>()
  const chosen = ports.map((port, i): Fields => {
    const wanted: number | undefined = port.nodePort || undefined
    if (wanted === undefined && !allocatesNodePorts(service)) return port
    const number = wanted ?? nextPort(pool, pools)
    const identity = `${port.protocol} ${number}`
    if (seen.has(identity)) throw new StatusError(500, '', `duplicate nodePort: {${identity}}`)
    seen.add(identity)
    // Several protocols may share one.
    const why =
      wanted === undefined || taken.has(wanted) ? undefined : whyNotPort(wanted, port.protocol ?? 'TCP', pool, pools)
    taken.add(number)
    if (why !== undefined) throw refuse(service.metadata.name ?? '', invalid(`spec.ports[${i}].nodePort`, number, why))
    return wanted === undefined && number > 0 ? { ...port, nodePort: number } : port
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
