import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createEventRecorder } from './events.ts'
import { configMap, createFakeServer } from './fake-server.ts'
import { endingTransport, timedTransport } from './held-transports.ts'
import { createServiceAccountTokenSource } from './service-account-tokens.ts'
import { createClient, inProcessTransport } from './transport.ts'

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }

test('a request that gets no answer ends in time and cuts the watches, which a server that is gone never ends', async () => {
  const runtime = simulatedRuntime(1)
  const server = createFakeServer()
  let gone = false
  const handler: Handler = (request) => {
    if (!gone) return server.handler(request)
    return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)))
  }
  const transport = timedTransport(runtime, inProcessTransport(handler), 5000)
  const client = createClient(runtime, transport, { userAgent: 'x' }).resource(CONFIG_MAPS)
  const watch = await runtime.complete(client.watch({ resourceVersion: '1' }, new AbortController().signal))
  const end = watch.next()
  await runtime.complete(client.list())
  await runtime.advance(60_000)
  assert.equal(watch.closed, false)
  gone = true
  const failure = client.list().then(
    () => 'answered',
    (error: Error) => error.message,
  )
  assert.equal(await runtime.complete(failure), 'no answer within 5 s: GET /api/v1/configmaps')
  assert.equal(await runtime.complete(end), undefined)
  assert.equal(server.requests.at(-1)?.query.get('timeout'), '5s')
  gone = false
  const next = await runtime.complete(client.watch({ resourceVersion: '1' }, new AbortController().signal))
  assert.equal(next.closed, false)
})

test("a service account's token is asked for once, renewed before it ends, and again when it is not believed; a missing account is made", async () => {
  const runtime = simulatedRuntime(1)
  const asked: string[] = []
  const accounts = new Set<string>()
  const handler: Handler = async ({ method, path, body }) => {
    const name = /serviceaccounts\/([^/]+)\/token$/.exec(path)?.[1]
    asked.push(`${method} ${path.split('/').slice(5).join('/')}`)
    if (name === undefined) {
      accounts.add((body?.kind === 'object' && body.object.metadata.name) || '')
      return { kind: 'object', status: 201, object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: {} } }
    }
    if (!accounts.has(name)) throw new StatusError(404, 'NotFound', 'none')
    const object = { apiVersion: 'v1', kind: 'TokenRequest', metadata: {}, status: { token: `t${asked.length}` } }
    return { kind: 'object', status: 201, object }
  }
  const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'x' })
  const { get, refused } = createServiceAccountTokenSource(runtime, client, 'kube-system').of('a')
  const first = await runtime.complete(Promise.all([get(), get()]))
  assert.deepEqual(first, ['t3', 't3'])
  assert.deepEqual(asked, ['POST serviceaccounts/a/token', 'POST serviceaccounts', 'POST serviceaccounts/a/token'])
  await runtime.advance(40 * 60_000)
  assert.equal(await runtime.complete(get()), 't3')
  await runtime.advance(10 * 60_000)
  assert.equal(await runtime.complete(get()), 't4')
  refused('t3')
  assert.equal(await runtime.complete(get()), 't4')
  refused('t4')
  assert.equal(await runtime.complete(get()), 't5')
})

test('once a component is stopped none of its requests begins, whatever it still had to tell', async () => {
  const runtime = simulatedRuntime(1)
  const server = createFakeServer()
  const stop = new AbortController()
  const transport = endingTransport(inProcessTransport(server.handler), stop.signal)
  const client = createClient(runtime, transport, { userAgent: 'test' })
  const recorder = createEventRecorder(runtime, client, { component: 'c' })
  for (let index = 0; index < 500; index++) recorder.event(configMap(`m${index}`), 'Normal', 'Done', 'it is done')
  await runtime.run({ until: () => server.requests.length >= 3 })
  stop.abort(new Error('stopped'))
  const begun = server.requests.length
  await assert.rejects(runtime.complete(client.raw('GET', '/version')), { message: 'stopped' })
  await runtime.advance(60_000)
  assert.equal(server.requests.length, begun)
})
