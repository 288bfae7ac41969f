import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { issue, type KeyAndCertificate } from '../cluster/certificate.ts'
import { createHttpsClient } from './client.ts'
import { alice, ca, runtime, text } from './fixture.test.ts'

/** Certificates of one key and one name, all from `authority`, which differ in what their names say. */
const pem = (name: string) =>
  readFileSync(new URL(`../../conformance/hook/certificates/${name}.pem`, import.meta.url), 'utf8')
const given = (name: string): KeyAndCertificate => ({ cert: pem(name), key: pem('key') })

const issued = (commonName: string, usage: 'ca' | 'server' | 'client', issuer?: KeyAndCertificate) =>
  issue(runtime, { commonName, usage, hosts: ['127.0.0.1'], validDays: 1 }, issuer)
const middle = issued('middle', 'ca', ca)
const leaf = issued('leaf', 'server', ca)
const selfSigned = issued('self', 'server')
const ofLeaf = issued('of a leaf', 'server', leaf)
const ofMiddle = issued('of the middle', 'server', middle)
const ofSelf = issued('of a self-signed one', 'server', selfSigned)
const together = (...certificates: readonly KeyAndCertificate[]): KeyAndCertificate => ({
  cert: certificates.map(({ cert }) => cert).join(''),
  key: certificates[0]?.key ?? '',
})

/** What a client that trusts `trusted` hears from a server of this certificate: `ok`, or the code of its refusal. */
async function heard(shown: KeyAndCertificate, trusted: string, host = '127.0.0.1'): Promise<string> {
  const server = createServer(shown, (_, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const named = host === '127.0.0.1' ? {} : { serverName: host }
  const client = createHttpsClient({ server: `https://127.0.0.1:${port}`, ca: trusted, ...named })
  try {
    return await text(await client.send({ method: 'GET', path: '/' }))
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  } finally {
    client.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const cases: readonly (readonly [what: string, shown: KeyAndCertificate, trusted: string, expected: string])[] = [
  ['its authority', leaf, ca.cert, 'ok'],
  ['itself, signed by an authority', leaf, leaf.cert, 'ok'],
  ['itself, signed by itself', selfSigned, selfSigned.cert, 'ok'],
  ['itself, of another key than its name’s authority', given('forged'), pem('forged'), 'ok'],
  ['an authority in the middle', ofMiddle, middle.cert, 'ok'],
  ['an authority in the middle that it shows too', together(ofMiddle, middle), middle.cert, 'ok'],
  ['one of several', leaf, alice.cert + leaf.cert, 'ok'],
  ['another of the same key and name', given('good'), pem('forged'), 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ['another of the same authority', leaf, ofMiddle.cert, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ['itself, expired', given('expired'), pem('expired'), 'CERT_HAS_EXPIRED'],
  ['itself, not yet valid', given('future'), pem('future'), 'CERT_NOT_YET_VALID'],
  ['itself, for clients', given('client-only'), pem('client-only'), 'INVALID_PURPOSE'],
  ['itself, for another address', given('other-address'), pem('other-address'), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['itself, without names', given('no-names'), pem('no-names'), 'ERR_TLS_CERT_ALTNAME_INVALID'],
]
for (const [what, shown, trusted, expected] of cases)
  test(`a client is given of a server: ${what}`, async () => assert.equal(await heard(shown, trusted), expected))

test('a certificate that is no authority vouches for no other', async () => {
  for (const [shown, trusted] of [
    [ofLeaf, leaf],
    [together(ofLeaf, leaf), leaf],
    [together(ofLeaf, leaf, ca), ca],
    [ofSelf, selfSigned],
    [together(ofSelf, selfSigned), selfSigned],
  ] as const)
    assert.equal(await heard(shown, trusted.cert), 'UNSPECIFIED')
})

test('the name that is asked for counts, not the address', async () => {
  assert.equal(await heard(given('good'), pem('good'), 'localhost'), 'ok')
  assert.equal(await heard(given('good'), pem('good'), 'x.example.com'), 'ERR_TLS_CERT_ALTNAME_INVALID')
})
