import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
import { createMetrics } from '../../base/metrics.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { ControllerContext } from '../controller.ts'
import { createTtlAfterFinishedController } from './ttl-after-finished-controller.ts'

const runtimeOf = () => simulatedRuntime(1)
const job = (endMs: number, ttl: number | undefined, metadata: Fields = {}): KubeObject =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'n', uid: 'u', ...metadata },
    spec: ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl },
    status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: formatTime(endMs) }] },
  }) as never

/** Runs the controller, which sees `seen`, beside a server that has `live`; tells the deletes, with the seconds after the start. */
async function deletesOf(seen: KubeObject, live: KubeObject, runtime = runtimeOf()): Promise<readonly unknown[]> {
  const deletes: unknown[] = []
  const startMs = runtime.clock.now()
  const jobs = {
    store: { get: () => seen },
    addHandlers: ({ added }: { added: (object: KubeObject) => void }) => added(seen),
    whenSynced: async () => {},
  }
  const resource = {
    get: async () => live,
    async delete(name: string, options: unknown) {
      deletes.push([name, options, (runtime.clock.now() - startMs) / 1000])
    },
  }
  const stop = new AbortController()
  const context = {
    runtime,
    informers: { informer: () => jobs },
    client: { resource: () => ({ namespace: () => resource }) },
    signal: stop.signal,
  } as unknown as ControllerContext
  await runtime.complete(createTtlAfterFinishedController(context).start())
  await runtime.advance(60_000)
  stop.abort()
  return deletes
}

const foreground = { propagationPolicy: 'Foreground', preconditions: { uid: 'u' } }

test('a job is deleted, as the one that ended, so many seconds after its end', async () => {
  const metrics = createMetrics()
  const runtime = { ...runtimeOf(), metrics }
  const ended = job(runtime.clock.now() - 10_000, 30)
  const [first] = await deletesOf(ended, ended, runtime)
  assert.deepEqual(first, ['j', foreground, 20])
  assert.match(metrics.text(), /^ttl_after_finished_controller_job_deletion_duration_seconds_bucket\{le="0.1"\} 1$/m)
})

test('a time that was put off, or another job of the name, is seen before it is deleted', async () => {
  const runtime = runtimeOf()
  const endMs = runtime.clock.now() - 10_000
  assert.deepEqual(await deletesOf(job(endMs, 5), job(endMs, 3600), runtime), [])
  assert.deepEqual(await deletesOf(job(endMs, 5), job(endMs, undefined)), [])
  const going = { deletionTimestamp: formatTime(endMs) }
  assert.deepEqual(await deletesOf(job(endMs, 5), job(endMs, 5, going)), [])
})

test('without a time, or while it is being deleted, a job stays', async () => {
  const endMs = runtimeOf().clock.now() - 10_000
  for (const stays of [job(endMs, undefined), job(endMs, 0, { deletionTimestamp: formatTime(endMs) })])
    assert.deepEqual(await deletesOf(stays, job(endMs, 0)), [])
})
