import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceClass, Node, Pod } from '../../api/generated/types.ts'
import { backedResources, extendedRequests, withoutPlugin } from './extended-resources.ts'

const deviceClass = (name: string, creationTimestamp: string, extendedResourceName?: string) =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceClass',
    metadata: { name, creationTimestamp },
    spec: extendedResourceName === undefined ? {} : { extendedResourceName },
  }) as DeviceClass

test('of several classes for one resource the newest stands for it, and each has a resource of its own', () => {
  const backed = backedResources([
    deviceClass('old', '2026-01-01T00:00:00Z', 'example.com/gpu'),
    deviceClass('new', '2026-01-02T00:00:00Z', 'example.com/gpu'),
  ])
  assert.equal(backed.get('example.com/gpu'), 'new')
  assert.equal(backed.get('deviceclass.resource.kubernetes.io/old'), 'old')
})

test('what a node has by a plugin is not asked of devices', () => {
  const backed = backedResources([deviceClass('c', '2026-01-01T00:00:00Z', 'example.com/gpu')])
  const resources = { requests: { cpu: '1', 'example.com/gpu': '2' } }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a' }, { name: 'b', resources }] },
  } as unknown as Pod
  const requests = extendedRequests(pod, backed)
  assert.deepEqual(
    requests.map(({ request, count }) => [request, count]),
    [['container-1-request-1', 2]],
  )
  const node = (gpus: string) =>
    ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {},
      status: { allocatable: { 'example.com/gpu': gpus } },
    }) as unknown as Node
  assert.deepEqual(withoutPlugin(requests, node('4')), [])
  assert.deepEqual(withoutPlugin(requests, node('0')), requests)
})
