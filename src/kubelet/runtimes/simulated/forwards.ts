/**
 * Where the ports of a simulated pod lead: to programs on the machine of its kubelet, as the pod's annotation `forward` says, and only to
 * addresses that the administrator lists (`--sim-forward`).
 */
import { lookup } from 'node:dns/promises'
import type { Duplex } from 'node:stream'
import { canonicalIP } from '../../../api/values/ip.ts'
import type { Clock } from '../../../base/clock.ts'
import { messageOf } from '../../../base/errors.ts'
import { connectTo } from '../../../http/dial.ts'
import { RuntimeError } from '../runtime.ts'
import { createNameLookups } from './name-lookups.ts'

/** Ports of one address. */
export interface AddressRange {
  /** In its canonical form. */
  readonly ip: string
  readonly first: number
  readonly last: number
}

export interface ForwardTarget {
  /** An address, or a name. */
  readonly host: string
  readonly port: number
}

const portOf = (text: string): number | undefined => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port > 0 && port < 65536 ? port : undefined
}

/** HOST:REST; brackets of an IPv6 address are taken off. */
function hostAndRest(text: string): readonly [string, string] | undefined {
  const [, six, plain, rest] = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(.+)$/.exec(text.trim()) ?? []
  const host = six ?? plain
  return host === undefined || rest === undefined ? undefined : [host, rest]
}

/** `127.0.0.1:3000-3999`, `[::1]:8080`. @throws Error */
export function readAddressRange(text: string): AddressRange {
  const [host = '', ports = ''] = hostAndRest(text) ?? []
  const ip = canonicalIP(host === 'localhost' ? '127.0.0.1' : host)
  const [first, last, ...rest] = ports.split('-').map(portOf)
  if (ip === undefined || first === undefined || rest.length > 0 || (ports.includes('-') && (last ?? 0) < first))
    throw new Error(`${JSON.stringify(text)} is no address with ports: write 127.0.0.1:3000 or 127.0.0.1:3000-3999`)
  return { ip, first, last: last ?? first }
}

/** `80=127.0.0.1:3000, 443=localhost:3001`: ports of the pod, and where they lead. @throws Error */
export function readForwards(text: string): ReadonlyMap<number, ForwardTarget> {
  const forwards = new Map<number, ForwardTarget>()
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [own = '', to = '', ...rest] = part.split('=').map((one) => one.trim())
    const port = portOf(own)
    const [host, toPort] = hostAndRest(to) ?? []
    const target = toPort === undefined ? undefined : portOf(toPort)
    if (port === undefined || host === undefined || target === undefined || rest.length > 0)
      throw new Error(`${JSON.stringify(part.trim())} says no port and where it leads: write 80=127.0.0.1:3000`)
    if (forwards.has(port)) throw new Error(`port ${port} is there twice`)
    forwards.set(port, { host, port: target })
  }
  return forwards
}

const isListed = (ranges: readonly AddressRange[], ip: string | undefined, port: number): boolean =>
  ranges.some((range) => range.ip === ip && range.first <= port && port <= range.last)

/** The names of all kubelets of the process: they share its threads. */
const addressesOf = createNameLookups(async (name) => (await lookup(name, { all: true })).map(({ address }) => address))

/** What keeps a target from being reached, as far as that is known before its name is resolved: with a port that no listed address has, it is not. */
export function forwardProblem({ host, port }: ForwardTarget, ranges: readonly AddressRange[]): string | undefined {
  const ip = canonicalIP(host)
  if (ip === undefined ? ranges.some((range) => isListed(ranges, range.ip, port)) : isListed(ranges, ip, port))
    return undefined
  const none = 'no addresses are listed to which simulated pods may lead (--sim-forward)'
  return ranges.length === 0 ? none : unlisted({ host, port })
}

const unlisted = ({ host, port }: ForwardTarget): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port} is not among the addresses to which simulated pods may lead (--sim-forward)`

/** A name is resolved once, in the machine's time, and what was judged is what is connected to. @throws RuntimeError */
export async function connectForward(
  target: ForwardTarget,
  ranges: readonly AddressRange[],
  machineClock: Clock,
  signal: AbortSignal,
): Promise<Duplex> {
  const problem = forwardProblem(target, ranges)
  if (problem !== undefined) throw new RuntimeError(problem)
  const own = canonicalIP(target.host)
  const addresses = own === undefined ? await resolved(target.host, machineClock, signal) : [own]
  const ip = addresses.find((address) => isListed(ranges, address, target.port))
  if (ip === undefined) throw new RuntimeError(unlisted(target))
  try {
    return await connectTo({ host: ip, port: target.port, signal })
  } catch (cause) {
    throw new RuntimeError(`failed to connect to ${ip}:${target.port}: ${messageOf(cause)}`)
  }
}

async function resolved(name: string, clock: Clock, signal: AbortSignal): Promise<readonly (string | undefined)[]> {
  try {
    return (await addressesOf(name, clock, signal)).map(canonicalIP)
  } catch (error) {
    if (error instanceof RuntimeError || signal.aborted) throw error
    throw new RuntimeError(`${name} cannot be resolved`)
  }
}
