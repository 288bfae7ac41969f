import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../api/request.ts'
import { notFound } from '../api/status.ts'
import { createMetrics } from '../base/metrics.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClient, type Transport } from './transport.ts'

test('what a client asks is counted by its answers, and by who is asked', async () => {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const answers: (() => Promise<ApiResponse>)[] = [
    async () => ({ kind: 'object', status: 200, object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } }),
    async () => Promise.reject(notFound({ group: '', resource: 'pods' }, 'b')),
    async () => Promise.reject(new Error('connection refused')),
  ]
  const transport: Transport = {
    inProcess: false,
    host: '127.0.0.1:6443',
    send: () => (answers.shift() as () => Promise<ApiResponse>)(),
  }
  const pods = createClient(runtime, transport, { userAgent: 'test' })
    .resource({ group: '', version: 'v1', resource: 'pods' })
    .namespace('default')
  await pods.get('a')
  await assert.rejects(() => pods.get('b'))
  await assert.rejects(() => pods.get('c'))
  const counted = metrics
    .text()
    .match(/^rest_client_requests_total.*$/gm)
    ?.sort()
  assert.deepEqual(counted, [
    'rest_client_requests_total{code="200",host="127.0.0.1:6443",method="GET"} 1',
    'rest_client_requests_total{code="404",host="127.0.0.1:6443",method="GET"} 1',
    'rest_client_requests_total{code="<error>",host="127.0.0.1:6443",method="GET"} 1',
  ])
  assert.match(metrics.text(), /^rest_client_request_duration_seconds_count\{host="127.0.0.1:6443",verb="GET"\} 3$/m)
})
