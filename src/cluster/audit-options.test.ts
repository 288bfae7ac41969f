import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { type AuditOptions, loadAudit } from './audit-options.ts'

const load = (options: AuditOptions) =>
  loadAudit(simulatedRuntime(1), { auditWebhookConfigFile: 'k', ...options }, 'log', [])

test('what is said of batches is judged where there are any, in the words of kube-apiserver', async () => {
  const wrong: readonly (readonly [AuditOptions, string])[] = [
    [{ auditWebhookBatchBufferSize: 0 }, 'buffer size'],
    [{ auditWebhookBatchMaxSize: 0 }, 'max batch size'],
    [{ auditWebhookBatchThrottleQps: 0 }, 'throttle QPS'],
  ]
  for (const [options, what] of wrong) {
    const message = `invalid audit batch webhook ${what} 0, must be a positive number`
    await assert.rejects(load(options), { message })
    for (const auditWebhookMode of ['blocking', 'blocking-strict'])
      assert.equal(await load({ ...options, auditWebhookMode }), undefined)
  }
})
