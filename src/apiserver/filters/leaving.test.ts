import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse, WatchEvent } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { Stream } from '../../base/stream.ts'
import { createLeaving, type LeavingOptions } from './leaving.ts'

const OK: ApiResponse = { kind: 'bytes', status: 200, contentType: '', bytes: [] }

function fixture(options: Partial<LeavingOptions>) {
  const runtime = simulatedRuntime(1)
  const leaving = createLeaving(runtime.machineClock, {
    sendsRetryAfter: false,
    watchGraceMs: 0,
    requestTimeoutMs: 60_000,
    ...options,
  })
  const ask = (
    path: string,
    answer: ApiResponse | Promise<ApiResponse> = OK,
    given: Partial<ApiRequest> = {},
    isRemote = true,
  ) =>
    leaving.filter(() => answer)({
      method: 'GET',
      path,
      query: new URLSearchParams(),
      headers: {},
      signal: new AbortController().signal,
      ...(isRemote ? { connection: { remoteAddress: '127.0.0.1' } } : {}),
      ...given,
    })
  const watch = () => {
    const controller = new AbortController()
    const events = new Stream<WatchEvent>({ onClose: () => controller.abort() })
    const response = { kind: 'watch', status: 200, contentType: '', events, encode: () => new Uint8Array() } as const
    ask('/api/v1/pods', response, { signal: controller.signal })
    return events
  }
  return { runtime, leaving, ask, watch }
}

test('while requests are in flight new ones are told to come again, but those about health, and of this process', async () => {
  const { runtime, leaving, ask } = fixture({ sendsRetryAfter: true })
  const slow = Promise.withResolvers<ApiResponse>()
  ask('/api/v1/pods', slow.promise)
  ask('/readyz', new Promise(() => {}))
  let isOver = false
  const left = leaving.leave().then(() => {
    isOver = true
  })
  const refused = await ask('/api/v1/pods')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers?.['retry-after'], '5')
  for (const path of ['/healthz', '/livez', '/readyz/ping', '/metrics']) assert.equal((await ask(path)).status, 200)
  assert.equal((await ask('/api/v1/pods', OK, {}, false)).status, 200)
  assert.equal((await ask('/api/v1/pods', OK, { headers: { 'user-agent': 'kube-apiserver/v1.37.1' } })).status, 200)
  await runtime.advance(59_000)
  assert.equal(isOver, false)
  slow.resolve(OK)
  await runtime.complete(left)
})

test('a request that takes all its time is not waited for any longer', async () => {
  const { runtime, leaving, ask } = fixture({ sendsRetryAfter: true })
  ask('/api/v1/pods', new Promise(() => {}))
  const left = leaving.leave()
  await runtime.advance(60_000)
  await runtime.complete(left)
})

test('watches end in turn, two hundred in a second, and faster where there are more than the grace allows for', async () => {
  const { runtime, leaving, watch } = fixture({ watchGraceMs: 2000 })
  const few = Array.from({ length: 50 }, watch)
  const left = leaving.leave()
  const ended = () => few.filter(({ closed }) => closed).length
  await runtime.advance(0)
  assert.equal(ended(), 20)
  await runtime.advance(100)
  assert.equal(ended(), 40)
  assert.equal(watch().closed, true)
  await runtime.advance(100)
  assert.equal(ended(), 50)
  await runtime.complete(left)
  const many = fixture({ watchGraceMs: 1000 })
  const all = Array.from({ length: 1000 }, many.watch)
  const done = many.leaving.leave()
  await many.runtime.advance(900)
  assert.ok(all.every(({ closed }) => closed))
  await many.runtime.complete(done)
})

test('without either, nothing is waited for', async () => {
  const { runtime, leaving, ask, watch } = fixture({})
  ask('/api/v1/pods', new Promise(() => {}))
  const events = watch()
  await runtime.complete(leaving.leave())
  assert.equal(events.closed, false)
})
