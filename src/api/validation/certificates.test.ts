import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateCertificateSigningRequestStatus } from './certificates.ts'

const request = (certificate?: string) => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'r' },
  spec: { request: '', signerName: 'a.b/c' },
  status: certificate === undefined ? {} : { certificate: Buffer.from(certificate).toString('base64') },
})

test('a certificate that takes the place of an issued one is judged, and refused', () => {
  const said = (now: string | undefined, before: string | undefined) =>
    validateCertificateSigningRequestStatus(request(now), request(before))
      .filter(({ field }) => field === 'status.certificate')
      .map(({ message }) => message)
  const broken = 'Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'
  const changed = 'Forbidden: updates may not modify existing certificate content'
  assert.deepEqual(said('abc', 'issued'), [broken, changed])
  assert.deepEqual(said('abc', undefined), [broken])
  assert.deepEqual(said(undefined, 'issued'), [changed])
  assert.deepEqual(said('issued', 'issued'), [])
})
