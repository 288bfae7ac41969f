import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createSliceTracker } from './slice-tracker.ts'

const service: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', uid: 'service' } }
const slice = (uid: string, generation: number): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: uid, uid, generation, resourceVersion: `${uid}${generation}` },
})

test('the informer is behind until it shows what was written and no longer shows what was deleted', () => {
  const tracker = createSliceTracker(simulatedRuntime(1).clock)
  assert.ok(!tracker.isBehind(service, []))
  tracker.wrote(service, slice('a', 1))
  assert.ok(tracker.isBehind(service, []))
  assert.ok(!tracker.isBehind(service, [slice('a', 1)]))
  tracker.wrote(service, slice('a', 2))
  assert.ok(tracker.isBehind(service, [slice('a', 1)]))
  assert.ok(!tracker.isBehind(service, [slice('a', 3)]))
  tracker.deletes(service, slice('b', 1))
  assert.ok(tracker.isBehind(service, [slice('a', 2), slice('b', 1)]))
  assert.ok(!tracker.isBehind(service, [slice('a', 2)]))
  tracker.deletes(service, slice('a', 2))
  tracker.keeps(service, slice('a', 2))
  assert.ok(!tracker.isBehind(service, [slice('a', 2)]))
})

test('a service that has gone, and one whose event does not come within five minutes, is not waited for', async () => {
  const runtime = simulatedRuntime(1)
  const tracker = createSliceTracker(runtime.clock)
  tracker.wrote(service, slice('a', 1))
  tracker.forget(service)
  assert.ok(!tracker.isBehind(service, []))
  tracker.wrote(service, slice('a', 1))
  await runtime.advance(299_000)
  assert.ok(tracker.isBehind(service, []))
  await runtime.advance(2_000)
  assert.ok(!tracker.isBehind(service, []))
})

test('what was written here is news only where it was waited for; what others write or delete is', () => {
  const tracker = createSliceTracker(simulatedRuntime(1).clock)
  tracker.wrote(service, slice('w', 1))
  tracker.isBehind(service, [])
  assert.ok(tracker.isNews(service, slice('w', 1), 'changed'))
  tracker.isBehind(service, [slice('w', 1)])
  assert.ok(!tracker.isNews(service, slice('w', 1), 'changed'))
  assert.ok(tracker.isNews(service, slice('a', 1), 'changed'))
  tracker.wrote(service, slice('a', 1))
  assert.ok(!tracker.isNews(service, slice('a', 1), 'changed'))
  assert.ok(tracker.isNews(service, slice('a', 2), 'changed'))
  assert.ok(tracker.isNews(service, slice('a', 1), 'gone'))
  assert.ok(!tracker.isBehind(service, [slice('w', 1)]), 'what was made and has gone is not waited for')
  tracker.deletes(service, slice('b', 1))
  assert.ok(!tracker.isNews(service, slice('b', 1), 'gone'))
})
