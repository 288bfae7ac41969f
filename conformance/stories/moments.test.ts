/** When pods that are ready become available, as a v1.37.1 told: to the second in ReplicaSets and StatefulSets, by a wait in DaemonSets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import type { PlayedWrite } from './facts.ts'
import { beat, ds, on, ownNode, rs, sts } from './objects.ts'
import { playSimulated } from './simulated.ts'
import type { Scene } from './story.ts'

const MIN_READY = 4
const idle = { nodeName: 'idle' }
const spec = { replicas: 3, minReadySeconds: MIN_READY }

/** Three pods become ready one after the other, 1.37 seconds apart. */
async function becomeReady(s: Scene): Promise<void> {
  for (const pod of await s.untilPods(3)) {
    await s.running(pod)
    await s.pause(1370)
  }
  await s.pause(9000)
}

/** The moments at which a pod became ready, and those at which the set was told to have more that are available. */
function momentsOf(writes: readonly PlayedWrite[]): {
  readonly ready: readonly number[]
  readonly told: readonly number[]
} {
  const ready: number[] = []
  const told: number[] = []
  let available = 0
  for (const { user, uri, body, at } of writes) {
    const status = (body as Fields | null)?.['status']
    if (user === 'user' && uri.includes('/pods/') && status?.phase === 'Running') ready.push(at)
    const now: number = status?.availableReplicas ?? status?.numberAvailable ?? 0
    if (user.includes('controller') && uri.includes('/status') && now > available) {
      available = now
      told.push(at)
    }
  }
  return { ready, told }
}
const secondOf = (ms: number) => Math.floor(ms / 1000)

for (const [kind, made] of [
  ['replicasets', rs('a', spec, idle)],
  ['statefulsets', sts('a', { ...spec, podManagementPolicy: 'Parallel' }, idle)],
] as const)
  test(`${kind}: each pod is available in the very second in which its time is over`, async () => {
    const { writes } = await playSimulated('moments', {
      async act(s) {
        await s.create(kind, made)
        await becomeReady(s)
      },
    })
    const { ready, told } = momentsOf(writes)
    assert.deepEqual(
      told.map(secondOf),
      ready.map((at) => secondOf(at) + MIN_READY),
    )
    for (const at of told) assert.ok(at % 1000 < 20, String(at))
  })

test('daemonsets: the set is looked at again so long after it told of one that is ready, and not before', async () => {
  const nodes = ['n1', 'n2', 'n3']
  const { writes } = await playSimulated('moments', {
    async act(s) {
      for (const name of nodes) {
        await s.create('nodes', ownNode(s, name))
        await beat(s, name)
      }
      await s.pause(2000)
      await s.create('daemonsets', ds('a', { minReadySeconds: MIN_READY }, on(s)))
      await becomeReady(s)
    },
  })
  const { ready, told } = momentsOf(writes)
  const [first = 0] = ready
  assert.deepEqual(
    told.map((at) => Math.round((at - first) / 1000)),
    [MIN_READY, 2 * MIN_READY],
  )
})
