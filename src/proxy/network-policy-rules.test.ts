import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicySpec } from '../api/generated/types.ts'
import {
  createPolicyTable,
  type PolicyPod,
  podRules,
  policyRules,
  readPolicy,
  type Surroundings,
} from './network-policy-rules.ts'

const pod = (
  namespace: string,
  name: string,
  address: string,
  app: string,
  more: Partial<PolicyPod> = {},
): PolicyPod => ({
  ...{ key: `${namespace}/${name}`, namespace, labels: { app }, address, isLocal: true, namedPorts: [] },
  ...more,
})
const WEB = { name: 'web', protocol: 'TCP', port: 8080 }
const PODS = [
  pod('n', 'a', '10.0.0.1', 'web', { namedPorts: [WEB] }),
  pod('n', 'b', '10.0.0.2', 'web', { namedPorts: [{ ...WEB, port: 9090 }] }),
  pod('n', 'c', '10.0.0.3', 'client'),
  pod('other', 'd', '10.0.0.4', 'client'),
]
const around: Surroundings = {
  family: 'IPv4',
  labelsOf: (namespace) => ({ n: { team: 'one' }, other: { team: 'two' } })[namespace],
  namespaces: () => ['n', 'other'],
  podsIn: (namespace) => PODS.filter((one) => one.namespace === namespace),
}
const APP = (app: string) => ({ matchLabels: { app } })
const policy = (spec: Partial<NetworkPolicySpec>) =>
  readPolicy({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'p', namespace: 'n' },
    spec: { podSelector: APP('web'), ...spec },
  })
/** The rules, and what is in their sets, without hashes. */
function rules(spec: Partial<NetworkPolicySpec>) {
  const { chains, elements } = policyRules(policy(spec), around)
  const plain = (text: string) => text.replace(/-[0-9a-f]{16}/g, '')
  return {
    chains: Object.fromEntries([...chains].map(([name, lines]) => [plain(name), lines.map(plain)])),
    elements: elements.map(({ set, key }) => `${plain(set)} ${key}`),
  }
}

test('a policy that allows nothing lets nothing in, and says nothing of what goes out', () => {
  assert.deepEqual(rules({}), { chains: { from: [] }, elements: [] })
  const { chains } = podRules(PODS[0]!, [policy({})], 'IPv4') ?? assert.fail()
  assert.deepEqual(
    [...chains.values()].map((lines) => lines.map((line) => line.replace(/-[0-9a-f]{16}/, ''))),
    [['ip saddr 10.0.0.1 accept', 'jump from', 'drop']],
  )
  assert.equal(podRules(PODS[2]!, [policy({})], 'IPv4'), undefined, 'a pod that it does not select')
})

test('peers are pods of this namespace, of others by their labels, and of all of a namespace', () => {
  const from = (...peers: object[]) => rules({ ingress: [{ from: peers }] })
  const own = from({ podSelector: APP('client') })
  assert.deepEqual(own.chains, { from: ['ip saddr @pods-0 accept'] })
  assert.deepEqual(own.elements, ['pods-0 10.0.0.3'])
  const both = from({ podSelector: APP('client'), namespaceSelector: { matchLabels: { team: 'two' } } })
  assert.deepEqual(both.elements, ['pods-0 10.0.0.4'])
  assert.deepEqual(from({ namespaceSelector: {} }).elements.length, 4)
  assert.deepEqual(rules({ ingress: [{}] }).chains, { from: ['accept'] }, 'no peers: all')
})

test('ports are numbers, ranges or names, which each pod that is reached has its own number for', () => {
  const ports = [{ port: 80 }, { protocol: 'UDP', port: 100, endPort: 200 }, { protocol: 'SCTP' }]
  assert.deepEqual(rules({ ingress: [{ ports }] }).chains['from'], [
    'meta l4proto tcp th dport 80 accept',
    'meta l4proto udp th dport 100-200 accept',
    'meta l4proto sctp accept',
  ])
  const named = rules({ ingress: [{ ports: [{ port: 'web' }] }] })
  assert.deepEqual(named.chains, { from: ['ip daddr . meta l4proto . th dport @ports-0 accept'] })
  assert.deepEqual(named.elements, ['ports-0 10.0.0.1 . tcp . 8080', 'ports-0 10.0.0.2 . tcp . 9090'])
})

test('blocks leave out their exceptions; what is no IPv4 block matches nothing', () => {
  const ipBlock = { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.1.2.0/24', 'x'] }
  const { chains } = rules({
    egress: [{ to: [{ ipBlock }, { ipBlock: { cidr: 'fd00::/8' } }] }],
    policyTypes: ['Egress'],
  })
  assert.deepEqual(chains, {
    to: ['ip daddr 10.0.0.0/8 ip daddr != 10.1.0.0/16 ip daddr != 10.1.2.0/24 goto check-ingress'],
  })
})

test('an egress policy by a named port names that of the pods it leads to', () => {
  const egress = [{ to: [{ podSelector: APP('web') }], ports: [{ port: 'web' }] }]
  const { chains, elements } = rules({ podSelector: APP('client'), egress, policyTypes: ['Egress'] })
  assert.deepEqual(chains, { to: ['ip daddr @pods-0 ip daddr . meta l4proto . th dport @ports-0 goto check-ingress'] })
  assert.ok(elements.includes('ports-0 10.0.0.2 . tcp . 9090'))
})

test('the cluster’s servers on another machine may be asked, before any policy is', () => {
  const text = createPolicyTable('t', 'IPv4', [
    { address: '10.244.0.1', port: 53 },
    { address: 'fd00::1', port: 54 },
  ]).whole()
  const [, chain = ''] = text.split('chain forward {')
  const at = chain.indexOf('ip daddr 10.244.0.1 th dport 53 accept')
  assert.ok(at > 0 && at < chain.indexOf('@egress'), text)
  assert.doesNotMatch(text, /54|icmpv6/)
  assert.doesNotMatch(createPolicyTable('t', 'IPv4').whole(), /th dport/)
})

test('of IPv6 there are the pods’ addresses and the blocks of that family, and neighbours find one another whatever policies say', () => {
  const six = pod('n', 'c', 'fd00::3', 'client')
  const ofIPv6: Surroundings = { ...around, family: 'IPv6', podsIn: (name) => (name === 'n' ? [six] : []) }
  const from = [
    { podSelector: APP('client') },
    { ipBlock: { cidr: '10.0.0.0/8' } },
    { ipBlock: { cidr: 'FD00:0::/16', except: ['fd00:1::/32', '10.0.0.0/8'] } },
  ]
  const read = policy({ ingress: [{ from }] })
  const { chains, sets, elements } = policyRules(read, ofIPv6)
  assert.deepEqual(
    [...chains.values()].flat().map((line) => line.replace(/-[0-9a-f]{16}/, '')),
    ['ip6 saddr fd00::/16 ip6 saddr != fd00:1::/32 accept', 'ip6 saddr @pods-0 accept'],
  )
  assert.deepEqual([...sets.values()], ['type ipv6_addr;'])
  assert.deepEqual(
    elements.map(({ key }) => key),
    ['fd00::3'],
  )
  const [own] = [...(podRules(six, [policy({ podSelector: {} })], 'IPv6')?.chains.values() ?? [])]
  assert.equal(own?.[0], 'ip6 saddr fd00::3 accept')
  const text = createPolicyTable('t', 'IPv6', [{ address: 'fd00::1', port: 53 }]).whole()
  const [, forged = '', forward = ''] = text.split(/chain (?:forged|forward) \{/)
  for (const [chain, drops] of [
    [forged, 'fib saddr'],
    [forward, '@egress'],
  ] as const) {
    const neighbours = chain.indexOf('nd-neighbor-solicit, nd-neighbor-advert } accept')
    assert.ok(neighbours > 0 && neighbours < chain.indexOf(drops), text)
  }
  assert.match(forged, /iifname "veth\*" icmpv6 type \{ nd-router-advert, nd-redirect \} drop/)
  assert.match(forward, /ip6 daddr fd00::1 th dport 53 accept/)
})
