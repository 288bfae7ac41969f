/** What the controller does of a schedule that is changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { formatTime } from '../../base/clock.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createFakeServer } from '../../client/fake-server.ts'
import { createInformerFactory } from '../../client/informer.ts'
import { createClient, inProcessTransport } from '../../client/transport.ts'
import { createCronJobController } from './cronjob-controller.ts'

const DAY = 86_400_000

/** The controller with a CronJob that is due once a day; `told` are the reasons of its Events. */
async function started() {
  const runtime = simulatedRuntime(1)
  const stop = new AbortController()
  const servers = { cronjobs: createFakeServer(), jobs: createFakeServer(), events: createFakeServer() }
  const handler: Handler = (request) => {
    const [, resource] = /\/(cronjobs|jobs|events)\b/.exec(request.path) ?? []
    return servers[resource as keyof typeof servers].handler(request)
  }
  const client = createClient(runtime, inProcessTransport(handler), { user: { name: 'u', groups: [] }, userAgent: 't' })
  const informers = createInformerFactory(runtime, client, stop.signal)
  const put = async (spec: Fields) => {
    servers.cronjobs.put({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c', namespace: 'n', creationTimestamp: formatTime(runtime.clock.now()) },
      spec: { schedule: '0 0 * * *', jobTemplate: { spec: {} }, ...spec },
    } as unknown as KubeObject)
    await runtime.advance(1000)
  }
  await put({})
  const controller = createCronJobController({ runtime, client, informers, signal: stop.signal })
  informers.start()
  await runtime.complete(controller.start())
  await runtime.advance(1000)
  const told = () =>
    servers.events.requests.flatMap(({ method, body }) =>
      method === 'POST' && body?.kind === 'object' ? [body.object['reason']] : [],
    )
  return { put, told, pass: (ms: number) => runtime.advance(ms), stop: () => stop.abort() }
}

test('that another schedule never comes is told at once', async () => {
  const it = await started()
  assert.deepEqual(it.told(), [])
  await it.put({ schedule: '0 0 31 2 *' })
  assert.deepEqual(it.told(), ['InvalidSchedule'])
  it.stop()
})

test('that another zone is unknown is told when the schedule comes by UTC, and once', async () => {
  const it = await started()
  await it.put({ timeZone: 'No/Where' })
  assert.deepEqual(it.told(), [])
  await it.pass(DAY)
  assert.deepEqual(it.told(), ['UnknownTimeZone'])
  it.stop()
})

test('another schedule that cannot be read is told of by the change alone', async () => {
  const it = await started()
  await it.put({ schedule: 'nonsense' })
  assert.deepEqual(it.told(), ['UnParseableCronJobSchedule'])
  it.stop()
})

test('a zone in another schedule is spoken of when the CronJob is looked at, not when it changes', async () => {
  const it = await started()
  await it.put({ schedule: 'TZ=Asia/Tokyo 0 1 * * *' })
  assert.deepEqual(it.told(), [])
  await it.put({ schedule: 'TZ=Asia/Tokyo 0 1 * * *', suspend: true })
  assert.deepEqual(it.told(), ['UnsupportedSchedule'])
  it.stop()
})
