import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../api/status.ts'
import { formatTime } from '../base/clock.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createCorrelation } from './event-correlation.ts'
import { createEventRecorder } from './events.ts'
import { configMap, createFakeServer } from './fake-server.ts'
import { createClient, inProcessTransport } from './transport.ts'

function setup() {
  const runtime = simulatedRuntime(1)
  const server = createFakeServer()
  const client = createClient(runtime, inProcessTransport(server.handler), { userAgent: 'test' })
  const bodies = () =>
    server.requests.map((request) => ({
      method: request.method,
      body: request.body?.kind === 'object' ? request.body.object : undefined,
    }))
  return { runtime, server, client, bodies }
}
const subject = { ...configMap('a'), metadata: { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7' } }

test('an event names its object, source and times', async () => {
  const { runtime, client, bodies } = setup()
  createEventRecorder(runtime, client, { component: 'c' }).event(subject, 'Normal', 'Done', 'it is done')
  await runtime.settle()
  assert.deepEqual(bodies(), [
    {
      method: 'POST',
      body: {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: { name: 'a.18867251edfa0065', namespace: 'default' },
        involvedObject: {
          kind: 'ConfigMap',
          namespace: 'default',
          name: 'a',
          uid: 'u',
          apiVersion: 'v1',
          resourceVersion: '7',
        },
        reason: 'Done',
        message: 'it is done',
        source: { component: 'c' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
        type: 'Normal',
        eventTime: null,
        reportingComponent: 'c',
        reportingInstance: '',
      },
    },
  ])
})

test('events that two recorders tell of one object in one instant have different names', async () => {
  const { runtime, client, bodies } = setup()
  for (const component of ['scheduler', 'kubelet'])
    createEventRecorder(runtime, client, { component }).event(subject, 'Normal', 'Done', component)
  await runtime.settle()
  assert.equal(new Set(bodies().map(({ body }) => body?.metadata.name)).size, 2)
})

test('a repeated event is counted on the first one', async () => {
  const { runtime, client, bodies } = setup()
  const recorder = createEventRecorder(runtime, client, { component: 'c' })
  recorder.event(subject, 'Normal', 'Done', 'it is done')
  await runtime.advance(5000)
  recorder.event(subject, 'Normal', 'Done', 'it is done')
  await runtime.settle()
  assert.deepEqual(bodies()[1], {
    method: 'PATCH',
    body: { count: 2, lastTimestamp: '2026-01-01T00:00:05Z', message: 'it is done' },
  })
})

test('the tenth different message of a kind and all after it are combined', async () => {
  const { runtime, client, server, bodies } = setup()
  const recorder = createEventRecorder(runtime, client, { component: 'c' })
  for (let index = 0; index < 12; index++) {
    recorder.event(subject, 'Warning', 'Failed', `no ${index}`)
    await runtime.advance(1)
  }
  const sent = bodies()
  assert.equal(sent.filter(({ method }) => method === 'POST').length, 10)
  assert.equal(sent[9]?.body?.['message'], '(combined from similar events): no 9')
  assert.equal(sent[9]?.body?.['reportingComponent'], '')
  assert.deepEqual([sent[10]?.body?.['count'], sent[11]?.body?.['count']], [2, 3])
  assert.equal(server.requests.length, 12)
})

test('an object is heard 25 times, then once in five minutes', async () => {
  const { runtime, client, server } = setup()
  const recorder = createEventRecorder(runtime, client, { component: 'c' })
  for (let index = 0; index < 40; index++) recorder.event(subject, 'Normal', 'Done', 'again')
  await runtime.settle()
  assert.equal(server.requests.length, 25)
  await runtime.advance(300_000)
  for (let index = 0; index < 5; index++) recorder.event(subject, 'Normal', 'Done', 'again')
  await runtime.settle()
  assert.equal(server.requests.length, 26)
})

test('an events.k8s.io event that comes again becomes a series', async () => {
  const { runtime, client, bodies } = setup()
  const recorder = createEventRecorder(runtime, client, { component: 's', host: 'h' }, 'events.k8s.io/v1')
  for (let index = 0; index < 3; index++) {
    recorder.event(subject, 'Warning', 'FailedScheduling', 'no nodes', { action: 'Scheduling' })
    await runtime.advance(1000)
  }
  const sent = bodies()
  assert.equal(sent.length, 2)
  assert.equal(sent[0]?.body?.['note'], 'no nodes')
  assert.equal(sent[0]?.body?.['eventTime'], '2026-01-01T00:00:00.000000Z')
  assert.deepEqual(sent[1]?.body, { series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' } })
})

test('events beyond the limit wait for their turn', async () => {
  const { runtime, client, bodies } = setup()
  const recorder = createEventRecorder(runtime, client, { component: 'c' }, 'v1', { perSecond: 10, burst: 2 })
  for (const reason of ['A', 'B', 'C', 'D']) recorder.event(subject, 'Normal', reason, 'it is done')
  await runtime.settle()
  assert.equal(bodies().length, 2)
  await runtime.advance(100)
  assert.equal(bodies().length, 3)
  await runtime.advance(100)
  assert.equal(bodies().length, 4)
})

test('of a flood of events a thousand wait, and what comes then is dropped', async () => {
  const { runtime, client, bodies } = setup()
  const recorder = createEventRecorder(runtime, client, { component: 'c' }, 'v1', { perSecond: 100, burst: 1 })
  for (let i = 0; i < 3000; i++) {
    const metadata = { ...subject.metadata, name: `a${i}`, uid: `u${i}` }
    recorder.event({ ...subject, metadata }, 'Normal', 'Done', 'it is done')
  }
  await runtime.advance(60_000)
  assert.equal(bodies().length, 1000)
  recorder.event(subject, 'Normal', 'Later', 'it is done')
  await runtime.advance(1000)
  assert.equal(bodies().length, 1001)
})

test('of what goes with a namespace nothing more is told once it has refused an Event, and of one of the same name that is made later all', async () => {
  const { runtime, server, client, bodies } = setup()
  const correlation = createCorrelation(runtime.clock)
  const recorder = createEventRecorder(runtime, client, { component: 'c' }, 'v1', undefined, correlation)
  const tell = async (name: string, creationTimestamp: string | undefined, namespace = 'default') => {
    const metadata = { name, namespace, uid: name, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) }
    const before = bodies().length
    recorder.event({ ...subject, metadata }, 'Normal', 'Killing', 'it ends')
    await runtime.settle()
    return bodies().length - before
  }
  const early = formatTime(runtime.clock.now())
  await runtime.advance(5000)
  const cause = { reason: 'NamespaceTerminating', message: 'it ends', field: 'metadata.namespace' }
  server.fail('POST', new StatusError(403, 'Forbidden', 'the namespace ends', { causes: [cause] }))
  assert.equal(await tell('a', early), 1)
  assert.equal(await tell('b', early), 0)
  assert.equal(await tell('c', early, 'other'), 1)
  assert.equal(await tell('d', undefined), 1)
  assert.equal(await tell('e', formatTime(runtime.clock.now())), 1)
  await runtime.advance(60_001)
  assert.equal(await tell('f', early), 1)
})
