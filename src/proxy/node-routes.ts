/**
 * Leads what is sent to pods of other nodes there: a route to each of a Node's spec.podCIDRs by its address of that family, where that is on a link of this
 * machine, as for the nodes that share a machine or a network. What is behind other machines goes the way that this machine knows.
 *
 * A Node is asked, not trusted: only ranges within the cluster's are routed, never this node's own, and of Nodes that claim the same
 * addresses the oldest has them. What one Node tells keeps no other from its route.
 */
import type { Node } from '../api/generated/types.ts'
import { isWithin, overlap, parseIPRange, rangeOfAddress } from '../api/objects/ip-range.ts'
import { command } from '../base/command.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createInformerFactory } from '../client/informer.ts'

export interface NodeRouteOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  /** What pods of all nodes have their addresses of: a range of each family. */
  readonly clusterRanges: readonly string[]
  /** Of this machine's interfaces, with the length of their networks. */
  readonly links: () => readonly string[]
  readonly signal: AbortSignal
  /** Runs ip. Default: this machine's. */
  readonly run?: typeof command
}

const NODES = { group: '', version: 'v1', resource: 'nodes' }
const RETRY_MS = 5000

/** Resolves once the routes to the nodes that there are have been made. */
export async function startNodeRoutes(options: NodeRouteOptions): Promise<{ stopped(): Promise<void> }> {
  const { runtime, client, signal, run = command } = options
  const { clock, log } = runtime
  const factory = createInformerFactory(runtime, client, signal)
  const nodes = factory.informer<Node>(NODES)
  const made = new Map<string, string>()
  /** Why a range has no route yet, as it was logged. */
  const failures = new Map<string, string>()
  let again: { cancel(): void } | undefined
  let running: Promise<void> | undefined
  let isDue = false

  async function tell(): Promise<void> {
    const wanted = wantedRoutes(nodes.store.list(), options)
    for (const [range, by] of made)
      if (!wanted.has(range)) {
        made.delete(range)
        // One that went with its link is what was wanted.
        await run('ip', ['route', 'delete', range, 'via', by]).catch(() => {})
      }
    for (const range of failures.keys()) if (!wanted.has(range)) failures.delete(range)
    for (const [range, by] of wanted) {
      if (made.get(range) === by) continue
      try {
        await run('ip', ['route', 'replace', range, 'via', by])
        made.set(range, by)
        failures.delete(range)
      } catch (error) {
        const err = messageOf(error)
        if (failures.get(range) !== err)
          log.info(0, 'A route to a node was not made', { range, via: by, err, retryMs: RETRY_MS })
        failures.set(range, err)
      }
    }
    if (failures.size > 0) retry()
  }

  /** Later looks take the place of the earlier: however often Nodes change, one is due. */
  function retry(): void {
    again?.cancel()
    if (!signal.aborted) again = clock.setTimer(RETRY_MS, 'routes to nodes', changed)
  }

  function changed(): void {
    isDue = true
    if (running !== undefined || signal.aborted) return
    isDue = false
    running = tell()
      .catch((error: unknown) => {
        log.info(0, 'The routes to nodes were not looked at', { err: messageOf(error), retryMs: RETRY_MS })
        retry()
      })
      .finally(() => {
        running = undefined
        if (isDue) changed()
      })
  }
  signal.addEventListener('abort', () => again?.cancel(), { once: true })

  nodes.addHandlers({
    added: changed,
    updated(before, now) {
      if (placeOf(before) !== placeOf(now) || ageOf(before) !== ageOf(now)) changed()
    },
    deleted: changed,
  })
  factory.start()
  await factory.whenSynced(signal)
  while (running !== undefined) await running
  return {
    async stopped() {
      await running
    },
  }
}

type Place = Pick<NodeRouteOptions, 'nodeName' | 'clusterRanges' | 'links'>

/** By the range, the address that leads there. */
export const wantedRoutes = (nodes: readonly Node[], { clusterRanges, ...place }: Place): ReadonlyMap<string, string> =>
  new Map(clusterRanges.flatMap((range) => [...wantedIn(range, nodes, place)]))

function wantedIn(
  clusterRange: string,
  nodes: readonly Node[],
  { nodeName, links }: Omit<Place, 'clusterRanges'>,
): ReadonlyMap<string, string> {
  const whole = parseIPRange(clusterRange)
  const own = links()
  const onLink = own.flatMap((link) => parseIPRange(link) ?? [])
  const isOwn = (address: string) => own.some((link) => link.startsWith(`${address}/`))
  const byAge = nodes.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
  const isSelf = ({ metadata }: Node) => metadata.name === nodeName
  const ranges = (node: Node) =>
    rangesOf(node).flatMap((cidr) => {
      const range = parseIPRange(cidr)
      return range === undefined || range.family !== whole?.family ? [] : { cidr, range }
    })
  const taken = byAge.filter(isSelf).flatMap((node) => ranges(node).map(({ range }) => range))
  const wanted = new Map<string, string>()
  for (const node of byAge) {
    const address = addressesOf(node).find((one) => rangeOfAddress(one)?.family === whole?.family) ?? ''
    const by = rangeOfAddress(address)
    const [first] = ranges(node)
    if (isSelf(node) || whole === undefined || first === undefined || by === undefined) continue
    const { cidr, range } = first
    if (!isWithin(range, whole) || taken.some((one) => overlap(one, range))) continue
    if (isOwn(address) || !onLink.some((link) => isWithin(by, link))) continue
    taken.push(range)
    wanted.set(cidr, address)
  }
  return wanted
}

/** Sorts the oldest first; of the same second, by name. */
const ageOf = ({ metadata: { creationTimestamp = '', name = '' } }: Node): string => `${creationTimestamp} ${name}`

const rangesOf = ({ spec }: Node): readonly string[] => spec?.podCIDRs ?? [spec?.podCIDR ?? '']

const addressesOf = ({ status }: Node): readonly string[] =>
  (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address)

const placeOf = (node: Node): string => [...rangesOf(node), ...addressesOf(node)].join(' ')
