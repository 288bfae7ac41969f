import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { issue } from '../cluster/certificate.ts'
import { certificateProblem } from './certificate-problem.ts'
import { runtime } from './fixture.test.ts'

const pem = (name: string) =>
  readFileSync(new URL(`../../conformance/hook/certificates/${name}.pem`, import.meta.url), 'utf8')
const problem = (name: string, host: string, code = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE') =>
  certificateProblem(new X509Certificate(pem(name)), {
    host,
    ca: pem('authority'),
    nowMs: Date.parse('2026-06-01T00:00:00Z'),
    code,
    format: (ms) => new Date(ms).toISOString().replace('.000', ''),
  })

test('time is looked at before names, names before who signed', () => {
  const late =
    'certificate has expired or is not yet valid: current time 2026-06-01T00:00:00Z is after 2021-01-01T00:00:00Z'
  assert.equal(problem('forged-expired-elsewhere', '127.0.0.1'), late)
  assert.equal(problem('forged', 'localhost'), 'certificate is not valid for any names, but wanted to match localhost')
  assert.match(
    problem('forged', '127.0.0.1'),
    /^certificate signed by unknown authority \(possibly because of "x509: ECDSA/,
  )
  assert.equal(
    problem('client-only', '127.0.0.1', 'INVALID_PURPOSE'),
    'certificate specifies an incompatible key usage',
  )
})

test('names and addresses are told apart', () => {
  assert.equal(problem('other-address', '127.0.0.1'), 'certificate is valid for 192.0.2.1, ::1, not 127.0.0.1')
  assert.equal(problem('other-names', 'x.org'), 'certificate is valid for other.example.com, *.example.org, not x.org')
  assert.match(problem('no-names', 'localhost'), /legacy Common Name/)
  assert.match(problem('no-names', '127.0.0.1'), /doesn't contain any IP SANs/)
})

test('what is given as authority and is none cannot have signed', () => {
  const hosts = ['127.0.0.1']
  const leaf = issue(runtime, { commonName: 'leaf', usage: 'server', hosts, validDays: 1 })
  const signed = issue(runtime, { commonName: 'x', usage: 'server', hosts, validDays: 1 }, leaf)
  assert.equal(
    certificateProblem(new X509Certificate(signed.cert), {
      host: '127.0.0.1',
      ca: leaf.cert,
      nowMs: Date.now(),
      code: 'UNSPECIFIED',
      format: String,
    }),
    'certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "leaf")',
  )
})
