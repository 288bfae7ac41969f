/**
 * dns: the names of the cluster for the pods of a real node. Started by the cluster; it knows the API by its client. zone.ts says what a name
 * means, read-message.ts and write-message.ts know their bytes, forward.ts asks the machine's name servers for all other names, server.ts has the sockets,
 * objects.ts the Service and the slice by which pods find it.
 */
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { EndpointSlice, Service } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { isWithin, parseIPRange, rangeOfAddress } from '../api/objects/ip-range.ts'
import { canonicalIP } from '../api/values/ip.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createInformerFactory } from '../client/informer.ts'
import { createForwarder, ForwardError, type Forwarder } from './forward.ts'
import { dnsMetrics, serveDnsHealth } from './own-health.ts'
import { type Answer, CLASS_IN, EDNS_SIZE, PLAIN_SIZE, parseForeign, type Query, RCODE, TYPE } from './read-message.ts'
import { openSockets } from './server.ts'
import { questionOf, writeAnswer } from './write-message.ts'
import { answerOf, type Names } from './zone.ts'

export interface DnsOptions {
  readonly runtime: Runtime
  readonly client: Client
  /** Where it listens: an address of each family that Services have. */
  readonly addresses: readonly string[]
  /** The addresses that the cluster knows it by. */
  readonly serviceAddresses: readonly string[]
  /** Where packets of pods come from. */
  readonly podRanges: readonly string[]
  readonly signal: AbortSignal
  /** Of the machine's resolver. */
  readonly resolvConf?: string
  /** In this order; 0: any. */
  readonly ports?: readonly number[]
}

export interface DnsServer {
  readonly port: number
  /** Resolves when its sockets are closed. */
  stop(): Promise<void>
}

export const CLUSTER_DOMAIN = 'cluster.local'
const SERVICES = { group: '', version: 'v1', resource: 'services' }
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
const SERVICE_NAME = 'kubernetes.io/service-name'
const BY_SERVICE = 'service'
const BY_ADDRESS = 'address'
/** Where 53 is another's, any will do: pods ask the Service. */
const PORTS = [53, 0, 0, 0]
const QUERY = 0
const TRANSFERS: readonly number[] = [251, 252]
const TCP_SIZE = 65_535

/** Resolves once it answers. @throws Error when it cannot listen */
export async function startDns(options: DnsOptions): Promise<DnsServer> {
  const { runtime, client, addresses, serviceAddresses, signal } = options
  const factory = createInformerFactory(runtime, client, signal)
  const services = factory.informer<Service>(SERVICES)
  const slices = factory.informer<EndpointSlice>(SLICES)
  const namespaces = factory.informer<KubeObject>(NAMESPACES, { metadataOnly: true })
  const spelled = (texts: readonly string[]) => [...new Set(texts.flatMap((ip) => canonicalIP(ip) ?? []))]
  services.addIndex(BY_ADDRESS, ({ spec }) => spelled(spec?.clusterIPs ?? []))
  slices.addIndex(BY_SERVICE, ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`])
  slices.addIndex(BY_ADDRESS, ({ endpoints }) => spelled((endpoints ?? []).flatMap((one) => one.addresses)))
  factory.start()
  await factory.whenSynced(signal)

  const names: Names = {
    domain: CLUSTER_DOMAIN,
    servers: serviceAddresses,
    service: (namespace, name) => services.store.get(`${namespace}/${name}`),
    slices: (namespace, name) => slices.store.byIndex(BY_SERVICE, `${namespace}/${name}`),
    hasNamespace: (name) => namespaces.store.get(name) !== undefined,
    servicesByAddress: (ip) => services.store.byIndex(BY_ADDRESS, ip),
    slicesByAddress: (ip) => slices.store.byIndex(BY_ADDRESS, ip),
    serial: () => Math.floor(runtime.clock.now() / 1000),
  }
  const own = new Set([...addresses, ...serviceAddresses])
  const nameServers = machineServers(options.resolvConf ?? '/etc/resolv.conf', own)
  const forwarder = createForwarder({ runtime, servers: nameServers, signal })
  const shuffled = <T>(values: readonly T[]): readonly T[] => {
    const from = Math.floor(runtime.random.float() * values.length)
    return [...values.slice(from), ...values.slice(0, from)]
  }
  const metrics = dnsMetrics()
  const answer = async (query: Query, protocol: 'udp' | 'tcp') => {
    const begun = runtime.machineClock.monotonic()
    const bytes = await respond(query, protocol, names, forwarder, shuffled)
    metrics.answered(protocol, bytes, (runtime.machineClock.monotonic() - begun) / 1000)
    return bytes
  }
  const sockets = await openSockets({
    runtime,
    addresses,
    ports: options.ports ?? PORTS,
    isAllowed: allowing(options.podRanges),
    answer,
  })
  const endHealth = await serveDnsHealth(runtime, addresses, metrics)
  return {
    port: sockets.port,
    async stop() {
      await Promise.all([sockets.close(), endHealth()])
    },
  }
}

const plain = (rcode: number): Answer => ({
  ...{ rcode, authoritative: false, recursionAvailable: false, answers: [], authority: [], additional: [] },
})

/** The bytes of an answer to a question of any kind. */
export async function respond(
  query: Query,
  protocol: 'udp' | 'tcp',
  names: Names,
  forwarder: Pick<Forwarder, 'ask'>,
  shuffled: <T>(values: readonly T[]) => readonly T[],
): Promise<Uint8Array> {
  const { edns } = query
  const bySize = edns === undefined ? PLAIN_SIZE : Math.min(Math.max(edns.size, PLAIN_SIZE), EDNS_SIZE)
  const limit = protocol === 'tcp' ? TCP_SIZE : bySize
  const write = (answer: Answer) => writeAnswer(query, answer, limit)
  if (query.opcode !== QUERY) return write(plain(RCODE.notImplemented))
  if (edns !== undefined && edns.version !== 0) return write(plain(RCODE.badVersion))
  if (query.class !== CLASS_IN || TRANSFERS.includes(query.type)) return write(plain(RCODE.refused))
  const found = answerOf(query.name, query.type, names, shuffled)
  try {
    if (found === undefined) return adapted(await forwarder.ask(query, protocol), query)
    if (found.alias === undefined || query.type === TYPE.CNAME) return write(found)
    const { alias } = found
    const within = answerOf(alias, query.type, names, shuffled)
    if (within !== undefined)
      return write(within.answers.length === 0 ? within : { ...found, answers: [...found.answers, ...within.answers] })
    const asked = { ...query, question: questionOf(alias, query.type), edns: undefined }
    const { answers } = parseForeign(await forwarder.ask(asked, 'udp'))
    return write({ ...found, answers: [...found.answers, ...answers] })
  } catch (error) {
    if (!(error instanceof ForwardError)) throw error
    // The target of an alias that no server tells of stays the client's to find.
    return write(found ?? plain(error.rcode))
  }
}

/** Another client's answer becomes this one's: its id, its question letter by letter, its wish for recursion. */
function adapted(bytes: Uint8Array, { id, question, recursionDesired }: Query): Uint8Array {
  bytes[0] = id >> 8
  bytes[1] = id & 0xff
  bytes[2] = ((bytes[2] ?? 0) & 0xfe) | (recursionDesired ? 1 : 0)
  bytes.set(question, 12)
  return bytes
}

/** Pods, and the machine itself by any of its addresses. */
export function allowing(podRanges: readonly string[]): (source: string) => boolean {
  const ranges = podRanges.flatMap((range) => parseIPRange(range) ?? [])
  return (source) => {
    const address = rangeOfAddress(source)
    if (address === undefined) return false
    if (ranges.some((range) => isWithin(address, range))) return true
    return Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === source))
  }
}

/** Of the machine's resolver, read anew when it changes: a laptop wanders between networks. */
function machineServers(file: string, own: ReadonlySet<string>): () => readonly string[] {
  let seen = Number.NaN
  let servers: readonly string[] = []
  return () => {
    try {
      const { mtimeMs } = statSync(file)
      if (mtimeMs !== seen) {
        seen = mtimeMs
        servers = nameServersOf(readFileSync(file, 'utf8')).filter((server) => !own.has(server))
      }
    } catch {
      seen = Number.NaN
      servers = []
    }
    return servers
  }
}

export const nameServersOf = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => {
    const [word, server = ''] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/)
    return word === 'nameserver' && isIP(server) !== 0 ? server : []
  })
