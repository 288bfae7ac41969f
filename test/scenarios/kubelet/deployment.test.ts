/** A Deployment's pods on a node, deleted with it: each goes the recorded way, in whatever order the controllers come to it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/object.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { readRecording } from '../recording.ts'
import { recorded, seen } from './compare.ts'
import { pace } from './plays.ts'
import { namespace, startNodeStage } from './stage.ts'

const path = `/apis/apps/v1/namespaces/${namespace}/deployments`

for (const seed of [0, 1, 2])
  test(`deployment-on-a-node: its pods' states and the kubelet's writes as recorded (${seed === 0 ? 'fifo' : `seed ${seed}`})`, async () => {
    const recording = readRecording('kubelet/deployment-on-a-node')
    const runtime = simulatedRuntime(seed, { order: seed === 0 ? 'fifo' : 'seeded' })
    const stage = await startNodeStage(runtime, { controllers: true })
    const user = recording.writes.find(({ user: name, verb }) => name === 'user' && verb === 'create')
    const deployment = (user?.body ?? deploymentOf(recording.states)) as JsonObject
    await stage.ask('POST', path, withAnnotations(deployment))
    await runtime.advance(10_000)
    stage.states.length = 0
    stage.writes.length = 0
    stage.events.length = 0
    await stage.ask('DELETE', `${path}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Foreground' })
    await runtime.advance(10_000)
    const ours = seen(stage)
    const theirs = recorded(recording)
    assert.equal((await stage.ask('GET', `${path}/a`)).code, 404)
    await stage.stop()
    // Behind a pod's own order there is none between pods.
    const bySort = (list: readonly Json[]) => list.map((item) => JSON.stringify(item)).sort()
    assert.deepEqual(bySort(ours.writes.map(anonymous)), bySort(theirs.writes.map(anonymous)))
    if (seed === 0) assert.deepEqual(bySort(ours.states), bySort(theirs.states))
    assert.deepEqual(ours.events, theirs.events)
  })

/** The pods' names end as chance will have it. */
function anonymous(value: Json): Json {
  return JSON.parse(JSON.stringify(value).replace(/a-[a-z0-9]+-[a-z0-9]{5}/g, 'a-<pod>'))
}

function deploymentOf(states: readonly { readonly resource: string; readonly object: JsonObject }[]): JsonObject {
  const { object } = states.find(({ resource }) => resource === 'deployments')!
  const { spec } = object as { spec: JsonObject }
  return { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'a' }, spec }
}

function withAnnotations(deployment: JsonObject): unknown {
  const { spec, ...rest } = deployment as { spec: { template: { metadata?: JsonObject } } }
  const { template } = spec
  return {
    ...rest,
    spec: { ...spec, template: { ...template, metadata: { ...template.metadata, annotations: pace } } },
  }
}
