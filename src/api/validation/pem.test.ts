import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { pemBlocks, problemOfCertificates, problemOfRequest } from './pem.ts'

const pem = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`
const good = readFileSync(new URL('../../../conformance/hook/cert.pem', import.meta.url), 'utf8')

test('a chain is certificates and nothing else', () => {
  assert.equal(problemOfCertificates(good + good), undefined)
  const wrong: Readonly<Record<string, string>> = {
    junk: 'must contain at least one CERTIFICATE PEM block',
    [good + pem('PRIVATE KEY', 'YQ==')]: 'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
    [pem('CERTIFICATE', 'a: b\n\nYQ==')]: 'no PEM block headers are permitted',
    [pem('CERTIFICATE', '')]: 'found CERTIFICATE PEM block containing 0 certificates',
    [pem('CERTIFICATE', 'YQ==')]: 'x509: malformed certificate',
    [pem('CERTIFICATE', 'MAMCAQE=')]: 'x509: malformed tbs certificate',
  }
  for (const [text, problem] of Object.entries(wrong)) assert.equal(problemOfCertificates(text), problem)
})

test('a block ends where one of its type does, and a text of beginnings is gone through once', () => {
  const types = (text: string) => pemBlocks(text).map(({ type }) => type)
  assert.deepEqual(types(`${pem('A', 'YQ==')}-----BEGIN B-----\n${pem('C', 'YQ==')}`), ['A', 'C'])
  assert.deepEqual(types('-----BEGIN A-----\nYQ==\n-----END B-----\n'), [])
  const many = '-----BEGIN A-----\n'.repeat(200_000)
  assert.deepEqual(types(`${many}-----END B-----`), [])
  assert.deepEqual(types(many), [])
})

test('a request is one whole element', () => {
  const wrong: Readonly<Record<string, string>> = {
    '': 'asn1: syntax error: sequence truncated',
    'MAA=': 'asn1: syntax error: sequence truncated',
    'Yg==': 'asn1: syntax error: truncated tag or length',
    'MAM=': 'asn1: syntax error: data truncated',
    'MIAAAA==': 'asn1: syntax error: indefinite length found (not DER)',
  }
  for (const [body, problem] of Object.entries(wrong))
    assert.equal(problemOfRequest(pem('CERTIFICATE REQUEST', body)), problem)
  assert.equal(problemOfRequest(good), 'PEM block type must be CERTIFICATE REQUEST')
})
