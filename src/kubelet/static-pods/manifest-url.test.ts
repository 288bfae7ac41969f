import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { nameOf, type Pod } from '../pod.ts'
import { checkManifestUrl, manifestUrl, parseHeaders } from './manifest-url.ts'

const manifest = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })

test('pods of a URL are asked for every twenty seconds, and stay while nothing usable comes', async () => {
  let answer: readonly [status: number, body: string] = [200, '']
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    response.writeHead(answer[0]).end(answer[1])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`
  const runtime = simulatedRuntime(1)
  const stop = new AbortController()
  const told: string[][] = []
  let next = Promise.withResolvers<void>()
  // The server is a real one: what it answers comes in its own time.
  const log = { ...runtime.log, error: () => next.resolve() }
  const tell = (pods: readonly Pod[]) => {
    told.push(pods.map(nameOf))
    next.resolve()
  }
  const source = manifestUrl({
    runtime: { ...runtime, log },
    nodeName: 'n1',
    url,
    headers: ['x-a:b,x-a:c'],
  })
  const answered = async (status: number, body: unknown) => {
    answer = [status, typeof body === 'string' ? body : JSON.stringify(body)]
    next = Promise.withResolvers()
    if (asked.length === 0) source.start(tell, stop.signal)
    else await runtime.advance(20_000)
    await next.promise
    // The next question is arranged in the turn after.
    await new Promise((resolve) => setImmediate(resolve))
    return told.splice(0)
  }
  const list = { kind: 'PodList', apiVersion: 'v1', items: [manifest('a'), manifest('b')] }
  assert.deepEqual(await answered(200, list), [['a-n1', 'b-n1']])
  assert.deepEqual(asked[0]?.headers['x-a'], 'b, c')
  assert.deepEqual(await answered(404, 'gone'), [])
  assert.deepEqual(await answered(200, { kind: 'Pod', apiVersion: 'v1', ...manifest('a') }), [['a-n1']])
  assert.deepEqual(await answered(200, '{'), [])
  assert.deepEqual(await answered(200, list), [['a-n1', 'b-n1']])
  assert.deepEqual(await answered(200, ''), [[]], 'where nothing stands there are no pods')
  assert.equal(asked.length, 6)
  stop.abort()
  await runtime.advance(60_000)
  assert.equal(asked.length, 6)
  server.closeAllConnections()
  server.close()
})

test('what is no URL, or no header, is told', () => {
  for (const url of ['ftp://a/b', '/path', 'a b']) assert.throws(() => checkManifestUrl({ url }), /is no URL/)
  const url = 'http://10.0.0.1:8080/m'
  checkManifestUrl({ url })
  assert.throws(() => checkManifestUrl({ url, headers: ['a'] }), /name:value/)
  assert.deepEqual(parseHeaders(['a:hello,b:again', 'B:beautiful']), { a: ['hello'], b: ['again', 'beautiful'] })
  assert.throws(() => parseHeaders(['a']), /"a" is not of the form name:value/)
})
