import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { liveRuntime } from '../../base/live.ts'
import type { CacheReads } from '../admission/plugin.ts'
import { createWebhookClient } from './client.ts'

test('whole numbers of 64 bits reach a webhook and come back digit by digit', async () => {
  let sent = ''
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => {
      sent += text
    })
    request.on('end', () => response.end(sent.replace('"request"', '"response"')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    const client = createWebhookClient(liveRuntime({ log: { write: () => {} } }), {} as CacheReads)
    const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: { n: 9007199254740993n } }
    const answered = await client.post({
      clientConfig: { url: `http://127.0.0.1:${port}/` },
      timeoutSeconds: 5,
      userAgent: 'test',
      review,
    })
    assert.match(sent, /"n":9007199254740993\b/)
    assert.deepEqual(answered['response'], { n: 9007199254740993n })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
