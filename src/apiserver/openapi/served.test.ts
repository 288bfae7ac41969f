import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { served } from './served.ts'

const MODIFIED = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

async function asked(headers: Readonly<Record<string, string>>, method = 'GET') {
  const answer = await served({ method, headers } as ApiRequest, {
    headers: { etag: '"tag"', vary: 'Accept' },
    contentType: 'application/json',
    modified: MODIFIED,
    bytes: () => [Buffer.from('01234'), Buffer.from('56789')],
  })
  assert.ok(answer.kind === 'bytes')
  return { status: answer.status, text: Buffer.concat(answer.bytes).toString(), headers: answer.headers ?? {} }
}

test('a document says since when it is so, and is not sent again to who has it', async () => {
  const whole = await asked({})
  assert.equal(whole.text, '0123456789')
  assert.equal(whole.headers['last-modified'], 'Fri, 02 Jan 2026 03:04:05 GMT')
  assert.equal(whole.headers['accept-ranges'], 'bytes')
  assert.equal((await asked({ 'if-none-match': '"other", "tag"' })).status, 304)
  assert.equal((await asked({ 'if-none-match': 'W/"tag"' })).status, 304)
  assert.equal((await asked({ 'if-modified-since': 'Fri, 02 Jan 2026 03:04:05 GMT' })).status, 304)
  assert.equal((await asked({ 'if-modified-since': 'Fri, 02 Jan 2026 03:04:04 GMT' })).status, 200)
  assert.equal(
    (await asked({ 'if-none-match': '"other"', 'if-modified-since': 'Fri, 02 Jan 2026 03:04:05 GMT' })).status,
    200,
  )
  assert.equal((await asked({ 'if-none-match': '*' }, 'POST')).status, 412)
})

test('a part is sent with its place, and none where there is none', async () => {
  const part = await asked({ range: 'bytes=2-4' })
  assert.deepEqual([part.status, part.text, part.headers['content-range']], [206, '234', 'bytes 2-4/10'])
  assert.equal((await asked({ range: 'bytes=7-' })).text, '789')
  assert.equal((await asked({ range: 'bytes=-3' })).text, '789')
  assert.equal((await asked({ range: 'bytes=8-99' })).headers['content-range'], 'bytes 8-9/10')
  assert.equal((await asked({ range: 'bytes=0-1,3-4' })).status, 200)
  assert.equal((await asked({ range: 'bytes=2-4', 'if-range': '"other"' })).text, '0123456789')
  const behind = await asked({ range: 'bytes=10-' })
  assert.deepEqual([behind.status, behind.headers['content-range']], [416, 'bytes */10'])
  assert.equal(behind.headers['etag'], undefined)
  for (const range of ['bytes=9-3', 'lines=1', 'bytes=-'])
    assert.deepEqual([(await asked({ range })).status, (await asked({ range })).text], [416, 'invalid range\n'])
})
