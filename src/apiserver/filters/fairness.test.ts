import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { fairness } from './fairness.ts'

const answer: ApiResponse = { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [] }

function request(user: string, more: Partial<ApiRequest> = {}): ApiRequest {
  return {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: {},
    user: { name: user, groups: [] },
    connection: { remoteAddress: '' },
    signal: new AbortController().signal,
    ...more,
  }
}

/** A handler whose requests end when the test says so, and the order in which they began. */
function workshop(options: { inFlight: number; queueLength: number }) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const handler = fairness(options)((r) => {
    begun.push(r.user?.name ?? '')
    return new Promise((resolve) => ends.push(() => resolve(answer)))
  })
  return { begun, handler, endNext: () => ends.shift()?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('queues take turns: one client cannot starve another', async () => {
  const { begun, handler, endNext } = workshop({ inFlight: 1, queueLength: 10 })
  for (const user of ['greedy', 'greedy', 'greedy', 'modest']) void handler(request(user))
  for (let i = 0; i < 4; i++) {
    endNext()
    await settled()
  }
  assert.deepEqual(begun, ['greedy', 'greedy', 'modest', 'greedy'])
})

test('a full queue is answered with 429 and Retry-After, other users still wait', async () => {
  const { handler } = workshop({ inFlight: 1, queueLength: 1 })
  void handler(request('a'))
  void handler(request('a'))
  assert.throws(
    () => handler(request('a')),
    (error: { code: number; details: { retryAfterSeconds: number } }) =>
      error.code === 429 && error.details.retryAfterSeconds === 1,
  )
  void handler(request('b'))
})

test('who gives up leaves the queue', async () => {
  const { begun, handler, endNext } = workshop({ inFlight: 1, queueLength: 1 })
  const gone = new AbortController()
  void handler(request('a'))
  const waiting = Promise.resolve(handler(request('a', { signal: gone.signal })))
  gone.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/)
  void handler(request('b'))
  endNext()
  await settled()
  assert.deepEqual(begun, ['a', 'b'])
})

test('administrators, components of this process and watches do not wait', async () => {
  const { begun, handler } = workshop({ inFlight: 0, queueLength: 1 })
  void handler(request('admin', { user: { name: 'admin', groups: ['system:masters'] } }))
  const { connection: _, ...inProcess } = request('component')
  void handler(inProcess)
  assert.deepEqual(begun, ['admin', 'component'])
})

test('thousands that waited and are answered at once do not end one inside the other', async () => {
  let endFirst = () => {}
  const first = new Promise<ApiResponse>((resolve) => {
    endFirst = () => resolve(answer)
  })
  let asked = 0
  const handler = fairness({ inFlight: 1, queueLength: 50_000 })(() => (asked++ === 0 ? first : answer))
  void handler(request('first'))
  const waiting = Array.from({ length: 8_000 }, () => handler(request('many')))
  endFirst()
  const answers = await Promise.all(waiting)
  assert.ok(answers.every((one) => one === answer))
  assert.equal(handler(request('next')), answer, 'the place is free again')
})
