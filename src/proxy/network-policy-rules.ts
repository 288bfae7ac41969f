/**
 * What nftables must hold for NetworkPolicies (API concept: NetworkPolicy): a chain for what each policy allows, and for each pod that one
 * selects a chain that asks all of them and drops the rest. All of it is of one family of addresses: a pod of two is in two tables. Pure functions; names of chains are hashes, everything else was checked.
 */
import { createHash } from 'node:crypto'
import type {
  IPBlock,
  LabelSelector,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../api/generated/types.ts'
import { type CompiledSelector, labelSelectorOf } from '../api/objects/label-selector.ts'
import type { IPFamily } from '../api/values/ip.ts'
import { addressOf, rangeOf, WORDS } from './families.ts'
import { createTable, type Element, type NftTable, type Rules } from './table.ts'

/** A pod as policies see it; one of a host's network is none. */
export interface PolicyPod {
  readonly key: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly address: string
  /** On this node. */
  readonly isLocal: boolean
  readonly namedPorts: readonly { readonly name: string; readonly protocol: string; readonly port: number }[]
}

export type Direction = 'ingress' | 'egress'

interface PodPeer {
  /** Undefined: the policy's own namespace. */
  readonly namespaces: CompiledSelector | undefined
  readonly pods: CompiledSelector
}

interface Allowed {
  readonly direction: Direction
  /** Every peer: neither pods nor blocks are named. */
  readonly isAnyPeer: boolean
  readonly pods: readonly PodPeer[]
  readonly blocks: readonly IPBlock[]
  readonly ports: readonly NetworkPolicyPort[]
}

/** A policy, read once. */
export interface ReadPolicy {
  readonly key: string
  readonly namespace: string
  readonly selector: CompiledSelector
  readonly directions: readonly Direction[]
  readonly allowed: readonly Allowed[]
}

export function readPolicy({ metadata, spec }: NetworkPolicy): ReadPolicy {
  const { name, namespace = '' } = metadata
  const types = spec?.policyTypes ?? (spec?.egress === undefined ? ['Ingress'] : ['Ingress', 'Egress'])
  const directions: Direction[] = []
  if (types.includes('Ingress')) directions.push('ingress')
  if (types.includes('Egress')) directions.push('egress')
  const of = (
    direction: Direction,
    peers: readonly NetworkPolicyPeer[] = [],
    ports: readonly NetworkPolicyPort[] = [],
  ) => ({
    direction,
    isAnyPeer: peers.length === 0,
    pods: peers.flatMap((peer) => (peer.ipBlock === undefined ? podPeer(peer) : [])),
    blocks: peers.flatMap(({ ipBlock }) => ipBlock ?? []),
    ports,
  })
  return {
    key: `${namespace}/${name}`,
    namespace,
    selector: selectorOf(spec?.podSelector),
    directions,
    allowed: [
      ...(directions.includes('ingress')
        ? (spec?.ingress ?? []).map(({ from, ports }) => of('ingress', from, ports))
        : []),
      ...(directions.includes('egress') ? (spec?.egress ?? []).map(({ to, ports }) => of('egress', to, ports)) : []),
    ],
  }
}

const selectorOf = (selector: LabelSelector | undefined): CompiledSelector => labelSelectorOf(selector ?? {})

const podPeer = ({ podSelector, namespaceSelector }: NetworkPolicyPeer): PodPeer => ({
  namespaces: namespaceSelector === undefined ? undefined : selectorOf(namespaceSelector),
  pods: selectorOf(podSelector),
})

export const policySelects = ({ namespace, selector }: ReadPolicy, pod: PolicyPod): boolean =>
  pod.namespace === namespace && selector.matches(pod.labels)

type Labels = Readonly<Record<string, string>>

/** `labelsOf`: of a namespace; undefined where there is none. */
export const isPeer = (
  { namespace, allowed }: ReadPolicy,
  pod: PolicyPod,
  labelsOf: (namespace: string) => Labels | undefined,
): boolean => allowed.some(({ pods }) => pods.some((peer) => isPodPeer(peer, namespace, pod, labelsOf)))

function isPodPeer(
  { namespaces, pods }: PodPeer,
  own: string,
  pod: PolicyPod,
  labelsOf: (namespace: string) => Labels | undefined,
): boolean {
  if (namespaces === undefined) return pod.namespace === own && pods.matches(pod.labels)
  const labels = labelsOf(pod.namespace)
  return labels !== undefined && namespaces.matches(labels) && pods.matches(pod.labels)
}

export interface Surroundings {
  /** Of all these pods' addresses, and of the table. */
  readonly family: IPFamily
  labelsOf(namespace: string): Labels | undefined
  namespaces(): Iterable<string>
  podsIn(namespace: string): Iterable<PolicyPod>
}

const PREFIX: Readonly<Record<Direction, string>> = { ingress: 'from', egress: 'to' }
const chainOf = (policy: ReadPolicy, direction: Direction) => `${PREFIX[direction]}-${hash(policy.key)}`
/** What an allowed packet is asked next: of one that leaves a pod, whether it may come in where it goes. */
const VERDICT: Readonly<Record<Direction, string>> = { ingress: 'accept', egress: 'goto check-ingress' }
const SIDE: Readonly<Record<Direction, string>> = { ingress: 'saddr', egress: 'daddr' }

export function policyRules(policy: ReadPolicy, around: Surroundings): Rules {
  const { ip, type } = WORDS[around.family]
  const chains = new Map<string, string[]>(policy.directions.map((direction) => [chainOf(policy, direction), []]))
  const sets = new Map<string, string>()
  const elements: Element[] = []
  for (const [i, allowed] of policy.allowed.entries()) {
    const { direction } = allowed
    const id = `${hash(policy.key)}-${i}`
    const peers = allowed.pods.flatMap((peer) => podsOf(peer, policy.namespace, around))
    const sources = allowed.isAnyPeer
      ? ['']
      : allowed.blocks.flatMap((block) => blockMatch(block, SIDE[direction], around.family))
    if (allowed.pods.length > 0) {
      sets.set(`pods-${id}`, `type ${type};`)
      for (const { address } of peers) elements.push({ set: `pods-${id}`, key: address, value: '', rank: 0 })
      sources.push(`${ip} ${SIDE[direction]} @pods-${id} `)
    }
    // A named port is another number for each pod that is reached.
    const reached = direction === 'ingress' ? selectedPods(policy, around) : peersReached(allowed, peers, around)
    const ports = allowed.ports.length === 0 ? [''] : allowed.ports.flatMap(portMatch)
    const named = allowed.ports.filter(({ port }) => typeof port === 'string')
    if (named.length > 0) {
      sets.set(`ports-${id}`, `type ${type} . inet_proto . inet_service;`)
      for (const pod of reached)
        for (const one of pod.namedPorts)
          if (named.some(({ port, protocol = 'TCP' }) => port === one.name && protocol === one.protocol))
            elements.push({
              set: `ports-${id}`,
              key: `${pod.address} . ${one.protocol.toLowerCase()} . ${one.port}`,
              value: '',
              rank: 0,
            })
      ports.push(`${ip} daddr . meta l4proto . th dport @ports-${id} `)
    }
    const rules = sources.flatMap((source) => ports.map((port) => `${source}${port}${VERDICT[direction]}`))
    chains.get(chainOf(policy, direction))?.push(...rules)
  }
  return { chains, sets, elements }
}

const podsOf = (peer: PodPeer, own: string, around: Surroundings): readonly PolicyPod[] => {
  const namespaces = peer.namespaces === undefined ? [own] : [...around.namespaces()]
  return namespaces.flatMap((namespace) =>
    [...around.podsIn(namespace)].filter((pod) => isPodPeer(peer, own, pod, around.labelsOf)),
  )
}

const selectedPods = (policy: ReadPolicy, around: Surroundings) =>
  [...around.podsIn(policy.namespace)].filter((pod) => policy.selector.matches(pod.labels))

/** By an address block, or where every peer is meant, any pod is reached. */
const peersReached = ({ isAnyPeer, blocks }: Allowed, peers: readonly PolicyPod[], around: Surroundings) =>
  isAnyPeer || blocks.length > 0 ? [...around.namespaces()].flatMap((name) => [...around.podsIn(name)]) : peers

function blockMatch({ cidr, except = [] }: IPBlock, side: string, family: IPFamily): readonly string[] {
  const { ip } = WORDS[family]
  const block = rangeOf(cidr, family)
  if (block === undefined) return []
  const excepted = except.flatMap((range) => rangeOf(range, family) ?? [])
  return [`${ip} ${side} ${block} ${excepted.map((range) => `${ip} ${side} != ${range} `).join('')}`]
}

const PROTOCOLS: readonly string[] = ['TCP', 'UDP', 'SCTP']

function portMatch({ protocol = 'TCP', port, endPort }: NetworkPolicyPort): readonly string[] {
  if (!PROTOCOLS.includes(protocol) || typeof port === 'string') return []
  const l4 = `meta l4proto ${protocol.toLowerCase()} `
  if (port === undefined) return [l4]
  return [`${l4}th dport ${endPort === undefined ? port : `${port}-${endPort}`} `]
}

/** Of a pod of this node that is there; undefined where no policy selects it. `policies`: those of its namespace. */
export function podRules(pod: PolicyPod, policies: Iterable<ReadPolicy>, family: IPFamily): Rules | undefined {
  const these = [...policies].filter((policy) => policySelects(policy, pod))
  const chains = new Map<string, readonly string[]>()
  const elements: Element[] = []
  for (const direction of ['ingress', 'egress'] as const) {
    const asked = these.filter(({ directions }) => directions.includes(direction))
    if (asked.length === 0) continue
    const chain = `pod-${PREFIX[direction]}-${hash(pod.key)}`
    chains.set(chain, [
      // Nothing keeps a pod from itself.
      `${WORDS[family].ip} ${SIDE[direction]} ${pod.address} accept`,
      ...asked.map((policy) => `jump ${chainOf(policy, direction)}`),
      'drop',
    ])
    elements.push({ set: direction, key: pod.address, value: `goto ${chain}`, rank: 0 })
  }
  return chains.size === 0 ? undefined : { chains, sets: new Map(), elements }
}

/** The cluster's own server on another machine, which pods of its own machine reach whatever policies say. */
export interface ClusterServer {
  readonly address: string
  readonly port: number
}

/** By these the two ends of a link find one another: without them nothing passes it. They come from no further than the link. */
const NEIGHBOURS = 'nd-neighbor-solicit, nd-neighbor-advert'
/** What a pod could tell the machine to send elsewhere by. */
const LEADS = 'nd-router-advert, nd-redirect'

/**
 * What goes to and from the machine itself is always allowed, and passes none of this. A pod is known by its address: what comes
 * out of its interface under an address that does not lead back there is dropped, whether a policy selects it or not.
 */
export function createPolicyTable(name: string, family: IPFamily, servers: readonly ClusterServer[] = []): NftTable {
  const { ip, type } = WORDS[family]
  const own = servers.flatMap(({ address, port }) => ({ address: addressOf(address, family), port }))
  const neighbours = `    icmpv6 type { ${NEIGHBOURS} } accept\n`
  const ofLinks = `    iifname "veth*" icmpv6 type { ${LEADS} } drop\n${neighbours}`
  return createTable({
    name,
    family,
    body: () => `  map ingress { type ${type} : verdict; }
  map egress { type ${type} : verdict; }
  chain check-ingress {
    ${ip} daddr vmap @ingress
    accept
  }
  chain forged {
    type filter hook prerouting priority raw
${family === 'IPv6' ? ofLinks : ''}    iifname "veth*" fib saddr . iif oif missing drop
  }
  chain forward {
    type filter hook forward priority filter - 5
${family === 'IPv6' ? neighbours : ''}    ct state established,related accept
${own
  .filter(({ address }) => address !== undefined)
  .map(({ address, port }) => `    meta l4proto { tcp, udp } ${ip} daddr ${address} th dport ${port} accept\n`)
  .join('')}    ${ip} saddr vmap @egress
    goto check-ingress
  }
`,
  })
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
