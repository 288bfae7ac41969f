import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { alreadyExists, internalError, notFound } from '../../api/status.ts'
import { startIpAddressLoop } from './ip-addresses.ts'
import { startStandIn } from './test-stand-in.ts'

const GROUP = 'networking.k8s.io'
const PATH = '/apis/networking.k8s.io/v1/ipaddresses'
const RESOURCE = { group: GROUP, resource: 'ipaddresses' }

const service = (name: string, ...clusterIPs: readonly string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { clusterIPs },
})
const address = (name: string, parent: string, labels: Record<string, string>): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'IPAddress',
  metadata: { name, labels },
  spec: { parentRef: { resource: 'services', namespace: 'default', name: parent } },
})
const OWN = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' }

async function started() {
  const it = startStandIn()
  startIpAddressLoop(it.options)
  await it.runtime.advance(0)
  return it
}

test('each address of a Service has an object that names it, and headless ones have none', async () => {
  const it = await started()
  it.put('services', service('a', '10.96.0.7', 'fd00::7'))
  it.put('services', service('headless', 'None'))
  await it.runtime.advance(20)
  assert.deepEqual(it.taken(), [`POST ${PATH}`, `POST ${PATH}`])
  const family = { 'ipaddress.kubernetes.io/ip-family': 'IPv4' }
  assert.deepEqual(it.get(GROUP, 'ipaddresses', '', '10.96.0.7'), address('10.96.0.7', 'a', { ...family, ...OWN }))
  const six = it.get(GROUP, 'ipaddresses', '', 'fd00::7')
  assert.equal(six?.metadata.labels?.['ipaddress.kubernetes.io/ip-family'], 'IPv6')
  await it.runtime.advance(10_000)
  assert.deepEqual(it.taken(), [])
})

test('the object of a Service that is gone goes, one that another made stays', async () => {
  const it = await started()
  it.put('ipaddresses', address('10.96.0.1', 'gone', OWN))
  it.put('ipaddresses', address('10.96.0.2', 'gone', {}))
  await it.runtime.advance(20)
  assert.deepEqual(it.taken(), [`DELETE ${PATH}/10.96.0.1`])
})

test('an object that names another Service is made anew', async () => {
  const it = await started()
  it.put('services', service('a', '10.96.0.7'))
  it.put('ipaddresses', address('10.96.0.7', 'before', OWN))
  await it.runtime.advance(20)
  assert.deepEqual(it.taken(), [`DELETE ${PATH}/10.96.0.7`, `POST ${PATH}`])
  assert.equal(it.get(GROUP, 'ipaddresses', '', '10.96.0.7')?.['spec'].parentRef.name, 'a')
})

test('what somebody else did first is done', async () => {
  const it = await started()
  it.put('ipaddresses', address('10.96.0.1', 'gone', OWN))
  it.refuse(`DELETE ${PATH}/10.96.0.1`, notFound(RESOURCE, '10.96.0.1'))
  it.put('services', service('a', '10.96.0.7'))
  it.refuse(`POST ${PATH}`, alreadyExists(RESOURCE, '10.96.0.7'))
  await it.runtime.advance(20)
  assert.deepEqual(it.taken(), [`DELETE ${PATH}/10.96.0.1`, `POST ${PATH}`])
  assert.deepEqual(it.failures, [])
})

test('what fails is tried again after five seconds, and a server that stops does no more', async () => {
  const it = await started()
  it.put('services', service('b', '10.96.0.8'))
  it.refuse(`POST ${PATH}`, internalError(new Error('no')))
  await it.runtime.advance(4999)
  assert.equal(it.get(GROUP, 'ipaddresses', '', '10.96.0.8'), undefined)
  await it.runtime.advance(100)
  assert.ok(it.get(GROUP, 'ipaddresses', '', '10.96.0.8'))
  it.stop()
  it.put('services', service('c', '10.96.0.9'))
  await it.runtime.advance(10_000)
  assert.equal(it.get(GROUP, 'ipaddresses', '', '10.96.0.9'), undefined)
})
