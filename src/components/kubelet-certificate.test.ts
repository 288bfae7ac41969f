import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '../api/generated/types.ts'
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

/** An API server that signs every request for ten days, or denies it. */
function signing(runtime: ReturnType<typeof simulatedRuntime>, answer: 'sign' | 'deny' = 'sign') {
  const ca = issue(runtime, { commonName: 'authority', usage: 'ca', validDays: 3650 })
  const asked: CertificateSigningRequest[] = []
  const requests = {
    create: async (request: CertificateSigningRequest) => {
      asked.push(request)
      return request
    },
    get: async () => {
      const request = asked.at(-1)
      const parts = certificateRequestParts(request?.spec?.request ?? '')
      assert.ok(request && parts)
      if (answer === 'deny')
        return { ...request, status: { conditions: [{ type: 'Denied', status: 'True', message: 'not you' }] } }
      const wanted = { ...parts, usages: request.spec?.usages ?? [], validSeconds: 10 * 86_400 }
      const certificate = Buffer.from(issueForRequest(runtime, wanted, ca)).toString('base64')
      return { ...request, status: { certificate } }
    },
  }
  return { asked, client: { resource: () => requests } as object as Client }
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
  await runtime.complete(obtainCertificate(runtime, client, 'n1', at.path, stop.signal))
  const first = readFileSync(certificateFile(at.path), 'utf8')
  const kept = keepCertificate({ runtime, client, nodeName: 'n1', directory: at.path, signal: stop.signal, complain })
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

test('a request that is denied ends the asking in the words of its condition', async () => {
  using at = folder()
  const runtime = simulatedRuntime(1)
  const { client } = signing(runtime, 'deny')
  const asking = obtainCertificate(runtime, client, 'n1', at.path, new AbortController().signal)
  await assert.rejects(runtime.complete(asking), /is Denied: not you/)
})
