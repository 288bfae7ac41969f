import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service, ServiceSpec } from '../api/generated/types.ts'
import { type DnsRecord, TYPE } from './read-message.ts'
import { answerOf, type Names } from './zone.ts'

const service = (name: string, spec: ServiceSpec): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'n' },
  spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }], ...spec },
})
const of = (clusterIP: string) => ({ clusterIP, clusterIPs: [clusterIP] })
const SERVICES = [
  service('web', of('10.96.0.7')),
  service('dual', { clusterIP: '10.96.0.8', clusterIPs: ['10.96.0.8', 'fd00::8'] }),
  service('db', of('None')),
  service('none', of('None')),
  service('away', { type: 'ExternalName', externalName: 'Example.COM.' }),
  service('address', { type: 'ExternalName', externalName: '10.1.2.3' }),
  service('near', { type: 'ExternalName', externalName: 'web.n.svc.cluster.local' }),
]
const SLICE: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'db-1', namespace: 'n', labels: { 'kubernetes.io/service-name': 'db' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: [
    { addresses: ['10.244.0.5'], hostname: 'db-0' },
    { addresses: ['10.244.0.6'] },
    { addresses: ['10.244.0.9'], hostname: 'db-9', conditions: { ready: false } },
  ],
}
const names: Names = {
  domain: 'cluster.local',
  servers: ['10.96.0.10', 'fd00:10:96::a'],
  service: (namespace, name) =>
    namespace === 'n' ? SERVICES.find(({ metadata }) => metadata.name === name) : undefined,
  slices: (_, name) => (name === 'db' ? [SLICE] : []),
  hasNamespace: (name) => name === 'n',
  servicesByAddress: (ip) => SERVICES.filter(({ spec }) => spec?.clusterIPs?.includes(ip)),
  slicesByAddress: (ip) => (SLICE.endpoints.some(({ addresses }) => addresses.includes(ip)) ? [SLICE] : []),
  serial: () => 7,
}

function text(record: DnsRecord): string {
  switch (record.type) {
    case 'A':
      return record.address.join('.')
    case 'AAAA':
      return Buffer.from(record.address).toString('hex')
    case 'SRV':
      return `${record.priority} ${record.weight} ${record.port} ${record.target}`
    case 'TXT':
      return record.text
    case 'SOA':
      return `${record.server} ${record.mailbox} ${record.numbers.join(' ')}`
    default:
      return record.target
  }
}
/** The answers, or how there is none. */
function ask(name: string, type: keyof typeof TYPE = 'A') {
  const found = answerOf(name, TYPE[type], names)
  if (found === undefined) return 'elsewhere'
  if (found.answers.length > 0) return found.answers.map(text)
  assert.deepEqual(found.authority.map(text), ['ns.dns.cluster.local hostmaster.cluster.local 7 7200 1800 86400 30'])
  return found.rcode === 3 ? 'no such name' : 'nothing of the type'
}

test('a Service’s name is its address, of each family', () => {
  assert.deepEqual(ask('web.n.svc.cluster.local'), ['10.96.0.7'])
  assert.equal(ask('web.n.svc.cluster.local', 'AAAA'), 'nothing of the type')
  assert.deepEqual(ask('dual.n.svc.cluster.local', 'AAAA'), ['fd000000000000000000000000000008'])
})

test('a headless Service’s name is the addresses of its ready endpoints, each with a name of its own', () => {
  assert.deepEqual(ask('db.n.svc.cluster.local'), ['10.244.0.5', '10.244.0.6'])
  assert.deepEqual(ask('db-0.db.n.svc.cluster.local'), ['10.244.0.5'])
  assert.deepEqual(ask('10-244-0-6.db.n.svc.cluster.local'), ['10.244.0.6'])
  assert.equal(ask('db-9.db.n.svc.cluster.local'), 'no such name')
  assert.equal(ask('none.n.svc.cluster.local'), 'no such name')
})

test('named ports are found by SRV, with the addresses of what they name', () => {
  assert.deepEqual(ask('_http._tcp.web.n.svc.cluster.local', 'SRV'), ['0 100 80 web.n.svc.cluster.local'])
  assert.deepEqual(ask('_http._tcp.db.n.svc.cluster.local', 'SRV'), [
    '0 50 8080 db-0.db.n.svc.cluster.local',
    '0 50 8080 10-244-0-6.db.n.svc.cluster.local',
  ])
  const { additional = [] } = answerOf('_http._tcp.db.n.svc.cluster.local', TYPE.SRV, names) ?? {}
  assert.deepEqual(
    additional.map((record) => `${record.name} ${text(record)}`),
    ['db-0.db.n.svc.cluster.local 10.244.0.5', '10-244-0-6.db.n.svc.cluster.local 10.244.0.6'],
  )
  assert.equal(ask('_http._udp.web.n.svc.cluster.local', 'SRV'), 'no such name')
  assert.equal(ask('_dns._tcp.web.n.svc.cluster.local', 'SRV'), 'no such name')
  assert.equal(ask('http.tcp.web.n.svc.cluster.local', 'SRV'), 'no such name')
})

test('of two addresses of one name SRV tells once, and shares the weight out over both; of a pod’s name too', () => {
  const slices = [SLICE, { ...SLICE, addressType: 'IPv6', endpoints: [{ addresses: ['fd00::5'], hostname: 'db-0' }] }]
  const both = { ...names, slices: () => slices }
  const { answers = [], additional = [] } = answerOf('_http._tcp.db.n.svc.cluster.local', TYPE.SRV, both) ?? {}
  assert.deepEqual(answers.map(text), [
    '0 33 8080 db-0.db.n.svc.cluster.local',
    '0 33 8080 10-244-0-6.db.n.svc.cluster.local',
  ])
  assert.equal(additional.length, 3)
  assert.deepEqual(ask('dual.n.svc.cluster.local', 'SRV'), ['0 50 80 dual.n.svc.cluster.local'])
  assert.deepEqual(ask('fd00--5.n.pod.cluster.local', 'SRV'), ['0 100 0 fd00--5.n.pod.cluster.local'])
})

test('an external name is another name, to be followed', () => {
  const found = answerOf('away.n.svc.cluster.local', TYPE.A, names)
  assert.deepEqual([found?.alias, found?.answers.map(text)], ['example.com', ['example.com']])
  assert.equal(ask('away.n.svc.cluster.local', 'SRV'), 'nothing of the type')
  assert.equal(answerOf('near.n.svc.cluster.local', TYPE.AAAA, names)?.alias, 'web.n.svc.cluster.local')
})

test('an address is no external name, as CoreDNS 1.14.7 has it', () => {
  for (const type of ['A', 'AAAA', 'CNAME', 'SRV', 'TXT'] as const)
    assert.equal(ask('address.n.svc.cluster.local', type), 'no such name', type)
})

test('a pod’s name is made of its address, in a namespace that is there', () => {
  assert.deepEqual(ask('10-244-0-5.n.pod.cluster.local'), ['10.244.0.5'])
  assert.deepEqual(ask('fd00--5.n.pod.cluster.local', 'AAAA'), ['fd000000000000000000000000000005'])
  assert.equal(ask('10-244-0-5.other.pod.cluster.local'), 'no such name')
  assert.equal(ask('10-244-0-256.n.pod.cluster.local'), 'no such name')
})

test('addresses of Services and endpoints have names, and all others are asked elsewhere', () => {
  assert.deepEqual(ask('7.0.96.10.in-addr.arpa', 'PTR'), ['web.n.svc.cluster.local'])
  assert.deepEqual(ask('5.0.244.10.in-addr.arpa', 'PTR'), ['db-0.db.n.svc.cluster.local'])
  assert.deepEqual(ask('6.0.244.10.in-addr.arpa', 'PTR'), ['10-244-0-6.db.n.svc.cluster.local'])
  assert.equal(ask('9.0.244.10.in-addr.arpa', 'PTR'), 'elsewhere', 'one that is not ready')
  const reversed = (last: string) => `${last}.${'0.'.repeat(27)}0.0.d.f.ip6.arpa`
  assert.deepEqual(ask(reversed('8'), 'PTR'), ['dual.n.svc.cluster.local'])
  assert.equal(ask(reversed('9'), 'PTR'), 'elsewhere')
  assert.equal(ask(reversed('88'), 'PTR'), 'elsewhere')
  assert.equal(ask('8.8.8.8.in-addr.arpa', 'PTR'), 'elsewhere')
  assert.equal(ask('x.in-addr.arpa', 'PTR'), 'elsewhere')
})

test('what lies between is there without records, what is not there is not, and what is another’s is asked elsewhere', () => {
  for (const name of ['cluster.local', 'svc.cluster.local', 'n.svc.cluster.local', 'pod.cluster.local'])
    assert.equal(ask(name), 'nothing of the type', name)
  for (const name of [
    'other.svc.cluster.local',
    'gone.n.svc.cluster.local',
    'a.b.c.d.web.n.svc.cluster.local',
    'x.cluster.local',
  ])
    assert.equal(ask(name), 'no such name', name)
  assert.equal(ask('example.com'), 'elsewhere')
  assert.equal(ask('notcluster.local'), 'elsewhere')
})

test('the zone names its server, its version and its beginning of authority', () => {
  assert.deepEqual(ask('cluster.local', 'NS'), ['ns.dns.cluster.local'])
  const dns = service('kube-dns', of('10.96.0.10'))
  const known = { ...names, service: (namespace: string) => (namespace === 'kube-system' ? dns : undefined) }
  const found = answerOf('cluster.local', TYPE.NS, known)
  assert.deepEqual(found?.answers.map(text), ['kube-dns.kube-system.svc.cluster.local'])
  const { additional = [] } = answerOf('cluster.local', TYPE.NS, names) ?? {}
  assert.deepEqual(additional.map(text), ['10.96.0.10', 'fd00001000960000000000000000000a'])
  assert.deepEqual(ask('ns.dns.cluster.local'), ['10.96.0.10'])
  assert.deepEqual(ask('ns.dns.cluster.local', 'AAAA'), ['fd00001000960000000000000000000a'])
  assert.deepEqual(ask('dns-version.cluster.local', 'TXT'), ['1.1.0'])
  assert.deepEqual(ask('cluster.local', 'SOA'), ['ns.dns.cluster.local hostmaster.cluster.local 7 7200 1800 86400 30'])
})
