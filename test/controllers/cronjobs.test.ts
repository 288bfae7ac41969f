/** CronJobs with all controllers on the simulated clock: runs that were missed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { formatTime } from '../../src/base/clock.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { eventsResource, namespace, startStage } from '../scenarios/stage.ts'

const HOUR = 3_600_000
const DAILY = '0 0 * * *'
/** The test says how it goes. */
const MANAGED_ELSEWHERE = {
  spec: {
    managedBy: 'example.com/test',
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
  },
}

async function stageOf(spec: Fields) {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const stage = await startStage(runtime, { nodes: 0 })
  stage.mark()
  const of = (resource: string) => stage.user.resource({ group: 'batch', version: 'v1', resource }).namespace(namespace)
  const patch = async (name: string, resource: string, body: Fields, subresource?: string) => {
    const options = subresource === undefined ? {} : { subresource }
    await runtime.complete(of(resource).patch(name, 'merge', body as never, options))
    await runtime.advance(2000)
  }
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: { schedule: DAILY, jobTemplate: { spec: { template } }, ...spec },
  }
  await runtime.complete(of('cronjobs').create(cronJob as unknown as KubeObject))
  await runtime.advance(1000)
  return {
    stage,
    metrics,
    change: (body: Fields) => patch('c', 'cronjobs', { spec: body }),
    lastRan: (hoursAgo: number) =>
      patch(
        'c',
        'cronjobs',
        { status: { lastScheduleTime: formatTime(runtime.clock.now() - hoursAgo * HOUR) } },
        'status',
      ),
    jobs: async () => (await runtime.complete(of('jobs').list())).items,
    async complete(name: string) {
      const at = formatTime(runtime.clock.now())
      const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: at,
      }))
      await patch(
        name,
        'jobs',
        { status: { startTime: at, completionTime: at, succeeded: 1, active: null, ready: 0, conditions } },
        'status',
      )
    },
    async told(reason: string) {
      const { items } = await runtime.complete(stage.user.resource(eventsResource).namespace(namespace).list())
      return items.filter((event) => event['reason'] === reason).reduce((sum, event) => sum + Number(event['count']), 0)
    },
  }
}

test('what another schedule or zone would have missed is not made up for', async () => {
  const { stage, metrics, change, lastRan, jobs } = await stageOf({ suspend: true })
  await lastRan(50)
  await change({ suspend: false, timeZone: 'Asia/Tokyo' })
  await change({ schedule: '0 1 * * *' })
  assert.equal((await jobs()).length, 0)
  await change({ suspend: true })
  await change({ suspend: false })
  assert.equal((await jobs()).length, 1)
  const late = (bound: string) => `cronjob_controller_job_creation_skew_duration_seconds_bucket{le="${bound}"}`
  assert.match(metrics.text(), new RegExp(`${late('512')} 0\n${late('\\+Inf')} 1`))
  await stage.stop()
})

test('a run that is due once more, and has ended, is seen to complete once more', async () => {
  const { stage, lastRan, jobs, complete, told } = await stageOf({ jobTemplate: MANAGED_ELSEWHERE })
  await lastRan(50)
  const [job] = await jobs()
  await complete(job?.metadata.name ?? '')
  assert.equal(await told('SawCompletedJob'), 1)
  await lastRan(50)
  assert.equal((await jobs()).length, 1)
  assert.equal(await told('SawCompletedJob'), 2)
  await stage.stop()
})
