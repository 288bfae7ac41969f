import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../../base/metrics.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { audit } from '../filters/audit.ts'
import { requestInfoOf } from '../request/info.ts'
import { servedAnew } from '../request/served.ts'
import type { ServerRequest } from '../request/server-request.ts'
import { logBackend } from './backend.ts'
import type { AuditPolicy } from './policy.ts'

test('events are counted, requests by their level, and what could not be written', async () => {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const levels = ['Metadata', 'None', 'Metadata'] as const
  let asked = 0
  const policy: AuditPolicy = {
    verdict: () => ({
      level: levels[asked++] ?? 'None',
      omitStages: new Set(['RequestReceived']),
      omitManagedFields: false,
    }),
  }
  let full = false
  const log = {
    behind: 0,
    append: async () => {
      if (full) throw new Error('full')
    },
    note() {},
    close: async () => {},
  }
  const handler = audit(runtime, policy, [logBackend(log)])(() => ({
    kind: 'bytes',
    status: 200,
    contentType: '',
    bytes: [],
  }))
  const query = new URLSearchParams()
  const path = '/api/v1/namespaces/a/configmaps'
  const request: ServerRequest = {
    method: 'POST',
    path,
    query,
    headers: {},
    signal: new AbortController().signal,
    user: { name: 'a', groups: [] },
    info: requestInfoOf('POST', path, query),
    served: servedAnew(),
  }
  await handler(request)
  await handler(request)
  full = true
  await handler(request)
  const lines = metrics.text().split('\n')
  assert.ok(lines.includes('apiserver_audit_level_total{level="Metadata"} 2'))
  assert.ok(lines.includes('apiserver_audit_level_total{level="None"} 1'))
  assert.ok(lines.includes('apiserver_audit_event_total 2'))
  assert.ok(lines.includes('apiserver_audit_error_total{plugin="log"} 1'))
})
