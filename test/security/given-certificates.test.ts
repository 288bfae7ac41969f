/** Servers whose own certificate, not their authority's, is what the cluster was given: each place that trusts one asks them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue } from '../../src/cluster/certificate.ts'
import { startTarget } from './attacker.ts'
import { authority, publicJwk, signedToken, signingKey } from './issuer.ts'
import { until } from './until.ts'

/** Endpoints may not be of the loopback range: the machine's own other address. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address
const hosts = ['127.0.0.1', 'given.default.svc', 'localhost']
const ca = authority()
const leafOf = (from: typeof ca) =>
  issue(liveRuntime({ log: { write: () => {} } }), { commonName: 'given', usage: 'server', hosts, validDays: 1 }, from)
const leaf = leafOf(ca)
/** Of the same authority and the same names. */
const sibling = leafOf(ca)
const bundle = Buffer.from(leaf.cert).toString('base64')
const siblingBundle = Buffer.from(sibling.cert).toString('base64')
const key = signingKey('ES256', 'k')

// biome-ignore lint/suspicious/noExplicitAny: reviews of several kinds
type Review = any
const answers: Readonly<Record<string, (review: Review) => object>> = {
  '/admit': ({ apiVersion, kind, request }) => ({
    ...{ apiVersion, kind },
    response: { uid: request.uid, allowed: false, status: { message: 'it was asked' } },
  }),
  '/convert': ({ apiVersion, kind, request }) => ({
    ...{ apiVersion, kind },
    response: {
      uid: request.uid,
      result: { status: 'Success' },
      convertedObjects: request.objects.map((o: Review) => ({ ...o, apiVersion: request.desiredAPIVersion })),
    },
  }),
  '/tokens': (review) => ({
    ...review,
    status: { authenticated: review.spec.token === 'known', user: { username: 'of-the-webhook' } },
  }),
  '/rights': (review) => ({ ...review, status: { allowed: review.spec.user === 'of-the-webhook' } }),
  '/.well-known/openid-configuration': () => ({ issuer: url, jwks_uri: `${url}/keys` }),
  '/keys': () => ({ keys: [publicJwk(key)] }),
  '/apis/given.example.com/v1': () => ({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'given.example.com/v1',
    resources: [],
  }),
}
const server = createServer({ cert: leaf.cert, key: leaf.key }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    const answer = answers[new URL(request.url ?? '', 'https://x').pathname]
    response.setHeader('content-type', 'application/json')
    if (answer === undefined) response.statusCode = 404
    response.end(JSON.stringify(answer?.(body === '' ? {} : JSON.parse(body)) ?? {}))
  })
})
await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
const { port } = server.address() as AddressInfo
const url = `https://127.0.0.1:${port}`

const directory = mkdtempSync(join(tmpdir(), 'skiff-given-'))
const file = (name: string, value: object) => {
  writeFileSync(join(directory, name), JSON.stringify(value))
  return join(directory, name)
}
const kubeconfig = (path: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: url + path, 'certificate-authority-data': bundle } }],
  users: [{ name: 'u', user: {} }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
})
const config = { apiVersion: 'apiserver.config.k8s.io/v1' }
const webhook = {
  ...{ timeout: '3s', authorizedTTL: '1s', unauthorizedTTL: '1ms', failurePolicy: 'Deny' },
  ...{ subjectAccessReviewVersion: 'v1', matchConditionSubjectAccessReviewVersion: 'v1' },
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: file('rights', kubeconfig('/rights')) },
  matchConditions: [{ expression: "request.user == 'of-the-webhook'" }],
}
const target = await startTarget([
  '--authentication-config',
  file('authentication', {
    ...config,
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url, audiences: ['skiff'], certificateAuthority: leaf.cert },
        claimMappings: { username: { claim: 'sub', prefix: '' } },
      },
    ],
  }),
  '--authentication-token-webhook-config-file',
  file('tokens', kubeconfig('/tokens')),
  '--authorization-config',
  file('authorization', {
    ...config,
    kind: 'AuthorizationConfiguration',
    authorizers: [
      { type: 'Webhook', name: 'hook', webhook },
      { type: 'RBAC', name: 'rbac' },
    ],
  }),
])
after(async () => {
  await target.stop()
  server.closeAllConnections()
  server.close()
  rmSync(directory, { recursive: true, force: true })
})

const whoami = async (token: string) => {
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const answer = await target.attempt({ method: 'POST', path, token, body })
  return answer.code === 201 ? JSON.parse(answer.body).status.userInfo.username : answer.body
}
const post = (path: string, body: object) => target.asAdmin('POST', path, body)

test('an issuer', async () => {
  const now = Math.floor(Date.now() / 1000)
  const token = signedToken(key, { iss: url, aud: 'skiff', sub: 'of-the-issuer', iat: now, exp: now + 600 })
  assert.equal(await whoami(token), 'of-the-issuer')
})

test('webhooks of authentication and authorization', async () => {
  assert.equal(await whoami('known'), 'of-the-webhook')
  assert.equal((await target.attempt({ path: '/api/v1/secrets', token: 'known' })).code, 200)
})

test('an admission webhook, and no other certificate of its authority', async () => {
  const refusal = async (caBundle: string) => {
    const name = caBundle === bundle ? 'given' : 'sibling'
    const labels = { which: name }
    const hook = {
      name: `${name}.example.com`,
      clientConfig: { url: `${url}/admit`, caBundle },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      objectSelector: { matchLabels: labels },
      ...{ admissionReviewVersions: ['v1'], sideEffects: 'None' },
    }
    const registration = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    assert.equal((await post(path, { ...registration, metadata: { name }, webhooks: [hook] })).code, 201)
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'c', labels } }
    return JSON.parse((await post('/api/v1/namespaces/default/configmaps', object)).body).message as string
  }
  assert.match(await refusal(bundle), /it was asked$/)
  assert.match(await refusal(siblingBundle), /x509: certificate signed by unknown authority$/)
})

test('a conversion webhook', async () => {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema })
  const spec = {
    group: 'given.org',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    versions: [version('v1', true), version('v2', false)],
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `${url}/convert`, caBundle: bundle } },
    },
  }
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
  const metadata = { name: 'things.given.org' }
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { ...definition, metadata, spec })
  const created = await until(async () => {
    const thing = { apiVersion: 'given.org/v2', kind: 'Thing', metadata: { name: 'a' } }
    const answer = await post('/apis/given.org/v2/things', thing)
    return answer.code === 404 ? undefined : answer
  })
  assert.equal(created.code, 201, created.body)
})

test('an APIService', {
  skip: outside === undefined ? 'this machine has no address but loopback' : false,
}, async () => {
  const metadata = { name: 'given' }
  const ports = [{ name: 'https', port: 443, targetPort: port }]
  await post('/api/v1/namespaces/default/services', { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } })
  await post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: { name: 'given', labels: { 'kubernetes.io/service-name': 'given' } },
    endpoints: [{ addresses: [outside], conditions: { ready: true } }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  })
  const service = { name: 'given', namespace: 'default' }
  const group = { group: 'given.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 1 }
  const path = '/apis/apiregistration.k8s.io/v1/apiservices'
  await post(path, {
    ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1.given.example.com' } },
    spec: { service, ...group, caBundle: bundle },
  })
  const available = await until(async () => {
    const { status } = JSON.parse((await target.asAdmin('GET', `${path}/v1.given.example.com`)).body)
    return status?.conditions?.find((one: { reason: string }) => one.reason !== 'EndpointsNotFound')
  })
  assert.equal(available.reason, 'Passed', available.message)
})
