import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../../base/live-runtime.ts'
import { createMetrics } from '../../../base/metrics.ts'
import { startKmsPlugin } from './plugin-stand-in.ts'
import { connectKms, KmsError } from './service.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-kms-'))
after(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'kms.sock')

test('a plugin is asked at its socket, and what goes wrong is told in the words of Go’s gRPC', async (t) => {
  const metrics = createMetrics()
  const service = connectKms({ ...liveRuntime(), metrics }, { name: 'mine', path, timeoutMs: 300 })
  await assert.rejects(service.status(), {
    message: `rpc error: code = DeadlineExceeded desc = latest balancer error: connection error: desc = "transport: Error while dialing: dial unix ${path}: connect: no such file or directory"`,
  })
  t.after(service.close)
  const plugin = await startKmsPlugin(path, { annotations: { 'a.example.com': Buffer.from('x') } })
  t.after(plugin.stop)
  const patient = connectKms({ ...liveRuntime(), metrics }, { name: 'mine', path, timeoutMs: 10_000 })
  t.after(patient.close)
  assert.deepEqual(await patient.status(), { version: 'v2', healthz: 'ok', keyId: 'one' })
  const wrapped = { ...(await patient.encrypt('uid', Buffer.from('seed'))), type: 1 }
  assert.equal(wrapped.keyId, 'one')
  assert.deepEqual({ ...wrapped.annotations }, { 'a.example.com': Buffer.from('x') })
  assert.equal(Buffer.from(await patient.decrypt('uid', wrapped)).toString(), 'seed')
  assert.deepEqual(plugin.asked.at(-1)?.request['annotations'], { 'a.example.com': Buffer.from('x') })
  plugin.state.failing = { Decrypt: 'no unwrap' }
  await assert.rejects(patient.decrypt('uid', wrapped), (error) => {
    assert.ok(error instanceof KmsError)
    assert.equal(error.message, 'rpc error: code = Unknown desc = no unwrap')
    return true
  })
  plugin.state.silent = ['Encrypt']
  const hasty = connectKms({ ...liveRuntime(), metrics }, { name: 'mine', path, timeoutMs: 300 })
  t.after(hasty.close)
  await hasty.status()
  await assert.rejects(hasty.encrypt('uid', Buffer.from('seed')), {
    message: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
  })
  for (const [method, code] of [
    ['Status', 'OK'],
    ['Decrypt', 'Unknown'],
    ['Encrypt', 'DeadlineExceeded'],
  ])
    assert.match(
      metrics.text(),
      new RegExp(
        `_kms_operations_latency_seconds_count\\{provider_name="mine",method_name="/v2.KeyManagementService/${method}",grpc_status_code="${code}"\\} [12]\n`,
      ),
    )
})
