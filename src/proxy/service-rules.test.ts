import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service, ServiceSpec } from '../api/generated/types.ts'
import { servicePorts } from './service-port.ts'
import { rulesOfService } from './service-rules.ts'
import type { SharedSet } from './service-table.ts'

type Slice = EndpointSlice['endpoints'][number]
const NODE = { nodeName: 'here', zone: 'z1', nodePortAddresses: ['10.244.0.1'], family: 'IPv4' as const }

const service = (spec: ServiceSpec, more: Partial<Service> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'n' },
  spec: { clusterIP: '10.96.0.9', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  ...more,
})
const at = (address: string, more: Partial<Slice> = {}): Slice => ({ addresses: [address], nodeName: 'here', ...more })
const slice = (endpoints: readonly Slice[], more: Partial<EndpointSlice> = {}): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 's-1', namespace: 'n' },
  addressType: 'IPv4',
  endpoints,
  ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  ...more,
})
function rules(spec: ServiceSpec, endpoints: readonly Slice[], more: Partial<Service> = {}) {
  const [port] = servicePorts(service(spec, more), [slice(endpoints)], 'IPv4')
  return rulesOfService(port ?? assert.fail('the Service has no port'), NODE)
}
/** The rules behind a verdict, where it leads somewhere. */
function follow({ chains, elements }: ReturnType<typeof rules>, set: SharedSet, key: string) {
  const value = elements.find((one) => one.set === set && one.key === key)?.value
  return value === undefined ? undefined : (chains.get(value.replace('goto ', '')) ?? value)
}
const READY = [at('10.244.0.5'), at('10.244.0.6', { nodeName: 'there' })]
const BOTH = ['meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.0.5 . 8080, 1 : 10.244.0.6 . 8080 }']

test('a cluster’s address leads to each ready endpoint alike', () => {
  const found = rules({}, [...READY, at('10.244.0.7', { conditions: { ready: false } })])
  assert.deepEqual(follow(found, 'services', '10.96.0.9 . tcp . 80'), BOTH)
  assert.equal(follow(found, 'refused', '10.96.0.9 . tcp . 80'), undefined)
  const hairpins = found.elements.filter(({ set }) => set === 'hairpins').map(({ key }) => key)
  assert.deepEqual(hairpins, ['10.244.0.5 . 10.244.0.5', '10.244.0.6 . 10.244.0.6'])
})

test('what has no endpoint is refused, and of policy Local what has none here is dropped', () => {
  assert.equal(follow(rules({}, []), 'refused', '10.96.0.9 . tcp . 80'), 'goto reject-it')
  const away = [at('10.244.0.6', { nodeName: 'there' })]
  const found = rules({ internalTrafficPolicy: 'Local' }, away)
  assert.equal(follow(found, 'refused', '10.96.0.9 . tcp . 80'), 'drop')
  assert.equal(follow(found, 'services', '10.96.0.9 . tcp . 80'), undefined)
  const local = rules({ internalTrafficPolicy: 'Local' }, READY)
  assert.deepEqual(follow(local, 'services', '10.96.0.9 . tcp . 80'), ['meta l4proto tcp dnat to 10.244.0.5:8080'])
})

test('endpoints that end but serve are taken only where none is ready', () => {
  const ending = at('10.244.0.8', { conditions: { ready: false, serving: true, terminating: true } })
  assert.deepEqual(follow(rules({}, [...READY, ending]), 'services', '10.96.0.9 . tcp . 80'), BOTH)
  const only = ['meta l4proto tcp dnat to 10.244.0.8:8080']
  assert.deepEqual(follow(rules({}, [ending]), 'services', '10.96.0.9 . tcp . 80'), only)
})

test('hints count where each ready endpoint has one, those for nodes before those for zones', () => {
  const to = (found: ReturnType<typeof rules>) => String(follow(found, 'services', '10.96.0.9 . tcp . 80'))
  const zoned = (address: string, zone: string, nodes: readonly string[] = []) =>
    at(address, { hints: { forZones: [{ name: zone }], forNodes: nodes.map((name) => ({ name })) } })
  assert.match(to(rules({}, [zoned('10.0.0.1', 'z1'), zoned('10.0.0.2', 'z2')])), /dnat to 10\.0\.0\.1:8080/)
  assert.match(to(rules({}, [zoned('10.0.0.1', 'z3'), zoned('10.0.0.2', 'z2')])), /mod 2/, 'none for this zone')
  assert.match(to(rules({}, [zoned('10.0.0.1', 'z1'), at('10.0.0.2')])), /mod 2/, 'one without')
  const both = [zoned('10.0.0.1', 'z1', ['there']), zoned('10.0.0.2', 'z2', ['here'])]
  assert.match(to(rules({}, both)), /dnat to 10\.0\.0\.2:8080/)
})

test('NodePorts and external addresses lead there too, with the source replaced', () => {
  const ports = [{ port: 80, protocol: 'TCP', nodePort: 30080 }]
  const found = rules({ type: 'NodePort', ports, externalIPs: ['192.0.2.1', '2001:db8::1', 'x; flush ruleset'] }, READY)
  for (const [address, port] of [
    ['10.244.0.1', 30080],
    ['192.0.2.1', 80],
  ]) {
    assert.deepEqual(follow(found, 'services', `${address} . tcp . ${port}`), BOTH)
    assert.equal(follow(found, 'masquerade-tcp', `${address} . ${port}`), 'goto masquerade-all')
  }
  assert.doesNotMatch(JSON.stringify(found.elements), /2001|flush/)
})

test('of external policy Local only clients of the cluster reach endpoints elsewhere, and addresses are kept', () => {
  const spec: ServiceSpec = { type: 'NodePort', externalTrafficPolicy: 'Local', externalIPs: ['192.0.2.1'] }
  const found = rules(spec, READY)
  const external = follow(found, 'services', '192.0.2.1 . tcp . 80') as readonly string[]
  const [pods, machine, others] = external.map((rule) => rule.replace(/goto (\w+)-.*/, '$1'))
  assert.deepEqual([pods, machine, others], ['ip saddr @pod-ranges svc', 'fib saddr type local svc', 'local'])
  assert.equal(follow(found, 'masquerade-tcp', '192.0.2.1 . 80'), 'goto masquerade-own')
  assert.equal(follow(found, 'refused', '192.0.2.1 . tcp . 80'), undefined)
  const away = rules(spec, [at('10.244.0.6', { nodeName: 'there' })])
  assert.equal(follow(away, 'refused', '192.0.2.1 . tcp . 80'), 'drop')
  assert.equal((follow(away, 'services', '192.0.2.1 . tcp . 80') as readonly string[]).length, 2)
  assert.equal(follow(rules(spec, []), 'refused', '192.0.2.1 . tcp . 80'), 'goto reject-it')
})

test('a balancer’s address is guarded by its source ranges, and left alone where the balancer is a proxy', () => {
  const ingress = [{ ip: '192.0.2.9' }, { ip: '192.0.2.10', ipMode: 'Proxy' }]
  const spec = {
    type: 'LoadBalancer',
    loadBalancerSourceRanges: ['10.0.0.0/8', ' 192.168.0.0/16', 'all', '1.2.3.4/33'],
  }
  const found = rules(spec, READY, { status: { loadBalancer: { ingress } } })
  assert.deepEqual(follow(found, 'services', '192.0.2.9 . tcp . 80'), BOTH)
  assert.equal(follow(found, 'services', '192.0.2.10 . tcp . 80'), undefined)
  assert.deepEqual(follow(found, 'firewall', '192.0.2.9 . tcp . 80'), [
    'ip saddr 10.0.0.0/8 return',
    'ip saddr 192.168.0.0/16 return',
    'ip saddr 192.0.2.9 return',
    'drop',
  ])
})

test('source ranges of the other family alone guard nothing of this one; what is no range lets nothing in', () => {
  const ranges = (...loadBalancerSourceRanges: readonly string[]) =>
    servicePorts(service({ type: 'LoadBalancer', loadBalancerSourceRanges }), [slice(READY)], 'IPv4')[0]?.sourceRanges
  assert.equal(ranges('2001:db8::/32'), undefined)
  assert.deepEqual(ranges('2001:db8::/32', '10.0.0.0/8'), ['10.0.0.0/8'])
  assert.deepEqual(ranges('all'), [])
})

test('with session affinity each endpoint has a chain and a set of its clients, which end by themselves', () => {
  const sessionAffinityConfig = { clientIP: { timeoutSeconds: 60 } }
  const { chains, sets } = rules({ sessionAffinity: 'ClientIP', sessionAffinityConfig }, READY)
  assert.deepEqual([...sets.values()], Array(2).fill('type ipv4_addr; flags dynamic,timeout; timeout 60s;'))
  const [balance = []] = [...chains].filter(([name]) => name.startsWith('svc-')).map(([, lines]) => lines)
  assert.match(balance.join('\n'), /^(ip saddr @clients-\w+-60 goto ep-\w+\n){2}numgen random mod 2 vmap \{.*\}$/)
  const endpoints = [...chains].filter(([name]) => name.startsWith('ep-')).map(([, lines]) => lines)
  for (const lines of endpoints) assert.match(lines.join('\n'), /^update @clients-\w+-60 \{ ip saddr \}\nmeta l4proto/)
})

test('Services of no address, of another proxy, and what is no address or port, give nothing', () => {
  const none = (one: Service, slices: readonly EndpointSlice[] = []) =>
    assert.deepEqual(servicePorts(one, slices, 'IPv4'), [])
  none(service({ clusterIP: 'None' }))
  none(service({ type: 'ExternalName', externalName: 'example.com' }))
  none(service({ clusterIP: '10.96.0.9; flush ruleset' }))
  none(service({}, { metadata: { name: 's', labels: { 'service.kubernetes.io/service-proxy-name': 'x' } } }))
  none(service({ ports: [{ port: 80.5 }, { port: 0 }, { port: 65_536 }, { port: 80, protocol: 'ICMP' }] }))
  const bad = [at('10.244.0.5; drop'), at('fd00::1'), { addresses: [] }]
  assert.deepEqual(servicePorts(service({}), [slice(bad)], 'IPv4')[0]?.endpoints, [])
  const sctp = { ports: [{ name: '', port: 8080, protocol: 'SCTP' }] }
  const [port] = servicePorts(service({ ports: [{ port: 80, protocol: 'SCTP' }] }), [slice(READY, sctp)], 'IPv4')
  const found = rulesOfService(port ?? assert.fail(), NODE)
  assert.match(String(follow(found, 'services', '10.96.0.9 . sctp . 80')), /^meta l4proto sctp dnat/)
})

test('a Service of both families is led by each to the endpoints of that family alone', () => {
  const both = service({
    clusterIPs: ['10.96.0.9', 'FD00:10:96:0::9'],
    type: 'LoadBalancer',
    externalIPs: ['192.0.2.1', '2001:db8::1'],
    loadBalancerSourceRanges: ['10.0.0.0/8', '2001:db8::/32'],
    externalTrafficPolicy: 'Local',
    sessionAffinity: 'ClientIP',
    ports: [{ port: 80, nodePort: 30080 }],
  })
  const whole = { ...both, status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }, { ip: '2001:db8::9' }] } } }
  const slices = [slice(READY), slice([at('fd00::5'), at('fd00::6')], { addressType: 'IPv6' })]
  const [port] = servicePorts(whole, slices, 'IPv6')
  const place = { ...NODE, nodePortAddresses: ['fd00::1'], family: 'IPv6' as const }
  const found = rulesOfService(port ?? assert.fail(), place)
  const keys = found.elements.filter(({ set }) => set === 'services').map(({ key }) => key)
  assert.deepEqual(keys, [
    'fd00:10:96::9 . tcp . 80',
    '2001:db8::1 . tcp . 80',
    '2001:db8::9 . tcp . 80',
    'fd00::1 . tcp . 30080',
  ])
  const rulesText = [...found.chains.values()].flat().join('\n')
  assert.match(rulesText, /dnat to \[fd00::5\]:8080/)
  assert.match(rulesText, /ip6 saddr 2001:db8::\/32 return/)
  assert.doesNotMatch(rulesText, /\bip saddr|10\.|192\./)
  assert.deepEqual(
    [...found.sets.values()].map((one) => one.split(';')[0]),
    ['type ipv6_addr', 'type ipv6_addr'],
  )
  const single = servicePorts(service({ clusterIP: 'fd00:10:96::9', clusterIPs: ['fd00:10:96::9'] }), slices, 'IPv4')
  assert.deepEqual(single, [])
  const [plain] = servicePorts(service({ clusterIP: 'fd00:10:96::9' }), slices, 'IPv6')
  const spread = rulesOfService(plain ?? assert.fail(), place)
  const [line] = follow(spread, 'services', 'fd00:10:96::9 . tcp . 80') as readonly string[]
  assert.equal(line, 'meta l4proto tcp dnat ip6 to numgen random mod 2 map { 0 : fd00::5 . 8080, 1 : fd00::6 . 8080 }')
})
