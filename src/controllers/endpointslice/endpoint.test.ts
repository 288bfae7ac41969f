import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { endpointsByPorts } from './endpoint.ts'

const service = (publishNotReadyAddresses = false): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'n' },
  spec: { ports: [{ name: 'p', port: 80, targetPort: 8080, protocol: 'TCP' }], publishNotReadyAddresses },
})
const pod = (ready: boolean, going: boolean): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u', ...(going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
  spec: { nodeName: 'node', containers: [{ name: 'c' }] },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
})
const conditions = (of: KubeObject, ready: boolean, going: boolean) =>
  [...endpointsByPorts(of, [pod(ready, going)], 'IPv4', () => 'z').values()][0]?.endpoints[0]?.['conditions']

test('a pod that goes serves while it is ready, and is ready for no new connections', () => {
  assert.deepEqual(conditions(service(), true, false), { ready: true, serving: true, terminating: false })
  assert.deepEqual(conditions(service(), false, false), { ready: false, serving: false, terminating: false })
  assert.deepEqual(conditions(service(), true, true), { ready: false, serving: true, terminating: true })
  assert.deepEqual(conditions(service(), false, true), { ready: false, serving: false, terminating: true })
})

test('with publishNotReadyAddresses all are ready, serving or not', () => {
  assert.deepEqual(conditions(service(true), false, false), { ready: true, serving: false, terminating: false })
  assert.deepEqual(conditions(service(true), true, true), { ready: true, serving: true, terminating: true })
})

test('hints follow trafficDistribution, for endpoints that are ready', () => {
  const hints = (trafficDistribution: string, ready = true, zone: string | undefined = 'z', annotations = {}) => {
    const { metadata, ...rest } = service() as KubeObject & { spec: object }
    const asked = { ...rest, metadata: { ...metadata, annotations }, spec: { ...rest.spec, trafficDistribution } }
    return [...endpointsByPorts(asked, [pod(ready, false)], 'IPv4', () => zone).values()][0]?.endpoints[0]?.hints
  }
  const zones = { forZones: [{ name: 'z' }] }
  assert.deepEqual(hints('PreferClose'), zones)
  assert.deepEqual(hints('PreferSameZone'), zones)
  assert.deepEqual(hints('PreferSameNode'), { ...zones, forNodes: [{ name: 'node' }] })
  assert.deepEqual(hints('PreferSameNode', true, ''), { forNodes: [{ name: 'node' }] })
  assert.equal(hints('PreferSameZone', true, ''), undefined)
  assert.equal(hints('PreferSameZone', false), undefined)
  assert.equal(hints(''), undefined)
  assert.equal(hints('PreferSameZone', true, 'z', { 'service.kubernetes.io/topology-mode': 'Auto' }), undefined)
})

test('a pod that has no port of the service is an endpoint without ports', () => {
  const { spec, ...rest } = service()
  const named = { ...rest, spec: { ...(spec as object), ports: [{ name: 'p', port: 80, targetPort: 'none' }] } }
  const groups = [...endpointsByPorts(named, [pod(true, false)], 'IPv4', () => 'z').values()]
  assert.deepEqual(
    groups.map(({ ports, endpoints }) => [ports, endpoints.length]),
    [[[], 1]],
  )
})
