import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinScheme } from '../api/scheme/scheme.ts'
import { createMetrics } from '../base/metrics.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { openStorage } from '../storage/open.ts'
import { measuredStorage } from './measured-storage.ts'

test('requests to the store are counted by what they do and to what', async () => {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const storage = measuredStorage(runtime, await openStorage({ runtime, driver: 'memory' }), builtinScheme())
  const value = Buffer.from('{}')
  const run = <T>(promise: Promise<T>) => runtime.complete(promise)
  await run(storage.write({ type: 'put', key: '/registry/deployments/n/a', value, expectRevision: 0 }))
  await run(storage.write({ type: 'put', key: '/registry/deployments/n/a', value, expectRevision: 1 }))
  await run(storage.get('/registry/services/specs/n/a'))
  await run(storage.range('/registry/pods/n/', '/registry/pods/n0'))
  await run(storage.range('/registry/nobodys/n/', '/registry/nobodys/n0'))
  await run(storage.write({ type: 'delete', key: '/registry/deployments/n/a', expectRevision: 2 }))
  await assert.rejects(run(storage.range('/registry/pods/n/', '/registry/pods/n0', { revision: 99 })))
  const lines = metrics.text().split('\n')
  for (const line of [
    'etcd_requests_total{operation="create",group="apps",resource="deployments"} 1',
    'etcd_requests_total{operation="update",group="apps",resource="deployments"} 1',
    'etcd_requests_total{operation="delete",group="apps",resource="deployments"} 1',
    'etcd_requests_total{operation="get",group="",resource="services"} 1',
    'etcd_requests_total{operation="list",group="",resource="pods"} 2',
    'etcd_requests_total{operation="list",group="",resource=""} 1',
    'etcd_request_errors_total{operation="list",group="",resource="pods"} 1',
    'etcd_request_duration_seconds_count{operation="list",group="",resource="pods"} 2',
  ])
    assert.ok(lines.includes(line), `${line}\n${metrics.text()}`)
})
