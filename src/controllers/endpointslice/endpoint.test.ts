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
