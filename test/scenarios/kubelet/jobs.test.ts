/** A Job's pods on a node: they end by themselves, each the recorded way, and the job counts them to the recorded end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Json, JsonObject } from '../../../src/api/object.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { createNormalizer } from '../normalize.ts'
import { type Recording, readRecording, sorted } from '../recording.ts'
import { recorded, seen } from './compare.ts'
import { pace } from './plays.ts'
import { namespace, startNodeStage } from './stage.ts'

const path = `/apis/batch/v1/namespaces/${namespace}/jobs`
const behaviours: Readonly<Record<string, { readonly exit: Fields; readonly seconds: number }>> = {
  'job-on-a-node': { exit: { 'sim.skiff.dev/exit-after': '1s' }, seconds: 20 },
  'job-fails-on-a-node': {
    exit: { 'sim.skiff.dev/exit-after': '100ms', 'sim.skiff.dev/exit-code': '4' },
    seconds: 30,
  },
}

for (const [name, { exit, seconds }] of Object.entries(behaviours)) {
  for (const seed of [0, 1, 2])
    test(`${name}: its pods' states, the kubelet's writes and the job's end as recorded (${seed === 0 ? 'fifo' : `seed ${seed}`})`, async () => {
      const recording = readRecording(`kubelet/${name}`)
      const runtime = simulatedRuntime(seed, { order: seed === 0 ? 'fifo' : 'seeded' })
      const stage = await startNodeStage(runtime, { controllers: true })
      const job = recording.writes.find(({ user, verb }) => user === 'user' && verb === 'create')?.body
      await stage.ask('POST', path, withAnnotations(job as unknown as Fields, { ...pace, ...exit }))
      await runtime.advance(seconds * 1000)
      const ours = seen(stage)
      const theirs = recorded(recording)
      const { body } = await stage.ask('GET', `${path}/j`)
      await stage.stop()
      // In other orders the kubelet may tell two steps as one.
      if (seed === 0) {
        assert.deepEqual(bySort(ours.writes), bySort(theirs.writes))
        assert.deepEqual(bySort(ours.states), bySort(theirs.states))
      }
      assert.deepEqual(
        ours.events.filter((event) => event.includes('spec.containers')),
        theirs.events,
      )
      assert.deepEqual(createNormalizer(namespace).json(body.status), endOf(recording))
    })
}

/** Behind a pod's own order there is none between pods, whose names end as chance will have it. */
const bySort = (list: readonly Json[]) =>
  list.map((item) => JSON.stringify(item).replace(/\bj-[a-z0-9]{5}\b/g, 'j-<pod>')).sort()

function endOf({ states }: Recording): Json {
  const { object } = states.findLast(({ resource }) => resource === 'jobs') as { object: JsonObject }
  return sorted(object['status'] as Json)
}

function withAnnotations(job: Fields, annotations: Fields): Fields {
  const { spec } = job
  const { template } = spec
  const { labels: _, ...metadata } = template.metadata ?? {}
  return { ...job, spec: { ...spec, template: { ...template, metadata: { ...metadata, annotations } } } }
}
