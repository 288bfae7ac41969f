import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../../api/request.ts'
import type { Logger } from '../../base/log.ts'
import type { Runtime } from '../../base/runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { servedAnew } from '../request/served.ts'
import type { ServerRequest } from '../request/server-request.ts'
import { requestLog } from './request-log.ts'

function logged(level: number) {
  const lines: { message: string; fields: Record<string, unknown> }[] = []
  const log: Logger = {
    level,
    info: (_level, message, fields) => lines.push({ message, fields: fields as Record<string, unknown> }),
    setLevel: () => {},
    error: () => {},
    named: () => log,
  }
  const simulated = simulatedRuntime(1)
  return { lines, simulated, runtime: { ...simulated, log } as Runtime }
}

const answer: ApiResponse = { kind: 'bytes', status: 200, contentType: '', bytes: [] }
const request: ServerRequest = {
  method: 'GET',
  path: '/api/v1/pods',
  query: new URLSearchParams('limit=1'),
  headers: { 'user-agent': 'kubectl' },
  signal: new AbortController().signal,
  served: servedAnew(),
}

test('a quick request is a line from -v 3 on, and none below', async () => {
  for (const [level, count] of [
    [2, 0],
    [3, 1],
  ] as const) {
    const { lines, runtime } = logged(level)
    await requestLog(runtime)(async () => answer)(request)
    assert.equal(lines.length, count)
    if (count === 1)
      assert.deepEqual([lines[0]?.fields['URI'], lines[0]?.fields['resp']], ['/api/v1/pods?limit=1', 200])
  }
})

test('a slow request is told at any level, with what its steps cost', async () => {
  const { lines, simulated, runtime } = logged(0)
  const slow = requestLog(runtime)(async (r) => {
    await simulated.advance(100)
    r.served?.trace?.step('admission')
    await simulated.advance(600)
    return answer
  })
  await slow(request)
  assert.equal(lines[0]?.message, 'slow request')
  assert.deepEqual(lines[0]?.fields['steps'], { admission: 100, answering: 600 })
})
