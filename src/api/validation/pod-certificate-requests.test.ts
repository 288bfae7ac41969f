/** What a real v1.37.1 said of requests that differ in one thing from a good one (asked 2026-11-24). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Fields } from '../object.ts'
import { validatePodCertificateRequest } from './certificates.ts'

interface Corpus {
  readonly stub: string
  /** `change` has null for a field that is left out. */
  readonly cases: readonly { readonly name: string; readonly change: Fields; readonly refusal?: string }[]
}

const corpus: Corpus = JSON.parse(readFileSync(new URL('pod-certificate-requests.json', import.meta.url), 'utf8'))
const good: Fields = {
  signerName: 'example.com/signer',
  podName: 'p1',
  podUID: '8d6d2a30-0000-4000-8000-000000000001',
  serviceAccountName: 'sa1',
  serviceAccountUID: '8d6d2a30-0000-4000-8000-000000000002',
  nodeName: 'n1',
  nodeUID: '8d6d2a30-0000-4000-8000-000000000003',
  maxExpirationSeconds: 86_400,
  stubPKCS10Request: corpus.stub,
}

function refusalOf(change: Fields): string | undefined {
  // Defaults come before the rules.
  const kept = { ...change, ...(change['maxExpirationSeconds'] === null ? { maxExpirationSeconds: 86_400 } : {}) }
  const spec = Object.fromEntries(Object.entries({ ...good, ...kept }).filter(([, value]) => value !== null))
  const told = validatePodCertificateRequest({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { name: 'r' },
    spec,
  }).map(({ field, message }) => `${field}: ${message}`)
  return told.length > 1 ? `[${told.join(', ')}]` : told[0]
}

for (const { name, change, refusal } of corpus.cases)
  test(`${name}: ${refusal === undefined ? 'taken' : 'refused'}`, () => {
    assert.equal(refusalOf(change), refusal)
  })

test('a request, an identity and annotations are as long as they may be', () => {
  const tooLong = (field: string, most: number) => `spec.${field}: Too long: may not be more than ${most} bytes`
  const bytes = (count: number) => Buffer.alloc(count).toString('base64')
  assert.equal(refusalOf({ stubPKCS10Request: bytes(10_241) }), tooLong('stubPKCS10Request', 10_240))
  assert.match(refusalOf({ stubPKCS10Request: bytes(10_240) }) ?? '', /valid PKCS#10 CSR$/)
  assert.equal(refusalOf({ nodeUID: 'x'.repeat(128) }), undefined)
  assert.equal(refusalOf({ nodeUID: 'x'.repeat(129) }), tooLong('nodeUID', 128))
  const annotations = { 'example.com/a': 'b'.repeat(256 * 1024 + 1) }
  assert.equal(refusalOf({ unverifiedUserAnnotations: annotations }), tooLong('unverifiedUserAnnotations', 262_144))
})

test('of a request that is cut off anywhere, or has one bit wrong, it is said what is wrong', () => {
  const whole = Buffer.from(corpus.stub, 'base64')
  for (let at = 1; at < whole.length; at++) {
    const cut = whole.subarray(0, at).toString('base64')
    assert.match(refusalOf({ stubPKCS10Request: cut }) ?? 'taken', /valid PKCS#10 CSR$/)
    const bent = Buffer.from(whole)
    bent.writeUInt8(bent.readUInt8(at) ^ 1, at)
    assert.match(
      refusalOf({ stubPKCS10Request: bent.toString('base64') }) ?? 'taken',
      /^spec\.stubPKCS10Request: Invalid value: /,
    )
  }
})
