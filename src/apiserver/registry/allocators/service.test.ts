import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import type { Pools } from '../strategy.ts'
import { allocate } from './service.ts'

const service = (name: string, spec: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, uid: name },
  spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
})

function poolsWith(stored: readonly KubeObject[]): Pools {
  const random = {
    float: () => 0,
    uuid: () => '',
    passingUuid: () => '',
    suffix: () => '',
    bytes: () => new Uint8Array(),
  }
  return { random, services: () => stored }
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

test('a node port outside the range is refused', () => {
  const wanted = service('a', { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 5 }] })
  assert.match(
    messageOf(() => allocate(wanted, undefined, poolsWith([]))),
    /valid ports is 30000-32767/,
  )
})
