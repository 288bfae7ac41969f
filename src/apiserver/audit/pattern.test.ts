import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ApiRequest, RequestInfo } from '../../api/request.ts'
import { formatMicroTime, MICRO_TIME_LENGTH, writeMicroTime } from '../../base/clock.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { AuditRecord } from '../request/served.ts'
import {
  type Audited,
  type AuditedRequest,
  answeredWith,
  auditedRequest,
  createEventWriter,
  eventText,
  type StageReached,
} from './event.ts'
import type { AuditVerdict } from './policy.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

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
function flat(userAgent: string): AuditedRequest {
  const again = request(userAgent)
  for (let i = 0; i < 3; i++) auditedRequest(again)
  return auditedRequest(again)
}

const verdict = (level: AuditVerdict['level']): AuditVerdict => ({
  level,
  omitStages: new Set(),
  omitManagedFields: false,
})
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
  const agents = [flat('curl/8'), flat('ünïcode'), auditedRequest(request('seen once'))]
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
  const writer = createEventWriter()
  const into = Buffer.alloc(8192)
  const written = { quick: 0, asText: 0 }
  for (let i = 0; i < 3000; i++) {
    const asked = pick(agents)
    const record = pick(random.float() < 0.7 ? records.slice(0, 1) : records)
    const level = pick(['Metadata', 'Metadata', 'Metadata', 'Request', 'RequestResponse'] as const)
    const stage = pick(['ResponseComplete', 'ResponseComplete', 'RequestReceived', 'ResponseStarted', 'Panic'] as const)
    const answered = pick([ok, ok, gone, undefined])
    const times = 1 + Math.floor(random.float() * 4)
    for (let time = 0; time < times; time++) {
      const received = NOON + random.float() * 5000
      const audited: Audited = { asked, record, verdict: verdict(level), id: pick(ids)(), received }
      const progress: StageReached = { stage, now: received + random.float() * 2000, answered }
      const at = Math.floor(random.float() * 100)
      const length = writer.write(audited, progress, into, at)
      if (length === 0) written.asText++
      else {
        written.quick++
        assert.equal(into.toString('utf8', at, at + length), `${eventText(audited, progress)}\n`)
      }
    }
  }
  assert.ok(written.quick > 500, JSON.stringify(written))
})

test('however much is asked for, the lines kept take a few megabytes', () => {
  const heldBytes = () => {
    collect()
    collect()
    return process.memoryUsage().arrayBuffers
  }
  const before = heldBytes()
  const writer = createEventWriter()
  const into = Buffer.alloc(8192)
  const { random } = simulatedRuntime(3)
  let written = 0
  for (let i = 0; i < 60_000; i++) {
    const one = { ...request('curl/8'), info: { ...info, name: `p${i}` } }
    for (let times = 0; times < 3; times++) auditedRequest(one)
    const audited: Audited = {
      asked: auditedRequest(one),
      record: { annotations: {} },
      verdict: verdict('Metadata'),
      id: random.uuid(),
      received: NOON,
    }
    for (let times = 0; times < 3; times++)
      written += writer.write(audited, { stage: 'ResponseComplete', now: NOON, answered: ok }, into, 0)
    // What else uses Node's pool meanwhile.
    Buffer.from('x'.repeat(3000))
  }
  assert.ok(written > 60_000 * 500)
  const grown = heldBytes() - before
  assert.ok(grown < 22 << 20, `${grown} bytes`)
})

test('nothing is written where there is no room', () => {
  const audited: Audited = {
    asked: flat('curl/8'),
    record: { annotations: {} },
    verdict: verdict('Metadata'),
    id: simulatedRuntime(1).random.uuid(),
    received: NOON,
  }
  const progress: StageReached = { stage: 'ResponseComplete', now: NOON, answered: ok }
  const length = Buffer.byteLength(eventText(audited, progress)) + 1
  const into = Buffer.alloc(length + 9, '_')
  const writer = createEventWriter()
  // The first ones are looked at only.
  assert.equal(writer.write(audited, progress, into, 0), 0)
  assert.equal(writer.write(audited, progress, into, 10), 0)
  assert.equal(into.toString(), '_'.repeat(length + 9))
  assert.equal(writer.write(audited, progress, into, 9), length)
})
