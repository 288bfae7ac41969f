/** Spans of a timeline, read by the messages of OpenTelemetry's own protocol: every field is one that it has, in the form that its JSON has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timelineOtlp } from '../../src/inspect/timeline/otlp.ts'
import type { TimelineStep } from '../../src/inspect/timeline/timeline-types.ts'
import { readSpans, withoutOtlp } from './otlp-messages.ts'

const step = (id: string, time: string, more: Partial<TimelineStep> = {}): TimelineStep => ({
  id,
  revision: 2 ** 40 + Number(id),
  time,
  object: {
    group: 'apps',
    resource: 'deployments',
    kind: 'Deployment',
    namespace: 'default',
    name: 'web',
    uid: `u${id}`,
  },
  changes: [{ type: 'removed' }],
  by: { component: 'generic-garbage-collector', user: 'gc', userAgent: 'kcm', fieldManager: 'kcm', certainty: 'known' },
  request: { verb: 'delete', subresource: '', auditId: 'a', options: { propagationPolicy: 'Foreground' } },
  cause: { certainty: 'known', why: 'its owner is gone' },
  ...more,
})

test('are requests of the protocol', { skip: withoutOtlp }, () => {
  const spans = readSpans(
    timelineOtlp(
      [
        step('1', '2026-01-02T03:04:05.123456Z'),
        step('2', '2026-01-02T03:04:06Z', {
          cause: { step: '1', certainty: 'inferred', why: 'so it seems', waitedMs: 876 },
          by: { component: '', user: '', userAgent: '', certainty: 'inferred' },
          changes: [
            { type: 'marked', deletionTimestamp: '2026-01-02T03:04:06Z', gracePeriodSeconds: undefined },
            { type: 'finalizer-added', finalizer: '<b>\u001b[2J"\\\u{1f4a5}' },
          ],
          request: { verb: '', subresource: '' },
        }),
      ],
      '1.2.3',
    ),
  )
  const [first, second] = spans
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual([spans.length, first.kind, first.parentSpanId], [2, 1, ''])
  assert.equal(first.start, 1767323045123456000n)
  assert.equal(first.end, first.start)
  assert.deepEqual([second.traceId, second.parentSpanId], [first.traceId, first.spanId])
  assert.deepEqual([second.start, second.end], [first.start, 1767323046000000000n])
})

test('of nothing are an empty request', { skip: withoutOtlp }, () => {
  assert.deepEqual(readSpans(timelineOtlp([], '')), [])
})

test('that the protocol has not are told', { skip: withoutOtlp }, () => {
  const text = timelineOtlp([step('1', '2026-01-02T03:04:05Z')], '1.2.3')
  assert.throws(() => readSpans(text.replace('"kind"', '"kinds"')), /unknown field "kinds"/)
  assert.throws(() => readSpans(text.replace(/"intValue":\s*"/, '"intValue":"x')), /invalid value/)
  assert.throws(() => readSpans(text.replace(/"spanId":\s*"../, '"spanId":"')), /wrong length/)
})
