import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../api/request.ts'
import { createHttpsClient } from './client.ts'
import { alice, ca, started, text } from './fixture.test.ts'

test('a request whose right to begin ended while its connection was made is not sent, on a new connection or a kept one', async () => {
  const seen: ApiRequest[] = []
  await using at = await started(async (request) => {
    seen.push(request)
    return { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [Buffer.from('ok')] }
  })
  const client = createHttpsClient({ server: at.url, ca: ca.cert, cert: alice.cert, key: alice.key })
  let may = false
  let asked = 0
  const beforeItBegins = () => {
    asked++
    if (!may) throw new Error('not any more')
  }
  const write = { method: 'POST', path: '/a', body: 'x', beforeItBegins }
  try {
    await assert.rejects(client.send(write), /not any more/)
    may = true
    assert.equal(await text(await client.send(write)), 'ok')
    may = false
    await assert.rejects(client.send(write), /not any more/)
    may = true
    assert.equal((await client.send({ ...write, path: '/b' })).status, 200)
    assert.equal(asked, 4)
    assert.deepEqual(
      seen.map(({ path }) => path),
      ['/a', '/b'],
    )
  } finally {
    client.close()
  }
})
