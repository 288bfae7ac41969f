import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectContainers } from './container-gc.ts'
import type { RuntimePodStatus } from './pod-cache.ts'

const container = (id: string, name: string, state: 'running' | 'exited', podSandboxId: string, at: number) =>
  ({
    id,
    podSandboxId,
    metadata: { name, attempt: at },
    state,
    createdAt: at,
  }) as RuntimePodStatus['containers'][number]
const sandbox = (id: string, state: 'ready' | 'notReady', createdAt: number) =>
  ({ id, state, createdAt, metadata: { attempt: createdAt } }) as RuntimePodStatus['sandboxes'][number]

const pod: RuntimePodStatus = {
  uid: 'u',
  ips: [],
  sandboxes: [
    sandbox('s3', 'ready', 3),
    sandbox('s2', 'notReady', 2),
    sandbox('s1', 'notReady', 1),
    sandbox('s0', 'notReady', 0),
  ],
  containers: [
    container('a2', 'a', 'running', 's3', 3),
    container('b1', 'b', 'exited', 's2', 2),
    container('a1', 'a', 'exited', 's1', 1),
    container('b0', 'b', 'exited', 's0', 0),
    container('a0', 'a', 'exited', 's0', 0),
  ],
}

async function collected(status: RuntimePodStatus, keepsNone?: (uid: string) => boolean): Promise<readonly string[]> {
  const removed: string[] = []
  const remove = async (id: string) => void removed.push(id)
  await collectContainers({ removeContainer: remove, removePodSandbox: remove }, [status], keepsNone)
  return removed
}

test('of what has ended the newest of each name stays, and the sandboxes of what stays', async () => {
  assert.deepEqual(await collected(pod), ['b0', 'a0', 's0'])
})

test('the newest sandbox stays although it has ended', async () => {
  assert.deepEqual(await collected({ ...pod, sandboxes: [sandbox('s', 'notReady', 3)], containers: [] }), [])
})

test('of a pod that has ended for good nothing stays where disk space is needed', async () => {
  assert.deepEqual(await collected(pod, (uid) => uid === 'u'), ['b1', 'a1', 'b0', 'a0', 's2', 's1', 's0'])
})
