/** The disruption controller, on the simulated clock: what an eviction noted is given up when its pod has not begun to go. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { formatTime } from '../../src/base/clock.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

test('a disrupted pod that is not deleted within two minutes is healthy again, and not before', async () => {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const pods = stage.user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
  const budgets = stage.user
    .resource({ group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' })
    .namespace(namespace)
  const labels = { app: 'a' }
  for (const name of ['a', 'b'])
    await done(
      pods.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      } as unknown as KubeObject),
    )
  const spec = { minAvailable: 1, selector: { matchLabels: labels } }
  await done(
    budgets.create({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'x' }, spec } as never),
  )
  await runtime.advance(20_000)
  const status = async (): Promise<Fields> => (await done(budgets.get('x')))['status']
  assert.equal((await status())['disruptionsAllowed'], 1)
  // As the API server notes an eviction, whose pod then stays.
  const disruptedPods = { a: formatTime(runtime.clock.now()) }
  await done(
    budgets.patch('x', 'merge', { status: { disruptionsAllowed: 0, disruptedPods } } as never, {
      subresource: 'status',
    }),
  )
  const figures = async () => {
    const { disruptionsAllowed, currentHealthy, disruptedPods: noted } = await status()
    return [disruptionsAllowed, currentHealthy, Object.keys(noted ?? {})]
  }
  await runtime.advance(115_000)
  assert.deepEqual(await figures(), [0, 1, ['a']])
  await runtime.advance(10_000)
  assert.deepEqual(await figures(), [1, 2, []])
  await stage.stop()
})
