/** What flags decide of how an API server serves, as a Kubernetes v1.37.1 was heard to answer with the same ones (2026-11-26). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request as https } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, createServer } from 'node:tls'
import type { JsonObject } from '../src/api/object.ts'
import { asList, asObject } from '../src/api/unchecked.ts'
import { simulatedRuntime } from '../src/base/simulated-runtime.ts'
import { issue } from '../src/cluster/certificate.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'
import { loadServerSettings } from '../src/cluster/server-flags.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-serving-'))
const ADMISSION = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    default: [{key: d, operator: Exists, effect: NoSchedule}]
    whitelist:
    - {key: d, operator: Exists}
    - {key: w, operator: Equal, value: v, effect: NoExecute}
    - {key: node.kubernetes.io/not-ready, operator: Exists}
    - {key: node.kubernetes.io/unreachable, operator: Exists}
    - {key: node.kubernetes.io/memory-pressure, operator: Exists}
- name: EventRateLimit
  path: limits.yaml
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, enforce-version: latest}
    exemptions: {namespaces: [exempt]}
`

let cluster: Cluster
before(async () => {
  writeFileSync(join(folder, 'admission.yaml'), ADMISSION)
  writeFileSync(
    join(folder, 'limits.yaml'),
    `apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\nlimits: [{type: Namespace, qps: 1, burst: 2, cacheSize: 50}]\n`,
  )
  cluster = await startCluster({
    clock: 'manual',
    dataDir: join(folder, 'data'),
    storage: 'memory',
    components: ['apiserver'],
    enableAdmissionPlugins: ['NamespaceAutoProvision', 'PodTolerationRestriction', 'EventRateLimit'],
    disableAdmissionPlugins: ['ServiceAccount'],
    security: {
      eventTtl: '5s',
      defaultNotReadyTolerationSeconds: 30,
      defaultUnreachableTolerationSeconds: 40,
      tlsMinVersion: 'VersionTLS13',
      serviceAccountMaxTokenExpiration: '2h',
      enableGarbageCollector: false,
      minRequestTimeout: 60,
      kubernetesServiceNodePort: 30443,
      corsAllowedOrigins: ['^https://a\\.example(:|$)'],
      strictTransportSecurityDirectives: ['max-age=31536000', 'includeSubDomains'],
      admissionControlConfigFile: join(folder, 'admission.yaml'),
    },
  })
})
after(async () => {
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function ask(method: string, path: string, object?: JsonObject) {
  const { status, body } = await cluster.client.raw(method, path, object)
  return { status, body: JSON.parse(body) as JsonObject }
}
const create = (resource: string, object: JsonObject, namespace = 'auto') =>
  ask('POST', `/api/v1/namespaces/${namespace}/${resource}`, object)
const pod = (name: string, spec: JsonObject = {}, container: JsonObject = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
})
const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

test('NamespaceAutoProvision makes the namespace of what is created, but not for a dry run', async () => {
  const { status, body } = await ask('POST', '/api/v1/namespaces/auto/configmaps?dryRun=All', map('x'))
  assert.deepEqual([status, body['message']], [404, 'namespaces "auto" not found'])
  assert.equal((await create('configmaps', map('x'))).status, 201)
  const made = await ask('GET', '/api/v1/namespaces/auto')
  assert.deepEqual(asObject(asList(asObject(made.body['metadata'])['managedFields'])[0])['manager'], 'kube-apiserver')
})

test('PodTolerationRestriction gives and takes tolerations, after those that say how long pods stay', async () => {
  const tolerations = async (object: JsonObject, namespace?: string) =>
    asObject((await create('pods', object, namespace)).body['spec'])['tolerations']
  const stay = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 40 },
  ]
  assert.deepEqual(await tolerations(pod('p')), [...stay, { key: 'd', operator: 'Exists', effect: 'NoSchedule' }])
  const own = { key: 'w', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }
  const requests = { resources: { requests: { cpu: '1' } } }
  const given = (await tolerations(pod('p2', { tolerations: [own] }, requests))) as readonly JsonObject[]
  assert.deepEqual(
    given.map(({ key }) => key),
    ['w', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable', 'd', 'node.kubernetes.io/memory-pressure'],
  )
  const refused = await create('pods', pod('p3', { tolerations: [{ key: 'z', operator: 'Exists' }] }))
  const said = (whose: string) =>
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist`
  assert.deepEqual([refused.status, refused.body['message'], refused.body['reason']], [500, said('cluster'), undefined])

  const namespace = (allowed: string) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: 'tol',
      annotations: {
        'scheduler.alpha.kubernetes.io/defaultTolerations': '[{"key":"q","operator":"Equal","value":"1"}]',
        'scheduler.alpha.kubernetes.io/tolerationsWhitelist': allowed,
      },
    },
  })
  await ask('POST', '/api/v1/namespaces', namespace('[{"operator":"Exists"}]'))
  // What the pod has tolerates more.
  const wider = { key: 'q', operator: 'Exists' }
  assert.deepEqual(await tolerations(pod('p', { tolerations: [wider] }), 'tol'), [wider, ...stay])
  await ask('PUT', '/api/v1/namespaces/tol', namespace('[{"key":"only"}]'))
  assert.equal((await create('pods', pod('p4'), 'tol')).body['message'], said('namespace'))
  await ask('PUT', '/api/v1/namespaces/tol', namespace('[{"key'))
  assert.equal((await create('pods', pod('p5'), 'tol')).body['message'], 'unexpected end of JSON input')
  // Nothing is an empty list, which allows everything.
  await ask('PUT', '/api/v1/namespaces/tol', namespace(''))
  assert.equal((await create('pods', pod('p6'), 'tol')).status, 201)
})

test('EventRateLimit refuses Events of a namespace that come too quickly, and they go after their time', async () => {
  const event = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name },
    involvedObject: { namespace: 'auto' },
  })
  assert.equal((await create('events', event('e1'))).status, 201)
  assert.equal((await create('events', event('e2'))).status, 201)
  const { status, body } = await create('events', event('e3'))
  assert.deepEqual(
    [status, body['reason'], body['message'], body['details']],
    [429, 'TooManyRequests', 'Too many requests: limit reached on type Namespace for key auto', undefined],
  )
  // Nor are those counted, as on a Kubernetes v1.37.1, that come by the newer group.
  const newer = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'n1' },
    eventTime: '2026-11-26T00:00:00.000000Z',
    ...{ type: 'Normal', reason: 'r', action: 'a', reportingController: 'c/d', reportingInstance: 'i' },
    regarding: { namespace: 'auto' },
  }
  assert.equal((await ask('POST', '/apis/events.k8s.io/v1/namespaces/auto/events', newer)).status, 201)
  assert.equal((await ask('DELETE', '/apis/events.k8s.io/v1/namespaces/auto/events/n1')).status, 200)
  const count = async () => asList((await ask('GET', '/api/v1/namespaces/auto/events')).body['items']).length
  await cluster.clock.advance('1s')
  assert.equal((await create('events', event('e4'))).status, 201)
  assert.equal(await count(), 3)
  await cluster.clock.advance('10s')
  assert.equal(await count(), 0)
})

test('PodSecurity holds its defaults where labels say nothing, and nothing of what is exempt', async () => {
  const privileged = { securityContext: { privileged: true } }
  const { status, body } = await create('pods', pod('priv', {}, privileged))
  assert.equal(status, 403)
  assert.match(String(body['message']), /violates PodSecurity "baseline:latest": privileged/)
  assert.equal((await create('pods', pod('priv', {}, privileged), 'exempt')).status, 201)
})

test('a token is valid no longer than is allowed, and the client is told', async () => {
  await create('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } })
  const token = (expirationSeconds: number) =>
    create('serviceaccounts/sa/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds },
    })
  assert.equal(asObject((await token(10_000)).body['spec'])['expirationSeconds'], 7200)
  assert.equal(asObject((await token(3607)).body['spec'])['expirationSeconds'], 3607)
})

test('without a garbage collector nothing waits for one', async () => {
  const foreground = await ask('DELETE', '/api/v1/namespaces/auto/configmaps/x?propagationPolicy=Foreground')
  assert.equal(foreground.body['status'], 'Success')
  assert.equal((await ask('DELETE', '/api/v1/namespaces/auto/serviceaccounts/sa?propagationPolicy=Orphan')).status, 200)
  assert.equal((await ask('GET', '/api/v1/namespaces/auto/serviceaccounts/sa')).status, 404)
})

test('the kubernetes Service has a node port where one is chosen', async () => {
  const { type, ports, externalTrafficPolicy } =
    (await cluster.client.core.services('default').get('kubernetes')).spec ?? {}
  const targetPort = Number(new URL(cluster.url).port)
  assert.deepEqual(
    { type, ports, externalTrafficPolicy },
    {
      type: 'NodePort',
      ports: [{ name: 'https', nodePort: 30443, port: 443, protocol: 'TCP', targetPort }],
      externalTrafficPolicy: 'Cluster',
    },
  )
})

test('what comes over a wire is spoken in TLS 1.3, and says that it is to stay so', async () => {
  const { hostname, port } = new URL(cluster.url)
  const spoken = (maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
    new Promise<string>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, maxVersion }, () => {
        resolve(socket.getProtocol() ?? '')
        socket.destroy()
      })
      socket.on('error', () => resolve('refused'))
    })
  assert.deepEqual([await spoken('TLSv1.2'), await spoken('TLSv1.3')], ['refused', 'TLSv1.3'])
  const headers = await headersOf('/version')
  assert.equal(headers['strict-transport-security'], 'max-age=31536000; includeSubDomains')
})

const headersOf = (path: string, headers = {}): Promise<IncomingHttpHeaders> =>
  new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, headers }
    const asked = https(`${cluster.url}${path}`, options, (answer) => resolve(answer.resume().headers))
    asked.on('error', reject)
    asked.end()
  })

test('scripts of the origins that an expression allows may read answers', async () => {
  const allowed = async (origin: string) => (await headersOf('/version', { origin }))['access-control-allow-origin']
  assert.equal(await allowed('https://a.example:8443'), 'https://a.example:8443')
  assert.equal(await allowed('https://a.example.evil'), undefined)
})

test('a watch that says nothing of its end is ended after the time of the server, up to twice as long', async () => {
  const data = (name: string) => {
    const found = new RegExp(`"?${name}-data"?: "?([\\w+/=]+)`).exec(cluster.kubeconfig)?.[1]
    return Buffer.from(found ?? '', 'base64')
  }
  const options = {
    ca: data('certificate-authority'),
    cert: data('client-certificate'),
    key: data('client-key'),
  }
  let ended = false
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = https(`${cluster.url}/api/v1/namespaces?watch=1`, options, resolve)
    asked.on('error', reject)
    asked.end()
  })
  assert.equal(answer.statusCode, 200)
  const over = once(answer.resume(), 'end').then(() => {
    ended = true
  })
  await cluster.clock.advance('59s')
  assert.equal(ended, false)
  await cluster.clock.advance('61s')
  await over
})

test('what kube-apiserver refuses is refused', async () => {
  for (const [flags, message] of [
    [{ requestTimeout: '-1s' }, /request-timeout can not be negative value/],
    [{ tlsMinVersion: 'VersionTLS14' }, /unknown tls version "VersionTLS14"/],
    [{ tlsMinVersion: 'constructor' }, /unknown tls version "constructor"/],
    [{ runtimeConfig: ['foo/v1=true'] }, /unknown api groups foo\/v1/],
    [{ runtimeConfig: ['api/beta=yes'] }, /invalid value api\/beta=yes/],
    [{ minRequestTimeout: -1 }, /--min-request-timeout can not be negative value$/],
    [{ goawayChance: 0.03 }, /--goaway-chance can not be less than 0 or greater than 0.02$/],
    [{ corsAllowedOrigins: ['('] }, /invalid regular expression: error parsing regexp: missing closing \): `\(`/],
    ...['example.com', '//example.com', '^*', ':', '^'].map(
      (expression) => [{ corsAllowedOrigins: [expression] }, /does not pin to start\/end of host/] as const,
    ),
    [{ tlsSniCertKey: ['/nonexistent,k'] }, /no such file/],
    [{ tlsCipherSuites: ['TLS_FOO'] }, /Cipher suite TLS_FOO not supported or doesn't exist/],
    [{ serviceAccountMaxTokenExpiration: '10m' }, /must be between 1 hour and 2\^32 seconds/],
    [{ admissionControlConfigFile: '/nonexistent' }, /no such file/],
  ] as const)
    await assert.rejects(loadServerSettings(flags), message)
  // With these an Event has no end.
  for (const eventTtl of ['0', '500ms', '-1h'])
    assert.equal((await loadServerSettings({ eventTtl })).eventTtlSeconds, 0)
  assert.equal((await loadServerSettings({ eventTtl: '1500ms' })).eventTtlSeconds, 1)
  const { serving } = await loadServerSettings({
    tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256'],
  })
  assert.match(serving.tls?.ciphers ?? '', /:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305$/)
})

test('TLS 1.0 is spoken where it is asked for, and with ciphers for HTTP/2 alone where it is spoken', async () => {
  const loaded = await loadServerSettings({ tlsMinVersion: 'VersionTLS10' })
  const { cert, key } = issue(simulatedRuntime(1), { commonName: 'a', usage: 'ca', validDays: 3 })
  const server = createServer({ ...loaded.serving.tls, cert, key }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...old })
  await once(socket, 'secureConnect')
  assert.equal(socket.getProtocol(), 'TLSv1')
  socket.destroy()
  server.close()
  const only = { tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'] }
  await assert.rejects(loadServerSettings(only), /missing an HTTP\/2-required AES_128_GCM_SHA256 cipher/)
  await loadServerSettings({ ...only, disableHttp2Serving: true })
})
