import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { requestInfoOf } from '../request/info.ts'
import { requestTimeout, timeoutMs } from './request-timeout-and-body-size.ts'

const never = () => new Promise<ApiResponse>(() => {})

function request(target: string): ApiRequest {
  const [path = '', text = ''] = target.split('?')
  const query = new URLSearchParams(text)
  return {
    method: 'GET',
    path,
    query,
    headers: {},
    signal: new AbortController().signal,
    connection: { remoteAddress: '' },
    info: requestInfoOf('GET', path, query),
  }
}

test('a request that takes too long, or longer than it says itself, is answered with a 504 in plain text', async () => {
  const runtime = simulatedRuntime(1)
  const handler = requestTimeout(runtime, 60_000)(never)
  for (const [target, ms] of [
    ['/api/v1/pods', 60_000],
    ['/api/v1/pods?timeout=1s', 1000],
    ['/api/v1/pods?timeout=100h', 60_000],
    ['/api/v1/pods?timeout=-1s', 60_000],
  ] as const) {
    const answer = Promise.resolve(handler(request(target)))
    let answered = false
    void answer.then(() => {
      answered = true
    })
    await runtime.advance(ms - 1)
    assert.equal(answered, false, target)
    await runtime.advance(1)
    const response = await answer
    assert.ok(response.kind === 'bytes')
    assert.equal(response.status, 504)
    assert.equal(response.contentType, 'text/plain; charset=utf-8')
    assert.match(
      String(response.bytes[0]),
      /^\{"metadata":\{\},"status":"Failure","message":"Timeout: .*"code":504\}\n$/,
    )
  }
})

test('what is no duration costs no more than its length', () => {
  for (const text of ['1'.repeat(1_000_000), '-'.repeat(1_000_000), '1.'.repeat(500_000), '1s'.repeat(500_000)])
    assert.throws(() => timeoutMs(`${text}x`), { code: 400 })
})

test("durations are Go's", () => {
  assert.equal(timeoutMs('1h2m3.5s'), 3_723_500)
  assert.equal(timeoutMs('-1s'), -1000)
  assert.deepEqual([timeoutMs('+1s'), timeoutMs('-0'), timeoutMs('.5m')], [1000, 0, 30_000])
  for (const text of ['1', '1s2', 's', '--1s', '1s ']) assert.throws(() => timeoutMs(text), { code: 400 }, text)
})
