import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, AuditRecord, RequestInfo } from '../../api/request.ts'
import { formatMicroTime, MICRO_TIME_LENGTH, writeMicroTime } from '../../base/clock.ts'
import { simulatedRuntime } from '../../base/simulated.ts'
import { type Asked, type Audited, answeredWith, askedOf, eventText, type Progress, writeEvent } from './event.ts'
import type { Verdict } from './policy.ts'

const NOON = Date.UTC(2026, 10, 22, 12)

test('times are the same as text and as bytes', () => {
  const at = [0, 0.001, 0.4999, 1, 999.999, 999.9999, 1000, 59_999.5, 3_600_000, -1, -0.001]
  for (const ms of at) {
    const into = Buffer.alloc(MICRO_TIME_LENGTH + 2, '_')
    writeMicroTime(into, 1, NOON + ms)
    assert.equal(into.toString(), `_${formatMicroTime(NOON + ms)}_`)
  }
  assert.equal(formatMicroTime(NOON - 0.001), '2026-11-22T11:59:59.999999Z')
  assert.equal(formatMicroTime(NOON + 1.5), '2026-11-22T12:00:00.001500Z')
})

const info: RequestInfo = {
  isResource: true,
  verb: 'get',
  path: '/api/v1/namespaces/n/pods/p',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'n',
  name: 'p',
}

function request(userAgent: string): ApiRequest {
  return {
    method: 'GET',
    path: info.path,
    query: new URLSearchParams(),
    headers: { 'user-agent': userAgent },
    user: { name: 'jürgen', groups: ['a', 'b"c'] },
    info,
    signal: new AbortController().signal,
  }
}

/** As it is once it was asked for again. */
function flat(userAgent: string): Asked {
  const again = request(userAgent)
  for (let i = 0; i < 3; i++) askedOf(again)
  return askedOf(again)
}

const verdict = (level: Verdict['level']): Verdict => ({ level, omitStages: new Set(), omitManagedFields: false })
const ok = answeredWith(
  { kind: 'object', status: 200, object: { apiVersion: 'v1', kind: 'Pod', metadata: {} } },
  verdict('Metadata'),
)
const gone = answeredWith(
  { kind: 'object', status: 404, object: { apiVersion: 'v1', kind: 'Pod', metadata: {} } },
  verdict('Metadata'),
)

test('a line written like another one is what its text is, whatever differs between them', () => {
  const { random } = simulatedRuntime(7)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.float() * from.length)] as T
  const agents = [flat('curl/8'), flat('ünïcode'), askedOf(request('seen once'))]
  const records: AuditRecord[] = [
    { annotations: {} },
    { annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'é "quoted"' } },
    { annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' } },
    { annotations: { 'authorization.k8s.io/decision': 'allow' } },
    { annotations: { other: 'allow' } },
    { annotations: {}, impersonatedUser: { name: 'x', groups: [] } },
    { annotations: {}, impersonationConstraint: 'c' },
    { annotations: {}, requestObject: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'q' } } },
  ]
  const ids = [
    () => random.uuid(),
    () => random.uuid(),
    () => `"${'x'.repeat(35)}`,
    () => 'é'.repeat(36),
    () => 'short',
  ]
  const into = Buffer.alloc(8192)
  const written = { quick: 0, asText: 0 }
  for (let i = 0; i < 5000; i++) {
    const audited: Audited = {
      asked: pick(agents),
      record: pick(random.float() < 0.7 ? records.slice(0, 1) : records),
      verdict: verdict(pick(['Metadata', 'Metadata', 'Metadata', 'Request', 'RequestResponse'])),
      id: pick(ids)(),
      received: NOON + random.float() * 5000,
    }
    const progress: Progress = {
      stage: pick(['ResponseComplete', 'ResponseComplete', 'RequestReceived', 'ResponseStarted', 'Panic']),
      now: NOON + random.float() * 5000,
      answered: pick([ok, ok, gone, undefined]),
    }
    const at = Math.floor(random.float() * 100)
    const length = writeEvent(audited, progress, into, at)
    if (length === 0) written.asText++
    else {
      written.quick++
      assert.equal(into.toString('utf8', at, at + length), `${eventText(audited, progress)}\n`)
    }
  }
  assert.ok(written.quick > 500, JSON.stringify(written))
})

test('nothing is written where there is no room', () => {
  const audited: Audited = {
    asked: flat('curl/8'),
    record: { annotations: {} },
    verdict: verdict('Metadata'),
    id: simulatedRuntime(1).random.uuid(),
    received: NOON,
  }
  const progress: Progress = { stage: 'ResponseComplete', now: NOON, answered: ok }
  const length = Buffer.byteLength(eventText(audited, progress)) + 1
  const into = Buffer.alloc(length + 9, '_')
  assert.equal(writeEvent(audited, progress, into, 10), 0)
  assert.equal(into.toString(), '_'.repeat(length + 9))
  assert.equal(writeEvent(audited, progress, into, 9), length)
})
