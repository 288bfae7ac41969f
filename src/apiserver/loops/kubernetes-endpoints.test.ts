import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { startKubernetesEndpoints } from './kubernetes-endpoints.ts'
import { startStandIn } from './test-stand-in.ts'

const ENDPOINTS = '/api/v1/namespaces/default/endpoints'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

async function started(addresses: readonly string[], before: readonly KubeObject[] = []) {
  const it = startStandIn()
  for (const object of before) it.put(object.kind === 'Endpoints' ? 'endpoints' : 'endpointslices', object)
  const { runtime, handler, signal } = it.options
  await startKubernetesEndpoints({ runtime, handler, addresses, port: 6443, signal })
  return it
}

const left = (manager: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'kubernetes', namespace: 'default', managedFields: [{ manager, operation: 'Update' }] },
  subsets: [{ addresses: [{ ip: '10.0.0.1' }] }],
})

test('both name where pods reach the server, and are written once', async () => {
  const it = await started(['10.244.0.1'])
  assert.deepEqual(it.taken(), [`POST ${ENDPOINTS}`, `POST ${SLICES}`])
  const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }]
  const endpoints = it.get('', 'endpoints', 'default', 'kubernetes')
  assert.deepEqual(endpoints?.['subsets'], [{ addresses: [{ ip: '10.244.0.1' }], ports }])
  assert.equal(endpoints?.metadata.labels?.['endpointslice.kubernetes.io/skip-mirror'], 'true')
  const slice = it.get('discovery.k8s.io', 'endpointslices', 'default', 'kubernetes')
  assert.deepEqual(slice?.['endpoints'], [{ addresses: ['10.244.0.1'], conditions: { ready: true } }])
  assert.equal(slice?.metadata.labels?.['kubernetes.io/service-name'], 'kubernetes')
  await it.runtime.advance(30_000)
  assert.deepEqual(it.taken(), [])
})

test('a server that is reached by IPv6 has a slice of that family', async () => {
  const it = await started(['fd00:7::1'])
  const slice: EndpointSlice | undefined = it.get('discovery.k8s.io', 'endpointslices', 'default', 'kubernetes')
  assert.deepEqual([slice?.addressType, slice?.endpoints?.[0]?.addresses], ['IPv6', ['fd00:7::1']])
})

test('what is written otherwise is mended within ten seconds, and what was there keeps its labels', async () => {
  const it = await started(['10.244.0.1'])
  it.taken()
  const old = it.get('', 'endpoints', 'default', 'kubernetes') as KubeObject
  const labels = { ...old.metadata.labels, mine: 'yes' }
  it.put('endpoints', { ...old, metadata: { ...old.metadata, labels }, subsets: [] })
  await it.runtime.advance(10_000)
  assert.deepEqual(it.taken(), [`PUT ${ENDPOINTS}/kubernetes`])
  const mended = it.get('', 'endpoints', 'default', 'kubernetes')
  assert.equal(mended?.['subsets'][0].addresses[0].ip, '10.244.0.1')
  assert.equal(mended?.metadata.labels?.['mine'], 'yes')
})

test('a server that pods cannot reach takes away what one before it wrote, and nothing that others wrote', async () => {
  assert.deepEqual((await started([], [left('kube-apiserver')])).taken(), [`DELETE ${ENDPOINTS}/kubernetes`])
  assert.deepEqual((await started([], [left('kubectl')])).taken(), [])
  assert.deepEqual((await started([])).taken(), [])
})
