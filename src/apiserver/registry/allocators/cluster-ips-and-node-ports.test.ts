import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceCIDR } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import type { Random } from '../../../base/random.ts'
import type { Pools } from '../strategy.ts'
import { allocate } from './cluster-ips-and-node-ports.ts'
import { serviceNetwork } from './service-network.ts'

const service = (name: string, spec: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, uid: name },
  spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
})

function poolsWith(stored: readonly KubeObject[], ...flags: readonly string[]): Pools {
  const random: Random = {
    float: () => 0,
    uuid: () => '',
    passingUuid: () => '',
    suffix: () => '',
    bytes: () => new Uint8Array(),
    apart: () => random,
  }
  const cidrs = stored.filter(({ kind }) => kind === 'ServiceCIDR') as readonly ServiceCIDR[]
  const services = () => stored.filter(({ kind }) => kind === 'Service')
  return { random, network: serviceNetwork(...flags), reserved: new Set(), services, serviceCidrs: () => cidrs }
}

const messageOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof StatusError) return error.message
    throw error
  }
  return ''
}

test('a service gets an address above the static band', () => {
  const { object } = allocate(service('a', {}), undefined, poolsWith([]))
  assert.deepEqual(object['spec'].clusterIPs, ['10.96.1.1'])
  assert.equal(object['spec'].ipFamilyPolicy, 'SingleStack')
})

test('an address held by a stored service is refused', () => {
  const stored = service('old', { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'] })
  const wanted = service('new', { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'] })
  assert.match(
    messageOf(() => allocate(wanted, undefined, poolsWith([stored]))),
    /provided IP is already allocated/,
  )
})

test('two creations under way never get the same address, and a finished one gives its reservation back', () => {
  const pools = poolsWith([])
  const first = allocate(service('a', {}), undefined, pools)
  const second = allocate(service('b', {}), undefined, pools)
  assert.notEqual(first.object['spec'].clusterIP, second.object['spec'].clusterIP)
  first.finish()
  const third = allocate(service('c', {}), undefined, pools)
  assert.equal(third.object['spec'].clusterIP, first.object['spec'].clusterIP)
})

test('a port of two protocols has one node port', () => {
  const ports = [
    { name: 't', port: 53, protocol: 'TCP' },
    { name: 'u', port: 53, protocol: 'UDP' },
  ]
  const { object } = allocate(service('a', { type: 'NodePort', ports }), undefined, poolsWith([]))
  const [tcp, udp] = object['spec'].ports
  assert.equal(tcp.nodePort, udp.nodePort)
})

test('a Service whose protocols share a node port can be changed', () => {
  const ports = [
    { port: 53, protocol: 'TCP', nodePort: 30053 },
    { port: 53, protocol: 'UDP', nodePort: 30053 },
  ]
  const stored = service('dns', { type: 'NodePort', clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'], ports })
  const { object } = allocate(stored, stored, poolsWith([stored]))
  assert.deepEqual(object['spec'].ports, ports)
  const other = service('other', { type: 'NodePort', ports: [ports[1]] })
  assert.match(
    messageOf(() => allocate(other, other, poolsWith([stored, other]))),
    /provided port is already allocated/,
  )
})

test('a range of port 0 alone gives none, and refuses those that are asked for', () => {
  const none = serviceNetwork(undefined, '0-0')
  const pools = { ...poolsWith([]), network: none }
  const plain = service('a', { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP' }] })
  assert.deepEqual(allocate(plain, undefined, pools).object['spec'].ports, [{ port: 80, protocol: 'TCP' }])
  const wanted = service('a', { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 30000 }] })
  assert.match(
    messageOf(() => allocate(wanted, undefined, pools)),
    /provided port is not in the valid range. The range of valid ports is 0-0$/,
  )
})

test('a network has the addresses that leading zeros say nothing of', () => {
  assert.equal(serviceNetwork('010.0.0.0/24').ranges[0].cidr, '10.0.0.0/24')
})

test('a node port outside the range is refused', () => {
  const wanted = service('a', { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 5 }] })
  assert.match(
    messageOf(() => allocate(wanted, undefined, poolsWith([]))),
    /valid ports is 30000-32767/,
  )
})

test('addresses and ports come from the ranges that are given', () => {
  const pools = poolsWith([], '10.0.3.7/24', '3000-3019')
  const { object } = allocate(service('a', { type: 'NodePort' }), undefined, pools)
  assert.deepEqual(object['spec'].clusterIPs, ['10.0.3.17'])
  assert.equal(object['spec'].ports[0].nodePort, 3016)
  const wanted = service('b', { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'] })
  assert.match(
    messageOf(() => allocate(wanted, undefined, pools, true)),
    /The range of valid IPs is 10\.0\.3\.0\/24$/,
  )
})

test('a small range is handed out whole, and then is full', () => {
  const pools = poolsWith([], '192.0.0.0/29')
  const given = [1, 2, 3, 4, 5, 6].map((n) => allocate(service(`s${n}`, {}), undefined, pools).object['spec'].clusterIP)
  assert.deepEqual(given, ['192.0.0.1', '192.0.0.2', '192.0.0.3', '192.0.0.4', '192.0.0.5', '192.0.0.6'])
  assert.match(
    messageOf(() => allocate(service('s7', {}), undefined, pools)),
    /range is full/,
  )
})

test('a range that cannot be used is refused with why', () => {
  const why = (...flags: readonly string[]) => {
    try {
      serviceNetwork(...flags)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.match(why('10.0.0.0/30'), /must be at least 8 IP addresses/)
  assert.match(why('10.0.0'), /service-cluster-ip-range\[0\] is not a valid cidr/)
  assert.match(why('10.0.0.0/33'), /not a valid cidr/)
  assert.match(why('10.0.0.0/24,10.1.0.0/24'), /must be of different IP family/)
  assert.match(why('10.0.0.0/24,fd00::/108,10.2.0.0/24'), /must not contain more than two entries/)
  assert.match(why('fd00::/126'), /must be at least 8 IP addresses/)
  assert.match(why('fd00::/63'), /shortest allowed prefix length for service CIDR is 64/)
  assert.match(why('10.0.0.0/24,fd00::/129'), /service-cluster-ip-range\[1\] is not a valid cidr/)
  assert.match(why('10.0.0.0/24,'), /service-cluster-ip-range\[1\] is not a valid cidr/)
  assert.match(why('10.0.0.0/24', '5-1'), /--service-node-port-range/)
  assert.match(why('10.0.0.0/24', 'x'), /unable to parse port range/)
})

const DUAL = '10.96.0.0/16,fd00:10:96::/112'
const specOf = (wanted: KubeObject, pools: Pools, old?: KubeObject) => allocate(wanted, old, pools).object['spec']

test('a Service that prefers two families has an address of each, the first of the family that it names first', () => {
  const pools = poolsWith([], DUAL)
  const spec = specOf(service('a', { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6'] }), pools)
  assert.deepEqual(spec.clusterIPs, ['fd00:10:96::101', '10.96.1.1'])
  assert.deepEqual(spec.ipFamilies, ['IPv6', 'IPv4'])
})

test('an address of IPv6 is the same however it is spelled', () => {
  const old = service('old', { clusterIP: 'FD00:10:96:0::A', clusterIPs: ['FD00:10:96:0::A'] })
  const wanted = service('new', { clusterIP: 'fd00:10:96::a', clusterIPs: ['fd00:10:96::a'] })
  assert.match(
    messageOf(() => allocate(wanted, undefined, poolsWith([old], DUAL))),
    /provided IP is already allocated/,
  )
})

test('the second address that is asked for is not given to the Service as its first, nor a reservation kept that fails', () => {
  const pools = poolsWith([], '10.96.0.0/29,fd00:10:96::/125')
  const two = { ipFamilyPolicy: 'RequireDualStack', clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'] }
  assert.match(
    messageOf(() => allocate(service('a', two), undefined, pools)),
    /failed to allocate IP fd00::1: the provided network does not match/,
  )
  assert.equal(specOf(service('b', {}), pools).clusterIP, '10.96.0.1')
})

test('what a Service had before its cluster had two families stays until someone asks for more', () => {
  const one = {
    ipFamilyPolicy: 'PreferDualStack',
    ipFamilies: ['IPv4'],
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7'],
  }
  const old = service('a', one)
  const pools = poolsWith([old], DUAL)
  assert.deepEqual(specOf(service('a', one), pools, old).clusterIPs, ['10.96.0.7'])
  const required = specOf(service('a', { ...one, ipFamilyPolicy: 'RequireDualStack' }), pools, old)
  assert.deepEqual(required.clusterIPs, ['10.96.0.7', 'fd00:10:96::101'])
})

test('of the largest range of IPv6 addresses are given too', () => {
  const [ip] = specOf(service('a', {}), poolsWith([], 'fd00:1:2:3::/64')).clusterIPs
  assert.equal(ip, 'fd00:1:2:3::101')
})

const cidr = (name: string, cidrs: readonly string[], metadata: object = {}, ready = 'True'): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name, ...metadata },
  spec: { cidrs },
  status: { conditions: [{ type: 'Ready', status: ready }] },
})

test('a further ServiceCIDR gives addresses that are asked for, and others when the first is full; none when it is not ready or deleted', () => {
  const own = cidr('kubernetes', ['10.96.0.0/29'])
  const taken = [1, 2, 3, 4, 5, 6].map((i) => service(`s${i}`, { clusterIPs: [`10.96.0.${i}`] }))
  const given = (stored: readonly KubeObject[], clusterIP?: string) => {
    const ips = clusterIP === undefined ? {} : { clusterIP, clusterIPs: [clusterIP] }
    return allocate(service('x3', ips), undefined, poolsWith(stored, '10.96.0.0/29')).object['spec'].clusterIP
  }
  const further = cidr('more', ['10.97.0.0/24'])
  assert.equal(given([own, further], '10.97.0.9'), '10.97.0.9')
  assert.equal(given([own, further]), '10.96.0.1')
  assert.match(given([own, further, ...taken]), /^10\.97\.0\./)
  const full = 'Internal error occurred: failed to allocate a serviceIP for Service "x3": range is full'
  for (const useless of [
    cidr('more', ['10.97.0.0/24'], { deletionTimestamp: '2026-11-25T00:00:00Z' }),
    cidr('more', ['10.97.0.0/24'], {}, 'False'),
    cidr('more', ['fd00::/112']),
  ]) {
    assert.equal(
      messageOf(() => given([own, useless, ...taken])),
      full,
    )
    assert.match(
      messageOf(() => given([own, useless], '10.97.0.9')),
      /failed to allocate IP 10\.97\.0\.9: the provided network does not match the current range/,
    )
  }
  const going = cidr('kubernetes', ['10.96.0.0/29'], { deletionTimestamp: '2026-11-25T00:00:00Z' })
  assert.equal(
    messageOf(() => given([going])),
    full,
  )
})
