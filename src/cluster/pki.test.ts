import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { derInteger, objectIdentifier } from '../base/der.ts'
import type { Runtime } from '../base/runtime.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { loadPki } from './pki.ts'

function temporary() {
  const path = mkdtempSync(join(tmpdir(), 'skiff-pki-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

/** The same runtime, `days` later. */
function later(runtime: Runtime, days: number): Runtime {
  const now = runtime.clock.now() + days * 86_400_000
  return { ...runtime, clock: { ...runtime.clock, now: () => now } }
}

test('certificates are signed by the CA, name the server and the users, and keys are private', () => {
  using directory = temporary()
  const pki = loadPki(simulatedRuntime(1), directory.path, '127.0.0.1', ['10.96.0.1'])
  const ca = new X509Certificate(pki.ca.cert)
  const serving = new X509Certificate(pki.serving.cert)
  const admin = new X509Certificate(pki.admin.cert)
  assert.equal(ca.ca, true)
  assert.equal(serving.ca, false)
  for (const certificate of [ca, serving, admin]) assert.ok(certificate.verify(ca.publicKey))
  assert.ok(serving.checkIssued(ca))
  for (const name of ['localhost', 'kubernetes', 'kubernetes.default.svc.cluster.local'])
    assert.ok(serving.checkHost(name))
  for (const address of ['127.0.0.1', '10.96.0.1', '::1']) assert.ok(serving.checkIP(address))
  assert.deepEqual(serving.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  assert.deepEqual(admin.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  assert.equal(admin.subject, 'O=system:masters\nCN=kubernetes-admin')
  for (const key of ['ca.key', 'apiserver.key', 'admin.key', 'sa.key']) {
    assert.equal(statSync(join(directory.path, key)).mode & 0o777, 0o600)
  }
})

test('the keys of certificates name their algorithm, which clients in Java know it by', () => {
  using directory = temporary()
  assert.match(
    loadPki(simulatedRuntime(1), directory.path, '127.0.0.1', ['10.96.0.1']).admin.key,
    /^-----BEGIN EC PRIVATE KEY-----/,
  )
})

test('the next start uses the same keys', () => {
  using directory = temporary()
  const runtime = simulatedRuntime(1)
  const { client: _first, ...first } = loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1'])
  const { client: _second, ...second } = loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1'])
  assert.deepEqual(second, first)
})

test('a directory for keys that cannot be made is an error, also below /proc, where Node would try for ever', {
  skip: process.platform === 'linux' ? false : 'only Linux has /proc',
}, () => {
  assert.throws(() => loadPki(simulatedRuntime(1), '/proc/nowhere/pki', '127.0.0.1', []), { code: 'ENOENT' })
})

test('certificates are renewed before they end, and when the server gets another address', () => {
  using directory = temporary()
  const runtime = simulatedRuntime(1)
  const first = loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1'])
  const renewed = loadPki(later(runtime, 340), directory.path, '127.0.0.1', ['10.96.0.1'])
  assert.equal(renewed.ca.cert, first.ca.cert)
  assert.notEqual(renewed.serving.cert, first.serving.cert)
  assert.notEqual(renewed.admin.cert, first.admin.cert)
  const moved = loadPki(later(runtime, 340), directory.path, '192.0.2.7', ['10.96.0.1'])
  assert.ok(new X509Certificate(moved.serving.cert).checkIP('192.0.2.7'))
  assert.equal(moved.admin.cert, renewed.admin.cert)
})

test('to kubelets the server is in no group, and a certificate that was made with other groups is replaced', () => {
  using directory = temporary()
  const runtime = simulatedRuntime(1)
  const subjectOf = ({ cert }: { readonly cert: string }) => new X509Certificate(cert).subject
  const old = loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1'])
  const user = 'kube-apiserver-kubelet-client'
  assert.equal(subjectOf(old.kubeletClient), `CN=${user}`)
  for (const groups of [['system:masters'], ['a', 'b'], []]) {
    const made = old.client('apiserver-kubelet-client', user, groups)
    assert.equal(subjectOf(made), [...groups.map((group) => `O=${group}`), `CN=${user}`].join('\n'))
    assert.deepEqual(old.client('apiserver-kubelet-client', user, groups), made)
  }
  old.client('apiserver-kubelet-client', user, ['system:masters'])
  assert.equal(subjectOf(loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1']).kubeletClient), `CN=${user}`)
})

test('a broken CA or key is told, never replaced', () => {
  using directory = temporary()
  const runtime = simulatedRuntime(1)
  loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1'])
  writeFileSync(join(directory.path, 'ca.crt'), 'nonsense')
  assert.throws(() => loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1']), /ca\.crt is not usable/)
  assert.equal(readFileSync(join(directory.path, 'ca.crt'), 'utf8'), 'nonsense')
})

test('DER integers and object identifiers are minimal', () => {
  assert.equal(derInteger(Buffer.from([0, 0, 0x80])).toString('hex'), '02020080')
  assert.equal(derInteger(Buffer.from([0, 0x7f])).toString('hex'), '02017f')
  assert.equal(objectIdentifier('1.2.840.10045.4.3.2').toString('hex'), '06082a8648ce3d040302')
})
