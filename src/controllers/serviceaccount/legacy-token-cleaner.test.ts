import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { PERIOD_MS as periodMs, type TokenVerdict, verdictOn } from './legacy-token-cleaner.ts'

const now = Date.parse('2026-11-23T03:37:28Z')
const secret = (creationTimestamp: string, used?: string, invalid?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 's',
    creationTimestamp,
    labels: {
      ...(used !== undefined && { 'kubernetes.io/legacy-token-last-used': used }),
      ...(invalid !== undefined && { 'kubernetes.io/legacy-token-invalid-since': invalid }),
    },
  },
})
const old = '2020-01-01T00:00:00Z'

test('a listed token that a year has not seen used is marked, and goes after another year', () => {
  const cases: readonly (readonly [string, KubeObject, TokenVerdict])[] = [
    ['unused for years', secret(old, '2020-01-01'), 'mark'],
    ['never used since use is noted', secret(old), 'mark'],
    ['used this month', secret(old, '2026-11-01'), 'keep'],
    ['used a year ago less a day', secret(old, '2025-11-24'), 'keep'],
    ['used a year ago', secret(old, '2025-11-23'), 'mark'],
    ['made lately', secret('2026-11-01T00:00:00Z', '2020-01-01'), 'keep'],
    ['a day that is none', secret(old, 'nonsense'), 'keep'],
    ['marked long ago', secret(old, '2020-01-01', '2021-01-01'), 'delete'],
    ['marked lately', secret(old, '2020-01-01', '2026-11-01'), 'keep'],
    ['a mark that is no day', secret(old, '2020-01-01', 'nonsense'), 'mark'],
  ]
  const since = Date.parse('2020-01-01')
  for (const [name, object, verdict] of cases)
    assert.equal(verdictOn(object, { since, now, periodMs, isMounted: () => false }), verdict, name)
  assert.equal(verdictOn(secret(old, '2020-01-01'), { since, now, periodMs, isMounted: () => true }), 'keep')
  assert.equal(
    verdictOn(secret(old), { since: Date.parse('2026-01-01'), now, periodMs, isMounted: () => false }),
    'keep',
  )
})
