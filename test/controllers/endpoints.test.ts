/** The endpoints controller with all others, in orders that chance decides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

test('no write is made on what the controller itself has changed since, and the last one tells all pods', async () => {
  for (const seed of [1, 2, 3]) {
    const runtime = simulatedRuntime(seed)
    const stage = await startStage(runtime, { nodes: 1 })
    const make = (group: string, resource: string, object: object) =>
      stage.user
        .resource({ group, version: 'v1', resource })
        .namespace(namespace)
        .create(object as KubeObject)
    const labels = { app: 'x' }
    const ports = [{ port: 80 }]
    await runtime.complete(make('', 'services', { metadata: { name: 's' }, spec: { selector: labels, ports } }))
    stage.mark()
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 20, selector: { matchLabels: labels }, template }
    await runtime.complete(make('apps', 'replicasets', { metadata: { name: 'r' }, spec }))
    await runtime.advance(30_000)
    const wrote = stage.writes.filter(({ uri, verb }) => uri.includes('/endpoints/') && verb === 'update')
    assert.ok(wrote.length > 0)
    assert.deepEqual([...new Set(wrote.map(({ code }) => code))], [200], `seed ${seed}`)
    const endpoints = stage.user.resource({ group: '', version: 'v1', resource: 'endpoints' }).namespace(namespace)
    const { subsets } = (await runtime.complete(endpoints.get('s'))) as unknown as {
      subsets: { addresses: object[] }[]
    }
    assert.equal(subsets[0]?.addresses.length, 20)
    await stage.stop()
  }
})
