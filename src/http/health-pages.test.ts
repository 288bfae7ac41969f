import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../api/request.ts'
import { createHealth, type HealthCheck } from './health-pages.ts'

const checks: readonly HealthCheck[] = [
  { name: 'ping', check: () => {} },
  {
    name: 'disk',
    endpoints: ['readyz'],
    check: () => {
      throw new Error('full')
    },
  },
]

async function asked(target: string, health = createHealth(checks)) {
  const [path = '', query = ''] = target.split('?')
  const request = { method: 'GET', path, query: new URLSearchParams(query) } as ApiRequest
  const answer = await health.answer(request)
  assert.ok(answer?.kind === 'bytes')
  return { status: answer.status, text: String(answer.bytes[0]), headers: answer.headers }
}

test('a failed check is named without its reason, which is told to who asks for it alone', async () => {
  const whole = await asked('/readyz')
  assert.equal(whole.status, 500)
  assert.equal(whole.text, '[+]ping ok\n[-]disk failed: reason withheld\nreadyz check failed\n')
  const alone = await asked('/readyz/disk')
  assert.equal(alone.status, 500)
  assert.equal(alone.text, 'internal server error: full\n')
})

test('checks are left out on request, and who leaves out what there is not is warned', async () => {
  const { status, text } = await asked('/readyz?verbose&exclude=disk&exclude=nope&exclude=no')
  assert.equal(status, 200)
  assert.match(text, /\n\[\+\]disk excluded: ok\nwarn: .* no matches for "no","nope"\nreadyz check passed\n$/)
})

test('each check is counted by endpoint and outcome, unless it was asked for alone', async () => {
  const health = createHealth(checks)
  for (const path of ['/readyz', '/readyz', '/livez', '/livez/ping']) await asked(path, health)
  const lines = health.metrics.text().split('\n')
  assert.ok(lines.includes('kubernetes_healthcheck{name="disk",type="readyz"} 0'))
  assert.ok(lines.includes('kubernetes_healthcheck{name="ping",type="readyz"} 1'))
  assert.ok(lines.includes('kubernetes_healthchecks_total{name="disk",status="error",type="readyz"} 2'))
  assert.ok(lines.includes('kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1'))
})
