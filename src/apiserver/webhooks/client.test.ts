import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { CacheReads } from '../reads.ts'
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

test('nothing is asked of the address that a simulated pod has: the connection is refused, as where nothing listens', async () => {
  const server = createTcpServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const metadata = { name: 'hook', namespace: 'one', labels: { 'kubernetes.io/service-name': 'hook' } }
  const reads = (containerRuntimeVersion: string) =>
    ({
      get: (_: string, resource: string) =>
        resource === 'services'
          ? { metadata, spec: { ports: [{ port: 443 }] } }
          : { metadata: { name: 'n' }, status: { nodeInfo: { containerRuntimeVersion } } },
      list: () => [
        {
          metadata,
          ports: [{ port }],
          endpoints: [{ addresses: ['127.0.0.1'], nodeName: 'n', targetRef: { kind: 'Pod', name: 'hook' } }],
        },
      ],
    }) as unknown as CacheReads
  const post = (runtimeVersion: string) =>
    createWebhookClient(liveRuntime({ log: { write: () => {} } }), reads(runtimeVersion)).post({
      clientConfig: { service: { namespace: 'one', name: 'hook' } },
      timeoutSeconds: 5,
      userAgent: 'test',
      review: { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' },
    })
  try {
    await assert.rejects(post('simulated://1.0.0'), {
      message: `Post "https://hook.one.svc:443/?timeout=5s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    })
    await assert.rejects(post('containerd://2.0.0'), /: (EOF|read tcp .*: connection reset by peer)$/)
  } finally {
    server.close()
  }
})

test('of an answer that is an error its text is told, where it is one', async () => {
  let [type, body]: readonly [string, string] = ['', '']
  const server = createServer((_, response) => {
    response.statusCode = 500
    if (type !== '') response.setHeader('content-type', type)
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = createWebhookClient(liveRuntime({ log: { write: () => {} } }), {} as CacheReads)
  const call = {
    clientConfig: { url: `http://127.0.0.1:${port}/` },
    timeoutSeconds: 5,
    userAgent: 'test',
    review: { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' },
  }
  try {
    for (const [of, sent, told] of [
      ['text/plain', 'boom: it is', 'boom: it is'],
      ['', 'boom: it is', 'boom: it is'],
      ['text/plain; charset=utf-8', '   boom \n', 'boom'],
      ['text/plain', 'b'.repeat(3000), 'b'.repeat(2048)],
      ['text/plain', '', ''],
      ['application/json', '{"a":1}', 'unknown'],
      ['application/octet-stream', 'x', 'unknown'],
    ] as const) {
      ;[type, body] = [of, sent]
      const message = `an error on the server ("${told}") has prevented the request from succeeding`
      await assert.rejects(client.post(call), { message }, of)
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
