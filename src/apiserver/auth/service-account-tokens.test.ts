import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import type { ApiRequest } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { issue } from '../../cluster/certificate.ts'
import { authentication } from '../filters/authentication.ts'
import type { CacheReads } from '../reads.ts'
import { createAuthenticator } from './authenticator.ts'
import { jwtKey, signJwt } from './jwt.ts'
import { createServiceAccountTokens } from './service-account-tokens.ts'
import { answerTokenRequest } from './tokenrequest.ts'
import { reviewToken } from './tokenreview.ts'

const ISSUER = 'https://kubernetes.default.svc'
const newKey = () =>
  jwtKey(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  )
const key = newKey()

function object(kind: string, namespace: string, name: string, rest: object = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { namespace, name, uid: `uid-of-${name}` }, ...rest }
}

function setUp() {
  const runtime = simulatedRuntime(1)
  const objects = new Map<string, KubeObject>([
    ['serviceaccounts/ns/robot', object('ServiceAccount', 'ns', 'robot')],
    ['secrets/ns/s', object('Secret', 'ns', 's')],
    ['pods/ns/p', object('Pod', 'ns', 'p', { spec: { serviceAccountName: 'robot', nodeName: 'n' } })],
    ['pods/ns/other', object('Pod', 'ns', 'other', { spec: { serviceAccountName: 'default' } })],
    ['nodes//n', object('Node', '', 'n')],
  ])
  const get: CacheReads['get'] = (_group, resource, namespace, name) =>
    objects.get(`${resource}/${namespace}/${name}`) as never
  const reads: CacheReads = { get, list: () => [], getLive: async (...at) => get(...at) }
  const tokens = createServiceAccountTokens(runtime, { issuers: [ISSUER], signingKey: key, keys: [key], reads })
  const authenticator = createAuthenticator(runtime, { serviceAccounts: tokens })
  const request = (spec: object, metadata: object = {}) =>
    answerTokenRequest({ runtime, reads, tokens }, 'ns', 'robot', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata,
      spec: { expirationSeconds: 3600, ...spec },
    } as never)
  const tokenFor = async (spec: object = {}) => (await request(spec))['status'].token as string
  return { runtime, objects, reads, tokens, authenticator, request, tokenFor }
}

const bound = (kind: string, name: string, uid?: string) => ({
  boundObjectRef: { apiVersion: 'v1', kind, name, ...(uid ? { uid } : {}) },
})

test('a token of TokenRequest is the service account, with what it is bound to', async () => {
  const { authenticator, tokenFor, runtime } = setUp()
  const { user, expiresAt } = await authenticator.authenticateToken(await tokenFor(bound('Pod', 'p')))
  assert.equal(user.name, 'system:serviceaccount:ns:robot')
  assert.equal(user.uid, 'uid-of-robot')
  assert.deepEqual(user.groups, ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'])
  const extra = { ...user.extra }
  assert.match(extra['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^JTI=/)
  assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['p'])
  assert.deepEqual(extra['authentication.kubernetes.io/pod-uid'], ['uid-of-p'])
  assert.deepEqual(extra['authentication.kubernetes.io/node-name'], ['n'])
  assert.deepEqual(extra['authentication.kubernetes.io/node-uid'], ['uid-of-n'])
  assert.equal(expiresAt, (Math.floor(runtime.clock.now() / 1000) + 3600) * 1000)
})

test('a token ends with its service account, its Secret, its Node, and its Pod a minute later', async () => {
  for (const [spec, ended] of [
    [{}, 'serviceaccounts/ns/robot'],
    [bound('Secret', 's'), 'secrets/ns/s'],
    [bound('Node', 'n'), 'nodes//n'],
    [bound('Pod', 'p'), 'pods/ns/p'],
  ] as const) {
    const { authenticator, tokenFor, objects, runtime } = setUp()
    const token = await tokenFor(spec)
    const alive = objects.get(ended) as KubeObject
    const deletedAgo = (ms: number) => new Date(runtime.clock.now() - ms).toISOString()
    objects.set(ended, { ...alive, metadata: { ...alive.metadata, deletionTimestamp: deletedAgo(30_000) } })
    await authenticator.authenticateToken(token)
    objects.set(ended, { ...alive, metadata: { ...alive.metadata, deletionTimestamp: deletedAgo(61_000) } })
    await assert.rejects(authenticator.authenticateToken(token), /invalidated/)
    objects.set(ended, { ...alive, metadata: { ...alive.metadata, uid: 'another' } })
    await assert.rejects(authenticator.authenticateToken(token), /invalidated/)
    objects.delete(ended)
    await assert.rejects(authenticator.authenticateToken(token), /invalidated|serviceaccounts "robot" not found/)
  }
})

test('forged, foreign, expired and misdirected tokens are not believed', async () => {
  const { authenticator, tokenFor, runtime } = setUp()
  const token = await tokenFor()
  const [head = '', body = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(runtime.clock.now() / 1000)
  const forged = {
    'alg none': `${encode({ alg: 'none' })}.${body}.`,
    'alg none, signed': `${encode({ alg: 'none' })}.${body}.${signature}`,
    HS256: `${encode({ alg: 'HS256', kid: key.keyId })}.${body}.${signature}`,
    'other claims': `${head}.${encode({ ...claims, sub: 'system:serviceaccount:kube-system:admin' })}.${signature}`,
    'other key': signJwt(newKey(), claims),
    'other key, our kid': signJwt({ ...newKey(), keyId: key.keyId }, claims),
    crit: `${encode({ alg: 'ES256', crit: ['b64'], b64: false })}.${body}.${signature}`,
    'other spelling': `${token}=`,
    'a part more': `${token}.x`,
    'a part less': `${head}.${body}`,
    nothing: 'x',
    expired: signJwt(key, { ...claims, exp: now - 1 }),
    'no expiry': signJwt(key, { ...claims, exp: undefined }),
    'not yet': signJwt(key, { ...claims, nbf: now + 60 }),
    'other issuer': signJwt(key, { ...claims, iss: 'https://else' }),
    'other audience': signJwt(key, { ...claims, aud: ['else'] }),
    'two accounts': signJwt(key, { ...claims, sub: 'system:serviceaccount:ns:other' }),
    'no account': signJwt(key, { ...claims, 'kubernetes.io': {} }),
    'claims that are no object': signJwt(key, [] as never),
    __proto__: signJwt(key, { ...claims, 'kubernetes.io': JSON.parse('{"__proto__":{"namespace":"ns"}}') }),
  }
  await authenticator.authenticateToken(token)
  for (const [name, bad] of Object.entries(forged)) {
    await assert.rejects(authenticator.authenticateToken(bad), () => true, name)
  }
})

test('a TokenRequest is refused as Kubernetes refuses it', async () => {
  const { request } = setUp()
  const refused = async (spec: object, metadata?: object) => {
    const error = await request(spec, metadata).catch((thrown) => thrown)
    assert.ok(error instanceof StatusError)
    return `${error.code} ${error.message}`
  }
  assert.equal(
    await refused({ expirationSeconds: 60 }),
    '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
  )
  assert.match(await refused({ expirationSeconds: 2 ** 32 + 1 }), /larger than 2\^32 seconds/)
  assert.equal(await refused(bound('Foo', 'x')), '400 cannot bind token to object of type /v1, Kind=Foo')
  assert.equal(await refused({ boundObjectRef: {} }), '400 cannot bind token to object of type /, Kind=')
  assert.equal(await refused(bound('__proto__', 'x')), '400 cannot bind token to object of type /v1, Kind=__proto__')
  assert.equal(await refused(bound('Pod', '')), '400 Name parameter required.')
  assert.equal(await refused(bound('Pod', 'nope')), '404 pods "nope" not found')
  assert.match(await refused(bound('Pod', 'other')), /^400 cannot bind token for serviceaccount "robot" to pod running/)
  assert.match(
    await refused(bound('Secret', 's', 'zzz')),
    /^409 Operation cannot be fulfilled on Secret "s": the UID in the bound object reference \(zzz\) does not match/,
  )
  assert.match(
    await refused({}, { name: 'other' }),
    /^422 TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name/,
  )
})

test('a TokenReview says who a token is, for the audiences asked for', async () => {
  const { authenticator, tokenFor } = setUp()
  const review = (spec: object) =>
    reviewToken(authenticator, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec })
  const token = await tokenFor()
  const good = await review({ token, audiences: ['x', ISSUER] })
  assert.equal(good['status'].authenticated, true)
  assert.deepEqual(good['status'].audiences, [ISSUER])
  assert.deepEqual((await review({ token: 'bogus' }))['status'], { user: {}, error: 'invalid bearer token' })
  assert.equal(
    (await review({ token, audiences: ['x'] }))['status'].error,
    `[invalid bearer token, token audiences ["${ISSUER}"] is invalid for the target audiences ["x"]]`,
  )
  await assert.rejects(review({}), /token is required/)
})

const ca = issue(simulatedRuntime(2), { commonName: 'ca', usage: 'ca', validDays: 1 })

test('a certificate is its CN and O, as long as it is valid', async () => {
  const { authenticator, runtime } = setUp()
  const client = { commonName: 'alice', organizations: ['dev', 'ops'], usage: 'client', validDays: 1 } as const
  const { cert } = issue(runtime, client, ca)
  const peerCertificate = Buffer.from(cert.replace(/-----.*-----|\n/g, ''), 'base64')
  const request = (connection: object) =>
    ({ headers: {}, connection: { remoteAddress: '', ...connection } }) as unknown as ApiRequest
  const user = (await authenticator.authenticate(request({ peerCertificate })))?.user
  assert.equal(user?.name, 'alice')
  assert.deepEqual(user?.groups, ['dev', 'ops', 'system:authenticated'])
  assert.match(user?.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=[0-9a-f]{64}$/)
  assert.throws(() => authenticator.authenticate(request({ certificateError: 'UNABLE_TO_VERIFY' })))
  assert.equal(authenticator.authenticate(request({})), undefined)
  const old = issue(runtime, { ...client, validDays: -1 }, ca)
  const expired = Buffer.from(old.cert.replace(/-----.*-----|\n/g, ''), 'base64')
  assert.throws(() => authenticator.authenticate(request({ peerCertificate: expired })))
})

test('without credentials a request is of system:anonymous, where it may be; with wrong ones it is refused everywhere', async () => {
  const { authenticator, runtime, tokenFor } = setUp()
  const anonymous = (path: string) => path !== '/secret'
  const handler = authentication(
    runtime,
    authenticator,
    anonymous,
  )(async ({ user }) => ({
    kind: 'bytes',
    status: 200,
    contentType: 'text/plain',
    bytes: [Buffer.from(user?.name ?? '')],
  }))
  const ask = async (path: string, authorization?: string, connection: object | undefined = { remoteAddress: '' }) => {
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await handler({ path, headers, ...(connection ? { connection } : {}) } as unknown as ApiRequest)
    return answer.kind === 'bytes' ? Buffer.from(answer.bytes[0] ?? '').toString() : ''
  }
  for (const path of ['/healthz', '/version', '/api/v1/pods', '//healthz'])
    assert.equal(await ask(path), 'system:anonymous')
  assert.equal(await ask('/x', 'Basic YTpi'), 'system:anonymous')
  await assert.rejects(ask('/secret'), /Unauthorized/)
  await assert.rejects(ask('/secret', 'Basic YTpi'), /Unauthorized/)
  await assert.rejects(ask('/healthz', 'Bearer bogus'), /Unauthorized/)
  for (const path of ['/x', '/secret'])
    assert.equal(await ask(path, `Bearer ${await tokenFor()}`), 'system:serviceaccount:ns:robot')
})
