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

test('headers before a body are no part of it', () => {
  const [block] = pemBlocks(pem('A', 'a: b\n\nMAMCAQE='))
  assert.deepEqual([block?.hasHeaders, block?.der.toString('hex')], [true, '3003020101'])
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

test('a request is of a key that Go knows and signed by it', () => {
  const good = Buffer.from(
    'MIHKMHECAQAwDzENMAsGA1UEAwwEamFuZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHpsLbjLjclXAxoox/Am4jxY65nb1azEo4LlhMmJ5luf7VmvntgyALl40AxhJOhxVYRjxu3rmZclY2G/k+BBCAygADAKBggqhkjOPQQDAgNJADBGAiEAvm60uw4/gDcQsOsl2Fc2tPea6dhwrsy5g1F3lXq14VgCIQD2OmVkAHFFg1czXM+zglgOqqBSjf+5uWxGgU2dvxHgMg==',
    'base64',
  )
  const changed = (at: number, by = 1) => {
    const bytes = Buffer.from(good)
    const place = at < 0 ? bytes.length + at : at
    bytes[place] = (bytes[place] as number) ^ by
    return bytes
  }
  const point = good.indexOf(Buffer.from('03420004', 'hex')) + 3
  const cases: readonly (readonly [Buffer, string | undefined])[] = [
    [good, undefined],
    [changed(-1), 'x509: ECDSA verification failure'],
    [changed(good.indexOf('jane')), 'x509: ECDSA verification failure'],
    [changed(point + 1), 'P256 point not on curve'],
    [changed(point, 1), 'ecdsa: invalid uncompressed public key'],
    [Buffer.concat([good, Buffer.of(0)]), 'asn1: syntax error: trailing data'],
    [good.subarray(0, -1), 'asn1: syntax error: data truncated'],
    [
      Buffer.from(
        'MIHGMG4CAQAwDzENMAsGA1UEAwwEamFuZTBWMBAGByqGSM49AgEGBSuBBAAKA0IABO9+rClsNt3Z9Ii8rqimz92hnAOFrsP5oquQXal3OhkPQ/vBMfX4RCvJgBqbL4+t0cPMz6pKcTEvl/raqnBuXwCgADAKBggqhkjOPQQDAgNIADBFAiB6VBxsfz1hzoTkh1JP651Nb9RUT2M7waeEaT84AZaruQIhALJ+7jhQ1cl/0NdUbkNh3I0DHIy/tdEZZvsCXbuCW7CU',
        'base64',
      ),
      'x509: unsupported elliptic curve',
    ],
    [
      Buffer.from(
        'MIHZMFsCAQAwDzENMAsGA1UEAwwEamFuZTBDMAUGAytlcQM6AEZxYFtf8WIlurYF8S7PEZZ2ptMVVVJzH+OhbkhcTKin3fpRb9RdgRgqxOBYVNSElzigaSdSC6vXAKAAMAUGAytlcQNzAMGqD6Hh/bCZXDKPnuJqnt1mDoTnL2u1bWdLe8/a0TYBj0lQLw2Q4C3yiPKbCnvyE9uHiRQaMQXSAP8pSa2FQMLUcXacguLosklTzBXy4OhYZ4zg/0xcNL/GcJX9WXC8oTUePyXwXlsZxirQCqEucsoJAA==',
        'base64',
      ),
      'x509: cannot verify signature: algorithm unimplemented',
    ],
  ]
  for (const [der, problem] of cases)
    assert.equal(problemOfRequest(pem('CERTIFICATE REQUEST', der.toString('base64'))), problem)
})
