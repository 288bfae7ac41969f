/** What a webhook is sent, as a Kubernetes v1.37.1 was heard to send it (2026-11-27). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { audit } from '../filters/audit.ts'
import { requestInfoOf } from '../request/info.ts'
import { servedAnew } from '../request/served.ts'
import { type AuditEvent, logBackend, shortened } from './backend.ts'
import type { AuditLog } from './log.ts'
import { parsePolicy } from './policy.ts'
import { type AuditWebhookOptions, auditWebhook } from './webhook.ts'

const KIND = '"kind":"Event","apiVersion":"audit.k8s.io/v1"'

function event(name: string, lost: string[] = []): AuditEvent {
  return {
    text: () => `{${KIND},"auditID":"${name}"}`,
    lost: (error, plugin) => lost.push(`${name}: ${plugin}: ${(error as Error).message}`),
  }
}

function webhook(
  more: Partial<AuditWebhookOptions> = {},
  taken: (body: string) => Promise<void> = () => Promise.resolve(),
) {
  const runtime = simulatedRuntime(1)
  const sent: { readonly at: number; readonly ids: readonly string[]; readonly body: string }[] = []
  const backend = auditWebhook(runtime, {
    mode: 'batch',
    initialBackoffMs: 10_000,
    batch: { bufferSize: 10, maxSize: 3, maxWaitMs: 2000 },
    send: (body) => {
      const ids = [...body.matchAll(/"auditID":"(\w+)"/g)].map(([, id]) => id ?? '')
      sent.push({ at: runtime.clock.monotonic(), ids, body })
      return taken(body)
    },
    ...more,
  })
  return { runtime, backend, sent }
}

test('events wait for others, but not long, and no more are sent together than are to be', async () => {
  const { runtime, backend, sent } = webhook()
  const begun = runtime.clock.monotonic()
  for (const name of ['a', 'b', 'c', 'd']) assert.equal(backend.take(event(name), false), undefined)
  await runtime.advance(1999)
  assert.deepEqual(
    sent.map(({ ids }) => ids),
    [['a', 'b', 'c']],
  )
  await runtime.advance(1)
  assert.deepEqual(
    sent.map(({ ids, at }) => [at - begun, ids]),
    [
      [0, ['a', 'b', 'c']],
      [2000, ['d']],
    ],
  )
  assert.equal(
    sent[1]?.body,
    '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[{"auditID":"d"}]}\n',
  )
})

test('batches are sent no more often than is said, what does not fit is lost, and what waits at the end is sent', async () => {
  const { runtime, backend, sent } = webhook({
    batch: { bufferSize: 4, maxSize: 1, maxWaitMs: 1000, throttle: { qps: 1, burst: 1 } },
  })
  const lost: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) backend.take(event(name, lost), true)
  assert.deepEqual(lost, ['f: buffered: audit buffer queue blocked'])
  await runtime.advance(1000)
  assert.deepEqual(
    sent.map(({ ids }) => ids),
    [['a'], ['b']],
  )
  await backend.close()
  assert.deepEqual(
    sent.map(({ ids }) => ids),
    [['a'], ['b'], ['c'], ['d'], ['e']],
  )
})

test('what is not taken is sent again, five times in all, with longer and longer waits, and then lost', async () => {
  const { runtime, backend, sent } = webhook({ mode: 'blocking' }, () => Promise.reject(new Error('no')))
  const lost: string[] = []
  const begun = runtime.clock.monotonic()
  const answer = backend.take(event('a', lost), true)
  await runtime.advance(120_000)
  assert.equal(await answer, true)
  assert.deepEqual(lost, ['a: webhook: no'])
  const waits = sent.map(({ at }, i) => at - (sent[i - 1]?.at ?? begun))
  assert.deepEqual(
    waits.map((wait, i) => [0, 10_000, 15_000, 22_500, 33_750].map((least) => least <= wait && wait <= 1.2 * least)[i]),
    [true, true, true, true, true],
  )
})

test('an event that is too long is told without objects, and lost where that does not help', () => {
  const lost: string[] = []
  const objects = `"requestObject":{"a":"${'x'.repeat(100)}"},"responseObject":{}`
  const long = (longest: number) =>
    shortened(
      { ...event('a', lost), text: () => `{${KIND},"auditID":"a",${objects},"annotations":{"b":"c"}}` },
      longest,
    )
  assert.match(long(1000).text(), /requestObject/)
  assert.equal(long(150).text(), `{${KIND},"auditID":"a","annotations":{"b":"c","audit.k8s.io/truncated":"true"}}`)
  assert.throws(
    () => long(20).text(),
    (error) => {
      long(20).lost(error, 'webhook')
      return true
    },
  )
  assert.deepEqual(lost, ['a: truncate: event is too large even after truncating'])
})

test('a strict backend refuses a request before anything is done; another does not, and one of batches does not let it wait', async () => {
  const full: AuditLog = {
    behind: 0,
    append: () => Promise.reject(new Error('full')),
    note: (event) => event.lost(new Error('full')),
    close: async () => {},
  }
  const policy = parsePolicy('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]')
  const path = '/api/v1/namespaces/a/configmaps'
  const query = new URLSearchParams('dryRun=All')
  const request: ApiRequest = {
    ...{ method: 'POST', path, query, target: `${path}?dryRun=All`, headers: {}, user: { name: 'a', groups: [] } },
    ...{ signal: new AbortController().signal, info: requestInfoOf('POST', path, query) },
  }
  let done = 0
  const ask = (...modes: readonly ('batch' | 'blocking' | 'blocking-strict')[]) => {
    const backends = modes.map((mode) => logBackend(full, mode))
    const handler = audit(
      simulatedRuntime(1),
      policy,
      backends,
    )((): ApiResponse => {
      done++
      return { kind: 'bytes', status: 201, contentType: '', bytes: [] }
    })
    return handler({ ...request, served: servedAnew() })
  }
  assert.ok(!(ask('batch') instanceof Promise))
  assert.equal((await ask('batch', 'blocking')).kind, 'bytes')
  assert.equal(done, 2)
  const refused = await ask('blocking', 'blocking-strict')
  assert.ok(refused.kind === 'bytes' && done === 2)
  assert.equal(refused.status, 500)
  assert.equal(
    Buffer.concat(refused.bytes).toString(),
    'Internal Server Error: "/api/v1/namespaces/a/configmaps?dryRun=All": failed to store audit event\n',
  )
})

test('at the end a try that waits comes at once and is the last, and what comes later is lost', async () => {
  for (const mode of ['batch', 'blocking'] as const) {
    const { runtime, backend, sent } = webhook({ mode, batch: { bufferSize: 10, maxSize: 1, maxWaitMs: 0 } }, () =>
      Promise.reject(new Error('no')),
    )
    const lost: string[] = []
    void backend.take(event('a', lost), false)
    await runtime.advance(1)
    assert.equal(sent.length, 1)
    let isClosed = false
    void backend.close().then(() => {
      isClosed = true
    })
    await runtime.advance(1)
    assert.deepEqual([isClosed, sent.length, lost], [true, 2, ['a: webhook: no']])
    void backend.take(event('b', lost), false)
    assert.deepEqual([sent.length, lost[1]], [2, 'b: webhook: audit backend shut down'])
  }
})

test('at the end a server that never answers is waited for no longer than a second', async () => {
  const { runtime, backend } = webhook({
    send: (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('canceled')))
      }),
  })
  const lost: string[] = []
  backend.take(event('a', lost), false)
  let isClosed = false
  void backend.close().then(() => {
    isClosed = true
  })
  await runtime.advance(999)
  assert.deepEqual([isClosed, lost], [false, []])
  await runtime.advance(1)
  assert.deepEqual([isClosed, lost], [true, ['a: webhook: canceled']])
})
