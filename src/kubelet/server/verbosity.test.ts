import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import { kubeletRoutes } from './routes.ts'

const lines: string[] = []
const runtime = liveRuntime({ log: { write: (line) => lines.push(line) } })
const route = kubeletRoutes({ runtime, nodeName: 'n', kubelet: () => undefined })

async function set(text: string, method = 'PUT'): Promise<readonly [number, string, string, string]> {
  const { signal } = new AbortController()
  const body = { kind: 'bytes' as const, bytes: Buffer.from(text), contentType: '' }
  const request = { method, path: '/debug/flags/v', query: new URLSearchParams(), headers: {}, body, signal }
  const answer = await route(request as ApiRequest)
  assert.ok(answer.kind === 'bytes')
  const nosniff = String(answer.headers?.['x-content-type-options'])
  return [answer.status, Buffer.concat(answer.bytes).toString(), answer.contentType, nosniff]
}

test('how much is logged can be set while it runs, for loggers that are there too', async () => {
  const log = runtime.log.named('kubelet')
  log.info(4, 'before')
  const said = 'successfully set klog.logging.verbosity to 4\n'
  assert.deepEqual(await set('4'), [200, said, 'text/plain', 'nosniff'])
  log.info(4, 'after')
  assert.equal(log.level, 4)
  await set('0')
  log.info(4, 'at the end')
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
    ['after'],
  )
})

/** What a kubelet v1.37.1 answered on 2026-11-27. */
const RECORDED = [
  [
    '2147483648',
    400,
    'failed set klog.logging.verbosity 2147483648: strconv.ParseInt: parsing "2147483648": value out of range\n',
  ],
  ['4294967296', 400, 'strconv.ParseUint: parsing "4294967296": value out of range\n'],
  ['-1', 400, 'strconv.ParseUint: parsing "-1": invalid syntax\n'],
  ['+4', 400, 'strconv.ParseUint: parsing "+4": invalid syntax\n'],
  ['0x4', 400, 'strconv.ParseUint: parsing "0x4": invalid syntax\n'],
  ['', 400, 'strconv.ParseUint: parsing "": invalid syntax\n'],
] as const

test('what is no number is refused, and every other method', async () => {
  for (const [text, status, said] of RECORDED) assert.deepEqual((await set(text)).slice(0, 2), [status, said], text)
  for (const method of ['GET', 'POST', 'DELETE'])
    assert.deepEqual((await set('4', method)).slice(0, 2), [406, 'unsupported http method\n'])
  assert.equal(runtime.log.level, 0)
})
