import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { certificateRequestParts } from '../../api/validation/certificate-request.ts'
import { isOver } from './expired-request-cleaner.ts'
import { requests } from './fixtures.ts'
import { clientSigner, kubeletClientSigner, kubeletServingSigner, signingProblem } from './requests.ts'

const serving = ['server auth', 'digital signature']
const client = ['client auth', 'digital signature']
const noServing = 'usages did not match [digital signature key encipherment server auth]'
const noClient = 'usages did not match [client auth digital signature key encipherment]'

const cases: readonly (readonly [string, keyof typeof requests, readonly string[], string | undefined])[] = [
  [clientSigner, 'jane', client, undefined],
  [clientSigner, 'jane', ['client auth', 'server auth'], 'invalid usage for client certificate: server auth'],
  [clientSigner, 'janeAlone', ['digital signature'], 'missing required usage for client certificate: client auth'],
  [kubeletClientSigner, 'janeAlone', client, 'subject organization is not system:nodes'],
  [kubeletClientSigner, 'nodeDns', client, 'DNS subjectAltNames are not allowed'],
  [kubeletClientSigner, 'nodeBare', ['digital signature'], noClient],
  [kubeletClientSigner, 'nodeBare', [...client, 'key encipherment'], undefined],
  [kubeletServingSigner, 'nodeBare', serving, 'DNS or IP subjectAltName is required'],
  [kubeletServingSigner, 'nodeEmail', ['server auth'], 'Email subjectAltNames are not allowed'],
  [kubeletServingSigner, 'nodeUri', ['server auth'], 'URI subjectAltNames are not allowed'],
  [kubeletServingSigner, 'janeNode', ['server auth'], noServing],
  [kubeletServingSigner, 'nodeDns', ['client auth'], noServing],
  [kubeletServingSigner, 'node', [...serving, 'key encipherment'], undefined],
]

test('signers sign what their rules allow, and say what they do not, in the words recorded of Kubernetes', () => {
  for (const [signer, name, usages, problem] of cases) {
    const parts = certificateRequestParts(requests[name])
    assert.ok(parts, name)
    assert.equal(signingProblem(signer, parts, usages), problem, `${signer} ${name} ${usages}`)
  }
  assert.equal(certificateRequestParts('bm8='), undefined)
})

const at = (minutes: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + minutes * 60_000).toISOString()
const request = (...types: readonly string[]): CertificateSigningRequest => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'r', creationTimestamp: at(0) },
  spec: { request: '', signerName: 'example.com/s' },
  status: { conditions: types.map((type) => ({ type, status: 'True', lastUpdateTime: at(0) })) },
})

test('requests are over an hour after their answer, and a day after nobody answered', () => {
  const over = (minutes: number, ...types: readonly string[]) => isOver(request(...types), Date.parse(at(minutes)))
  assert.deepEqual([over(59, 'Denied'), over(61, 'Denied')], [false, true])
  assert.deepEqual([over(59, 'Approved', 'Failed'), over(61, 'Approved', 'Failed')], [false, true])
  assert.deepEqual([over(23 * 60), over(25 * 60)], [false, true])
  assert.equal(over(25 * 60, 'Approved'), false, 'it is still to be signed')
})
