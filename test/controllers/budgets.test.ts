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

test('a budget over pods of a kind that is not there fails safe once, and a pod under two budgets is told of', async () => {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const of = (group: string, resource: string) =>
    stage.user.resource({ group, version: 'v1', resource }).namespace(namespace)
  const budgets = of('policy', 'poddisruptionbudgets')
  const labels = { app: 'a' }
  for (const name of ['x', 'y'])
    await done(
      budgets.create({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name },
        spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
      } as never),
    )
  const owner = { apiVersion: 'herds.io/v1', kind: 'Herd', name: 'h', uid: 'u', controller: true }
  await done(
    of('', 'pods').create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', labels, ownerReferences: [owner] },
      spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'i' }] },
    } as unknown as KubeObject),
  )
  await runtime.advance(5000)
  const { conditions } = (await done(budgets.get('x')))['status'] as Fields
  const [{ reason, message }] = conditions
  assert.deepEqual([reason, message], ['SyncFailed', 'no matches for kind "Herd" in version "herds.io/v1"'])
  const { items } = await done(of('', 'events').list())
  const told = (wanted: string) => items.filter((event) => (event as Fields)['reason'] === wanted) as readonly Fields[]
  // Once for the pod, and once for the status that was written: it is not tried again and again.
  for (const event of told('CalculateExpectedPodCountFailed')) assert.equal(event['count'], 2)
  assert.equal(told('CalculateExpectedPodCountFailed').length, 2)
  assert.match(
    told('MultiplePodDisruptionBudgets')[0]?.['message'],
    /^Pod "[a-z-]+"\/"a" matches multiple .* Chose "x" arbitrarily\.$/,
  )
  await stage.stop()
})

test('a budget that a pod leaves by its labels counts it until it is looked at for another reason', async () => {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const of = (group: string, resource: string) =>
    stage.user.resource({ group, version: 'v1', resource }).namespace(namespace)
  const [pods, budgets] = [of('', 'pods'), of('policy', 'poddisruptionbudgets')]
  const labels = { app: 'a' }
  for (const name of ['a', 'b'])
    await done(
      pods.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels },
        spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'i' }] },
      } as KubeObject),
    )
  await done(
    budgets.create({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'x' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    } as never),
  )
  const expected = async () => ((await done(budgets.get('x')))['status'] as Fields)['expectedPods']
  const relabel = async (name: string, changed: Fields) => {
    await done(pods.patch(name, 'merge', { metadata: { labels: changed } }))
    await runtime.advance(5000)
  }
  await runtime.advance(5000)
  assert.equal(await expected(), 2)
  await relabel('a', { app: 'b' })
  assert.equal(await expected(), 2)
  await relabel('b', { more: 'y' })
  assert.equal(await expected(), 1)
  await stage.stop()
})
