import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '../api/generated/types.ts'
import { StatusError } from '../api/status.ts'
import { certificateRequestParts } from '../api/validation/certificate-request.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import type { Client } from '../client/client.ts'
import { issue, issueForRequest } from '../cluster/certificate.ts'
import { certificateFile, keepCertificate, obtainCertificate, usableUntil } from './kubelet-certificate.ts'

const DAY_MS = 86_400_000

function folder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'skiff-certificate-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

const wanted = (directory: string) => ({ purpose: 'client' as const, nodeName: 'n1', directory })

type Answer = 'sign' | 'deny' | 'pend' | 'approve' | 'delete' | 'fall silent' | 'forget' | 'be another'

/** An API server that signs every request for ten days, or does with it as `answer` says, which may be changed. */
function signing(runtime: ReturnType<typeof simulatedRuntime>, answer: Answer = 'sign') {
  const ca = issue(runtime, { commonName: 'authority', usage: 'ca', validDays: 3650 })
  const asked: CertificateSigningRequest[] = []
  const state = { answer, looks: 0 }
  const requests = {
    create: async (request: CertificateSigningRequest) => {
      const { name, generateName } = request.metadata
      asked.push({ ...request, metadata: { name: name ?? `${generateName}${asked.length}` } })
      return asked.at(-1)
    },
    get: async () => {
      state.looks++
      const request = asked.at(-1)
      const parts = certificateRequestParts(request?.spec?.request ?? '')
      assert.ok(request && parts)
      if (state.answer === 'delete') throw new StatusError(404, 'NotFound', 'gone')
      if (state.answer === 'forget') throw new StatusError(401, 'Unauthorized', 'Unauthorized')
      if (state.answer === 'be another')
        throw Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
      if (state.answer === 'fall silent') throw new Error('connect ECONNREFUSED')
      if (state.answer === 'pend') return request
      if (state.answer === 'approve')
        return { ...request, status: { conditions: [{ type: 'Approved', status: 'True' }] } }
      if (state.answer === 'deny')
        return { ...request, status: { conditions: [{ type: 'Denied', status: 'True', message: 'not you' }] } }
      const wanted = { ...parts, usages: request.spec?.usages ?? [], validSeconds: 10 * 86_400 }
      const certificate = Buffer.from(issueForRequest(runtime, wanted, ca)).toString('base64')
      return { ...request, status: { certificate } }
    },
  }
  return { asked, state, client: { resource: () => requests } as object as Client }
}

test('a certificate can be used by the node it names, until it ends', () => {
  using at = folder()
  const runtime = simulatedRuntime(1)
  const file = certificateFile(at.path)
  assert.equal(usableUntil(file, 'n1', runtime.clock), undefined)
  const ca = issue(runtime, { commonName: 'authority', usage: 'ca', validDays: 3650 })
  const subject = { commonName: 'system:node:n1', organizations: ['system:nodes'] }
  const { cert, key } = issue(runtime, { ...subject, usage: 'client', validDays: 1 }, ca)
  writeFileSync(file, `${cert}${key}`)
  assert.equal(usableUntil(file, 'n1', runtime.clock), new X509Certificate(cert).validToDate.getTime())
  assert.equal(usableUntil(file, 'n', runtime.clock), undefined)
  assert.equal(usableUntil(file, 'n1', { ...runtime.clock, now: () => runtime.clock.now() + DAY_MS }), undefined)
  writeFileSync(file, 'half a cert')
  assert.equal(usableUntil(file, 'n1', runtime.clock), undefined)
})

test('it is renewed between 70 and 90 percent of its time, each time with a new key', async () => {
  using at = folder()
  const runtime = simulatedRuntime(3)
  const { asked, client } = signing(runtime)
  const stop = new AbortController()
  const complain = (line: string) => assert.fail(line)
  await runtime.complete(obtainCertificate(runtime, client, wanted(at.path), stop.signal))
  const first = readFileSync(certificateFile(at.path), 'utf8')
  const kept = keepCertificate({ ...wanted(at.path), runtime, client, signal: stop.signal, complain })
  await runtime.advance(6.9 * DAY_MS)
  assert.equal(asked.length, 1)
  await runtime.advance(2.2 * DAY_MS)
  assert.equal(asked.length, 2)
  assert.notEqual(readFileSync(certificateFile(at.path), 'utf8'), first)
  await runtime.advance(30 * DAY_MS)
  assert.ok(asked.length >= 4 && asked.length <= 7, `${asked.length} requests`)
  assert.equal(new Set(asked.map(({ spec }) => spec?.request)).size, asked.length)
  stop.abort()
  await runtime.complete(kept)
})

test('requests are those of a kubelet v1.37.1: names, signers, usages, subjects and hosts', async () => {
  using at = folder()
  const runtime = simulatedRuntime(1)
  const { asked, client } = signing(runtime)
  const obtain = async (more: object) =>
    runtime.complete(obtainCertificate(runtime, client, { ...wanted(at.path), ...more }, new AbortController().signal))
  await obtain({ isAskedForOnce: true })
  await obtain({})
  await obtain({ purpose: 'serving', hosts: ['10.88.0.11', 'n1'] })
  const subject = 'system:nodes,system:node:n1'
  const told = asked.map(({ metadata, spec }) => {
    const parts = certificateRequestParts(spec?.request ?? '')
    const { commonName, organizations, altNames } = parts ?? assert.fail('it is no request')
    assert.equal([...organizations, commonName].join(), subject)
    return [metadata.name, spec?.signerName, spec?.usages?.join(), [...altNames].sort().join()]
  })
  assert.match(String(told[0]?.[0]), /^node-csr-[\w-]{43}$/)
  const ofClients = ['kubernetes.io/kube-apiserver-client-kubelet', 'digital signature,client auth', '']
  assert.deepEqual(
    told.map(([name, ...rest]) => [String(name).slice(0, 4), ...rest]),
    [
      ['node', ...ofClients],
      ['csr-', ...ofClients],
      ['csr-', 'kubernetes.io/kubelet-serving', 'digital signature,server auth', 'DNS,IP'],
    ],
  )
})

test('a request that is denied ends the asking in the words of its condition', async () => {
  using at = folder()
  const runtime = simulatedRuntime(1)
  const { client } = signing(runtime, 'deny')
  const asking = obtainCertificate(runtime, client, wanted(at.path), new AbortController().signal)
  await assert.rejects(runtime.complete(asking), /is Denied: not you/)
})

test('a server that forgets the token, or whose place another has taken, ends the asking with what that is; one that is away does not', async () => {
  for (const [answer, line] of [
    [
      'forget',
      /^the API server does not know any more .*: a bootstrap token that has been deleted or has expired .*skiff token create makes another$/,
    ],
    [
      'be another',
      /^the API server's certificate is not to be trusted: self-signed certificate; another server may have taken its place/,
    ],
  ] as const) {
    using at = folder()
    const runtime = simulatedRuntime(1)
    const { client, state } = signing(runtime, 'fall silent')
    const stop = new AbortController()
    const asking = obtainCertificate(runtime, client, { ...wanted(at.path), isBootstrap: true }, stop.signal)
    asking.catch(() => {})
    await runtime.advance(20_000)
    assert.ok(state.looks > 3)
    state.answer = answer
    await runtime.advance(10_000)
    await assert.rejects(Promise.race([asking, Promise.resolve()]), ({ message }: Error) => line.test(message))
  }
})

/** A server's certificate that is kept in `directory`, with what it says and shows. */
function serving(runtime: ReturnType<typeof simulatedRuntime>, directory: string, answer: Answer) {
  const server = signing(runtime, answer)
  const lines: string[] = []
  const shown: (X509Certificate | undefined)[] = []
  const moved = { by: 0 }
  const clock = { ...runtime.clock, now: () => runtime.clock.now() + moved.by }
  const start = (hosts: readonly string[] = ['10.0.0.1', 'n1']) => {
    const stop = new AbortController()
    const kept = keepCertificate({
      ...{ purpose: 'serving', nodeName: 'n1', hosts, directory, client: server.client, signal: stop.signal },
      runtime: { ...runtime, clock },
      complain: (line) => lines.push(line),
      show: (pair) => shown.push(pair === undefined ? undefined : new X509Certificate(pair.cert)),
    })
    return async () => {
      stop.abort()
      await runtime.complete(kept)
    }
  }
  return { ...server, lines, shown, start, moved }
}

test("the server's certificate is asked for as the node's, for its names and addresses, and shown once it is signed", async () => {
  using at = folder()
  const runtime = simulatedRuntime(4)
  const { asked, state, shown, start } = serving(runtime, at.path, 'pend')
  const stop = start()
  await runtime.advance(60_000)
  assert.deepEqual([asked.length, shown.length], [1, 0])
  assert.ok(state.looks < 25, `${state.looks} looks in a minute`)
  const { signerName, usages, request = '' } = asked[0]?.spec ?? {}
  assert.deepEqual([signerName, usages], ['kubernetes.io/kubelet-serving', ['digital signature', 'server auth']])
  const parts = certificateRequestParts(request)
  assert.deepEqual([parts?.commonName, parts?.organizations], ['system:node:n1', ['system:nodes']])
  state.answer = 'sign'
  await runtime.advance(5000)
  assert.equal(shown[0]?.subjectAltName, 'DNS:n1, IP Address:10.0.0.1')
  await stop()
})

test('one that nobody approves or signs, that is denied or deleted, is followed by another, ever later', async () => {
  using at = folder()
  const runtime = simulatedRuntime(5)
  const { asked, state, lines, start } = serving(runtime, at.path, 'pend')
  const stop = start()
  await runtime.advance(16 * 60_000)
  assert.equal(asked.length, 2)
  assert.match(
    lines[0] ?? '',
    /^the node's server's certificate was not renewed: the request csr-\S+ for .* is not approved: kubectl/,
  )
  state.answer = 'approve'
  await runtime.advance(16 * 60_000)
  assert.match(lines[1] ?? '', /was approved, but kubernetes.io\/kubelet-serving has not signed it/)
  state.answer = 'deny'
  await runtime.advance(60_000)
  assert.match(lines.at(-1) ?? '', /is Denied: not you; trying again$/)
  const before = asked.length
  await runtime.advance(320_000)
  assert.equal(asked.length - before, 10)
  state.answer = 'delete'
  await runtime.advance(60_000)
  assert.match(lines.at(-1) ?? '', /was deleted/)
  state.answer = 'forget'
  await runtime.advance(60_000)
  // No bootstrap token has part in it.
  assert.match(lines.at(-1) ?? '', /does not know any more who asks .* \(401 Unauthorized\); trying again$/)
  state.answer = 'sign'
  await runtime.advance(60_000)
  assert.equal(usableUntil(certificateFile(at.path, 'serving'), 'n1', runtime.clock) !== undefined, true)
  await stop()
})

test('an API server that is away for a while gets no second request', async () => {
  using at = folder()
  const runtime = simulatedRuntime(6)
  const { asked, state, lines, shown, start } = serving(runtime, at.path, 'fall silent')
  const stop = start()
  await runtime.advance(10 * 60_000)
  state.answer = 'sign'
  await runtime.advance(5000)
  assert.deepEqual([asked.length, lines, shown.length], [1, [], 1])
  await stop()
})

test('started again it keeps the certificate, unless it is of other addresses or the clock has passed its end', async () => {
  using at = folder()
  const runtime = simulatedRuntime(7)
  const { asked, state, lines, shown, start, moved } = serving(runtime, at.path, 'pend')
  // Ended amid its first request, whose key is lost.
  const first = start()
  await runtime.advance(1000)
  await first()
  state.answer = 'sign'
  const second = start()
  await runtime.advance(1000)
  assert.deepEqual([asked.length, shown.length], [2, 1])
  await second()
  const third = start()
  await runtime.advance(DAY_MS)
  assert.equal(asked.length, 2)
  await third()
  const fourth = start(['10.0.0.2', 'n1'])
  await runtime.advance(1000)
  assert.deepEqual([asked.length, shown.at(-1)?.subjectAltName], [3, 'DNS:n1, IP Address:10.0.0.2'])
  state.answer = 'deny'
  moved.by = 11 * DAY_MS
  await runtime.advance(6 * 60_000)
  assert.equal(shown.at(-1), undefined)
  assert.match(lines.at(-1) ?? '', /Denied/)
  state.answer = 'sign'
  moved.by = 0
  await runtime.advance(60_000)
  assert.ok(shown.at(-1) !== undefined)
  await fourth()
})
