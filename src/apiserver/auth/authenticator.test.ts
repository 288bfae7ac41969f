import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { issue, type KeyAndCertificate } from '../../cluster/certificate.ts'
import { createAuthenticator, type ProvenUser } from './authenticator.ts'
import { DEFAULT_FRONT_PROXIES } from './front-proxies.ts'

const runtime = simulatedRuntime(1)
const ca = issue(runtime, { commonName: 'ca', usage: 'ca', validDays: 1 })
const alice = issue(runtime, { commonName: 'alice', usage: 'client', validDays: 1 }, ca)
const peerCertificate = new X509Certificate(alice.cert).raw
const brokenToken = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.$$$, x',
}
const serviceAccounts = {
  issuer: '',
  keys: [],
  apiAudiences: [''],
  mint: () => '',
  verify: async () => undefined,
}
const request = (headers: ApiRequest['headers'], connection = {}): ApiRequest => ({
  method: 'GET',
  path: '/',
  query: new URLSearchParams(),
  headers,
  connection: { remoteAddress: '', ...connection },
  signal: new AbortController().signal,
})

test('whom a certificate proves no token is asked of; whom it does not prove, a token may, and a broken one does not', async () => {
  const { authenticate } = createAuthenticator(runtime, {
    serviceAccounts,
    otherToken: (token) => (token === 'good' ? { name: 'bob', groups: [] } : undefined),
  })
  const nameOf = async (asked: ApiRequest) => (await authenticate(asked))?.user.name
  assert.equal(await nameOf(request(brokenToken, { peerCertificate })), 'alice')
  const unverified = { certificateError: 'x509: not ours' }
  assert.equal(await nameOf(request({ authorization: 'Bearer good' }, unverified)), 'bob')
  await assert.rejects(() => nameOf(request({}, unverified)), /not ours/)
  await assert.rejects(() => nameOf(request(brokenToken)), /not base64url/)
  assert.equal(await nameOf(request({})), undefined)
})

test('a certificate is read once for all connections that bring it, and still has its time', async () => {
  const runtime = simulatedRuntime(1)
  const { authenticate } = createAuthenticator(runtime, { serviceAccounts })
  const bob = new X509Certificate(issue(runtime, { commonName: 'bob', usage: 'client', validDays: 2 }, ca).cert).raw
  const brings = (certificate: Uint8Array) =>
    (authenticate(request({}, { peerCertificate: Buffer.from(certificate) })) as ProvenUser).user
  const first = brings(peerCertificate)
  assert.equal(first.name, 'alice')
  assert.equal(brings(peerCertificate), first)
  assert.equal(brings(bob).name, 'bob')
  await runtime.advance(36 * 3600_000)
  assert.throws(() => brings(peerCertificate), /not valid now/)
  assert.equal(brings(bob).name, 'bob')
})

test('of certificates only so many are kept', () => {
  const { authenticate } = createAuthenticator(runtime, { serviceAccounts })
  const brings = (certificate: Uint8Array) => authenticate(request({}, { peerCertificate: certificate }))
  const first = brings(peerCertificate)
  for (let i = 0; i < 1024; i++)
    brings(new X509Certificate(issue(runtime, { commonName: `user-${i}`, usage: 'client', validDays: 1 }, ca).cert).raw)
  assert.notEqual(brings(peerCertificate), first)
  assert.deepEqual(brings(peerCertificate), first)
})

test('a certificate is what the authority at the end of its chain makes it: a user, or a front proxy', () => {
  const authority = (commonName: string, issuer?: KeyAndCertificate) =>
    issue(runtime, { commonName, usage: 'ca', validDays: 3 }, issuer)
  const clients = authority('clients')
  const proxies = authority('proxies')
  const between = authority('between', proxies)
  const bytes = ({ cert }: KeyAndCertificate) => new X509Certificate(cert).raw
  const client = (commonName: string, issuer: KeyAndCertificate, organizations: readonly string[] = []) =>
    issue(runtime, { commonName, organizations, usage: 'client', validDays: 2 }, issuer)
  const answer = (clientCas: string, certificate: KeyAndCertificate, headers: Record<string, string> = {}) => {
    const frontProxies = { ...DEFAULT_FRONT_PROXIES, ca: proxies.cert }
    const { authenticate } = createAuthenticator(runtime, { serviceAccounts, frontProxies, clientCas })
    const peerIssuers = () => [bytes(between)]
    try {
      return (authenticate(request(headers, { peerCertificate: bytes(certificate), peerIssuers })) as ProvenUser).user
        .name
    } catch (error) {
      return (error as Error).message
    }
  }
  const mallory = client('mallory', between, ['system:masters'])
  assert.match(answer(clients.cert, mallory), /is not an allowed one/)
  assert.match(answer(clients.cert, mallory, { 'x-remote-user': 'admin' }), /is not an allowed one/)
  const proxy = client('front-proxy-client', between)
  assert.equal(answer(clients.cert, proxy, { 'x-remote-user': 'bob' }), 'bob')
  const sent = Buffer.from('Zoë').toString('latin1')
  assert.equal(answer(clients.cert, proxy, { 'x-remote-user': sent }), 'Zoë', 'headers are UTF-8')
  assert.equal(answer(clients.cert, client('carol', clients)), 'carol')
  assert.equal(answer(`${clients.cert}${proxies.cert}`, mallory), 'mallory', 'one authority for both')
})
