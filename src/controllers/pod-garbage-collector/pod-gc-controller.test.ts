import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { ControllerContext } from '../controller.ts'
import { createPodGarbageCollector } from './pod-gc-controller.ts'

/** Born in the order of their names' last letters. */
const pod = (name: string, phase: string, reason = ''): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'n',
      uid: name,
      creationTimestamp: `2026-01-01T00:00:0${name.charCodeAt(name.length - 1) - 97}Z`,
    },
    spec: { nodeName: 'node' },
    status: { phase, reason },
  }) as never

/** Names of the pods that are deleted in one round, in order. */
async function collected(pods: readonly KubeObject[], terminatedPodThreshold: number): Promise<readonly string[]> {
  const runtime = simulatedRuntime(1)
  const deleted: string[] = []
  const node = { metadata: { name: 'node' } }
  const informerOf = (objects: readonly unknown[]) => ({
    store: { list: () => objects, get: () => objects[0] },
    whenSynced: async () => {},
  })
  const resource = {
    patch: async () => ({}),
    get: async () => node,
    async delete(name: string) {
      deleted.push(name)
    },
    namespace: () => resource,
  }
  const stop = new AbortController()
  const context = {
    runtime,
    informers: {
      informer: (gvr: { resource: string }) => informerOf(gvr.resource === 'pods' ? pods : [node]),
    },
    client: { resource: () => resource },
    signal: stop.signal,
  } as unknown as ControllerContext
  await runtime.complete(createPodGarbageCollector(context, { terminatedPodThreshold }).start())
  await runtime.advance(1000)
  stop.abort()
  return deleted
}

test('finished pods beyond the threshold go, the oldest first; others are not counted', async () => {
  const pods = [
    pod('running-a', 'Running'),
    pod('pending-b', 'Pending'),
    pod('ended-e', 'Succeeded'),
    pod('ended-c', 'Failed'),
    pod('ended-d', 'Succeeded'),
  ]
  assert.deepEqual(await collected(pods, 3), [])
  assert.deepEqual(await collected(pods, 2), ['ended-c'])
  assert.deepEqual(await collected(pods, 1), ['ended-c', 'ended-d'])
  assert.deepEqual(await collected(pods, 0), [], 'no threshold')
})

test('of finished pods beyond the threshold evicted ones go first', async () => {
  const pods = [
    pod('ended-a', 'Succeeded'),
    pod('ended-b', 'Failed', 'Preempting'),
    pod('evicted-c', 'Failed', 'Evicted'),
    pod('succeeded-d', 'Succeeded', 'Evicted'),
    pod('evicted-e', 'Failed', 'Evicted'),
    pod('running-f', 'Running', 'Evicted'),
  ]
  assert.deepEqual(await collected(pods, 4), ['evicted-c'])
  assert.deepEqual(await collected(pods, 2), ['evicted-c', 'evicted-e', 'ended-a'])
  assert.deepEqual(await collected(pods, 1), ['evicted-c', 'evicted-e', 'ended-a', 'ended-b'])
})
