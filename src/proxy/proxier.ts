/**
 * The proxy for one family of addresses, as kube-proxy has one for each: a table of that family, what of Services it has been told, and health check
 * node ports at the node's address of the family. proxy.ts says what has changed.
 */
import type { EndpointSlice, Service } from '../api/generated/types.ts'
import type { IPFamily } from '../api/values/ip.ts'
import type { command } from '../base/command.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { rangeOf } from './families.ts'
import { createHealthChecks, healthCheckOf } from './health-checks.ts'
import { keepTable, type TableState } from './keep-table.ts'
import { type ServedPort, servicePorts } from './service-port.ts'
import { rulesOfService } from './service-rules.ts'
import { createServiceTable, SERVICE_RANGES } from './service-table.ts'
import { type Asked, askedOf, forgetArguments, listArguments, parseFlows, staleFlows } from './stale-flows.ts'

/** Where Services are led on this node. */
export interface ProxiedFamily {
  readonly family: IPFamily
  /** Where packets of pods come from. */
  readonly podRanges: readonly string[]
  /** Where NodePorts are open. */
  readonly nodePortAddresses: readonly string[]
}

export interface ProxierOptions extends ProxiedFamily {
  readonly runtime: Runtime
  readonly nodeName: string
  readonly tableName: string
  /** What there is, whenever it is asked for. */
  readonly known: {
    service(key: string): Service | undefined
    slices(key: string): readonly EndpointSlice[]
    /** Of all ServiceCIDRs. */
    serviceRanges(): readonly string[]
    zone(): string | undefined
  }
  readonly run: typeof command
  readonly signal: AbortSignal
}

export interface Proxier {
  /** A Service, its slices, or what it means on this node. */
  changed(key: string): void
  rangesChanged(): void
  /** The first time, in this order: of two Services that want one address the first has it. @throws Error when the kernel does not take it */
  start(keys: readonly string[]): Promise<void>
  state(): TableState
  isHealthy(): boolean
  stopped(): Promise<void>
}

const FORGETTING_AT_ONCE = 8
/** As kube-proxy: twice the time after which all is told again. */
const MOST_BEHIND_MS = 60_000

export function createProxier(options: ProxierOptions): Proxier {
  const { runtime, family, nodeName, tableName, podRanges, nodePortAddresses, known, run, signal } = options
  const table = createServiceTable(tableName, family, podRanges)
  const due = new Set<string>()
  let rangesDue = true
  /** The ports that each Service has now. */
  const ports = new Map<string, readonly ServedPort[]>()
  const isDue = () => due.size > 0 || rangesDue
  const kept = keepTable({ runtime, table, tableName, family, what: 'Services', run, signal, work, isDue })
  const isHealthy = () => kept.state().behindMs < MOST_BEHIND_MS
  const checks = createHealthChecks({ runtime, addresses: nodePortAddresses, isHealthy })

  /** TCP notices by itself. */
  const askedByUdp = (all: readonly ServedPort[]): Asked =>
    new Map(all.filter(({ protocol }) => protocol === 'udp').flatMap((port) => [...askedOf(port, nodePortAddresses)]))

  async function work(tell: () => Promise<void>): Promise<void> {
    if (rangesDue) {
      rangesDue = false
      const cidrs = known.serviceRanges().flatMap((cidr) => rangeOf(cidr, family) ?? [])
      table.fill(SERVICE_RANGES, [...new Set(cidrs)].sort())
    }
    const node = { nodeName, zone: known.zone(), nodePortAddresses, family }
    const asked: Map<string, ReadonlySet<string>> = new Map()
    const keys = [...due]
    due.clear()
    for (const key of keys) {
      const before = ports.get(key) ?? []
      const service = known.service(key)
      const now = service === undefined ? [] : servicePorts(service, known.slices(key), family)
      if (now.length === 0) ports.delete(key)
      else ports.set(key, now)
      const there = new Set(now.map(idOf))
      for (const port of before) if (!there.has(idOf(port))) table.set(idOf(port), undefined)
      for (const port of now) table.set(idOf(port), rulesOfService(port, node))
      checks.set(key, service === undefined ? undefined : healthCheckOf(service, now, nodeName))
      for (const [at, serving] of differences(askedByUdp(before), askedByUdp(now))) asked.set(at, serving)
    }
    await tell()
    if (asked.size > 0) await forgetFlows(asked)
  }

  async function forgetFlows(asked: Asked): Promise<void> {
    try {
      const stale = staleFlows(parseFlows(await run('conntrack', listArguments(family))), asked)
      for (let from = 0; from < stale.length && !signal.aborted; from += FORGETTING_AT_ONCE)
        await Promise.all(
          stale.slice(from, from + FORGETTING_AT_ONCE).map((flow) =>
            // One that has ended by itself in the meantime is what was wanted.
            run('conntrack', forgetArguments(flow, family)).catch(() => {}),
          ),
        )
    } catch (error) {
      runtime.log.info(0, 'Flows of UDP to former endpoints were not forgotten', { err: messageOf(error) })
    }
  }

  return {
    changed(key) {
      due.add(key)
      kept.changed()
    },
    rangesChanged() {
      rangesDue = true
      kept.changed()
    },
    async start(keys) {
      for (const key of keys) due.add(key)
      await kept.start()
    },
    state: kept.state,
    isHealthy,
    async stopped() {
      await Promise.all([kept.stopped(), checks.stop()])
    },
  }
}

const idOf = ({ key, protocol }: ServedPort) => `${key}/${protocol}`

/** What is gone is answered by nothing; what is there, by what serves. */
function differences(before: Asked, now: Asked): Asked {
  const changed = new Map<string, ReadonlySet<string>>()
  for (const at of before.keys()) if (!now.has(at)) changed.set(at, new Set())
  for (const [at, serving] of now) {
    const old = before.get(at)
    if (old?.size !== serving.size || serving.difference(old).size > 0) changed.set(at, serving)
  }
  return changed
}
