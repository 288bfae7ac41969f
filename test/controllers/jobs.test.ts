/** Jobs that fail, wait, stop and go, with all controllers on the simulated clock. Nobody runs their pods but the test. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { formatTime } from '../../src/base/clock.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { metricLines } from '../metric-lines.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

async function stageOf(spec: Fields) {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const stage = await startStage(runtime, { nodes: 0 })
  stage.mark()
  const jobs = stage.user.resource({ group: 'batch', version: 'v1', resource: 'jobs' }).namespace(namespace)
  const pods = stage.user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { ...spec, template } }
  await runtime.complete(jobs.create(job as unknown as KubeObject))
  await runtime.advance(2000)
  const running = async () =>
    (await runtime.complete(pods.list())).items.filter((pod) => !['Failed', 'Succeeded'].includes(pod['status'].phase))
  return {
    stage,
    runtime,
    jobs,
    running,
    lines: (part: string) => metricLines(metrics, part),
    all: async () => (await runtime.complete(pods.list())).items,
    advance: (seconds: number) => runtime.advance(seconds * 1000),
    patch: (body: Fields) => runtime.complete(jobs.patch('j', 'merge', body as never)),
    async status(): Promise<Fields> {
      return (await runtime.complete(jobs.get('j')))['status']
    },
    async endAll(phase: 'Failed' | 'Succeeded') {
      const finishedAt = formatTime(runtime.clock.now())
      const state = { terminated: { exitCode: phase === 'Failed' ? 1 : 0, finishedAt } }
      const containerStatuses = [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }]
      for (const pod of await running()) {
        const body = { status: { phase, containerStatuses } }
        await runtime.complete(
          pods.patch(pod.metadata.name as string, 'merge', body as never, { subresource: 'status' }),
        )
      }
      await runtime.advance(3000)
    },
  }
}
const conditions = (status: Fields): readonly string[] =>
  ((status['conditions'] ?? []) as readonly Fields[]).map(
    ({ type, status: value, reason }) => `${type} ${value} ${reason}`,
  )

test('after a failure a job waits ten seconds, after the next twenty; beyond its limit it has failed', async () => {
  const { stage, advance, running, endAll, status } = await stageOf({ backoffLimit: 2 })
  for (const wait of [10, 20]) {
    await endAll('Failed')
    assert.equal((await running()).length, 0)
    await advance(wait - 5)
    assert.equal((await running()).length, 0)
    await advance(6)
    assert.equal((await running()).length, 1)
  }
  await endAll('Failed')
  const ended = await status()
  assert.equal(ended['failed'], 3)
  assert.deepEqual(conditions(ended), ['FailureTarget True BackoffLimitExceeded', 'Failed True BackoffLimitExceeded'])
  assert.ok(stage.events.some(({ type, reason }) => type === 'Warning' && reason === 'BackoffLimitExceeded'))
  await stage.stop()
})

test('a suspended job gives its pods up without counting them, and begins anew', async () => {
  const { stage, advance, running, patch, status, endAll } = await stageOf({ parallelism: 2, completions: 2 })
  assert.equal((await running()).length, 2)
  await patch({ spec: { suspend: true } })
  await advance(5)
  assert.equal((await running()).length, 0)
  const suspended = await status()
  assert.deepEqual(
    [suspended['active'], suspended['failed'], suspended['startTime']],
    [undefined, undefined, undefined],
  )
  assert.deepEqual(conditions(suspended), ['Suspended True JobSuspended'])
  await patch({ spec: { suspend: false } })
  await advance(5)
  await endAll('Succeeded')
  assert.deepEqual(conditions(await status()), [
    'Suspended False JobResumed',
    'SuccessCriteriaMet True CompletionsReached',
    'Complete True CompletionsReached',
  ])
  await stage.stop()
})

test('a job that takes too long loses its pods and has failed', async () => {
  const { stage, advance, running, status } = await stageOf({ activeDeadlineSeconds: 20 })
  await advance(15)
  assert.equal((await running()).length, 1)
  await advance(10)
  assert.equal((await running()).length, 0)
  assert.deepEqual(conditions(await status()), ['FailureTarget True DeadlineExceeded', 'Failed True DeadlineExceeded'])
  await stage.stop()
})

test('fewer at a time: surplus pods go, and are not failures', async () => {
  const { stage, advance, running, patch, status } = await stageOf({ parallelism: 3, completions: 5 })
  await patch({ spec: { parallelism: 1 } })
  await advance(5)
  assert.equal((await running()).length, 1)
  assert.equal((await status())['failed'], undefined)
  await stage.stop()
})

test('the pods of a deleted job let go of it', async () => {
  const { stage, runtime, jobs, all, advance } = await stageOf({ parallelism: 2 })
  await runtime.complete(jobs.delete('j', { propagationPolicy: 'Background' }))
  await advance(30)
  assert.deepEqual(await all(), [])
  await stage.stop()
})

test('with orphaned pods nothing holds them', async () => {
  const { stage, runtime, jobs, all, advance } = await stageOf({ parallelism: 1 })
  await runtime.complete(jobs.delete('j', { propagationPolicy: 'Orphan' }))
  await advance(30)
  const [pod] = await all()
  assert.deepEqual([pod?.metadata.ownerReferences, pod?.metadata.finalizers], [undefined, undefined])
  await stage.stop()
})

test('a pod made for a job that was over is let go: nobody will count it', async () => {
  const { stage, jobs, all, endAll, status, advance, runtime } = await stageOf({})
  await endAll('Succeeded')
  assert.deepEqual(conditions(await status()).slice(-1), ['Complete True CompletionsReached'])
  const { uid = '' } = (await runtime.complete(jobs.get('j'))).metadata
  const late = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'late',
      finalizers: ['batch.kubernetes.io/job-tracking'],
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const pods = stage.user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
  await runtime.complete(pods.create(late as unknown as KubeObject))
  await runtime.complete(jobs.delete('j', { propagationPolicy: 'Foreground' }))
  await advance(10)
  assert.deepEqual(await all(), [])
  await stage.stop()
})

test('metrics tell how jobs and their pods ended, and what syncs did', async () => {
  const { stage, endAll, lines } = await stageOf({ backoffLimit: 0, parallelism: 2, completions: 2 })
  await endAll('Failed')
  const labels = (action: string) => `{action="${action}",completion_mode="NonIndexed",result="success"}`
  assert.deepEqual(lines('job_controller_jobs_'), [
    'finished_total{completion_mode="NonIndexed",reason="BackoffLimitExceeded",result="failed"} 1',
  ])
  assert.deepEqual(lines('job_controller_job_pods_'), [
    'creation_total{reason="new",status="succeeded"} 2',
    'finished_total{completion_mode="NonIndexed",result="failed"} 2',
    'finished_total{completion_mode="NonIndexed",result="succeeded"} 0',
  ])
  assert.deepEqual(lines('job_controller_terminated_pods_tracking_finalizer_total'), [
    '{event="add"} 2',
    '{event="delete"} 2',
  ])
  const syncs = lines('job_controller_job_syncs_total')
  assert.ok(syncs.includes(`${labels('pods_created')} 1`), syncs.join())
  assert.ok(
    syncs.some((line) => line.startsWith(labels('reconciling'))),
    syncs.join(),
  )
  assert.deepEqual(lines('job_controller_job_sync_duration_seconds_count'), syncs)
  await stage.stop()
})

test('metrics tell which pods were made in the place of failed ones, and by which policy', async () => {
  for (const [policy, reason] of [
    ['TerminatingOrFailed', 'recreate_terminating_or_failed'],
    ['Failed', 'recreate_failed'],
  ]) {
    const { stage, endAll, advance, lines } = await stageOf({ podReplacementPolicy: policy })
    await endAll('Failed')
    await advance(20)
    assert.deepEqual(lines('job_controller_job_pods_creation_total'), [
      '{reason="new",status="succeeded"} 1',
      `{reason="${reason}",status="succeeded"} 1`,
    ])
    await stage.stop()
  }
})
