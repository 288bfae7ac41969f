/** `startCluster({ security })`: what the command takes as flags, an embedding program says in camel case. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../src/cluster/index.ts'
import { createHttpsClient } from '../src/http/client.ts'

type SecurityOptions = NonNullable<ClusterOptions['security']>

const directory = mkdtempSync(join(tmpdir(), 'embedding-'))
const path = (name: string) => join(directory, name)
const file = (name: string, text: string) => {
  writeFileSync(path(name), text)
  return path(name)
}
const audited = file(
  'audit.yaml',
  `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- { level: None, userGroups: ["system:masters"], users: ["system:apiserver"] }
- { level: RequestResponse, omitManagedFields: true, resources: [{ group: "", resources: [configmaps] }] }
- { level: Metadata, resources: [{ group: "", resources: ["pods/log"] }] }
- level: None
`,
)
const SECRET = 'a-secret-that-must-not-be-on-the-disk'
const security: SecurityOptions = {
  auditPolicyFile: audited,
  auditLogPath: path('audit.log'),
  auditLogMaxsize: 1,
  auditLogMaxbackup: 1,
  auditLogMaxage: 1,
  tokenAuthFile: file('tokens.csv', 'abc,robot,7,"dev,ops"\n'),
  encryptionProviderConfigAutomaticReload: true,
  encryptionProviderConfig: file(
    'encryption.yaml',
    `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aesgcm: { keys: [{ name: k, secret: ${Buffer.alloc(32, 'k').toString('base64')} }] }
  - identity: {}
`,
  ),
  authorizationMode: ['RBAC'],
}

let cluster: Cluster
before(async () => {
  cluster = await startCluster({ dataDir: path('data'), components: ['apiserver'], security })
})
after(async () => {
  await cluster?.stop()
  rmSync(directory, { recursive: true })
})

interface Asked {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Over HTTPS, with the administrator's certificate or a token instead. */
async function ask({ method = 'GET', path, body, token, headers = {} }: Asked) {
  const { server, ca = '', cert = '', key = '' } = endpointFromKubeconfig(cluster.kubeconfig)
  const client = createHttpsClient({ server, ca, ...(token === undefined ? { cert, key } : { token }) })
  try {
    const answer = await client.send({
      method,
      path,
      headers: { 'content-type': 'application/json', 'user-agent': 'test', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = Buffer.from(await answer.bytes()).toString()
    return { code: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  } finally {
    client.close()
  }
}

const CORE = '/api/v1/namespaces/default'

test('static tokens come in, and may do what roles give them', async () => {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { body } = await ask({ method: 'POST', path, body: {}, token: 'abc' })
  assert.deepEqual(body.status.userInfo, {
    username: 'robot',
    uid: '7',
    groups: ['dev', 'ops', 'system:authenticated'],
  })
  assert.equal((await ask({ path: `${CORE}/secrets`, token: 'abc' })).code, 403)
  assert.equal((await ask({ path: `${CORE}/secrets`, token: 'abd' })).code, 401)
})

test('health checks tell that the encryption configuration is read again', async () => {
  const hook = 'poststarthook/start-encryption-provider-config-automatic-reload'
  const told = async (endpoint: string) =>
    String((await ask({ path: `/${endpoint}?verbose` })).body).match(
      /(?<=^\[\+\])(kms-providers|\S+automatic-reload)(?= ok$)/gm,
    )
  assert.deepEqual(await told('livez'), [hook])
  for (const endpoint of ['readyz', 'healthz']) assert.deepEqual(await told(endpoint), ['kms-providers', hook])
})

test('what is to be encrypted is not on the disk as it is', async () => {
  const secrets = cluster.client.resource({ group: '', version: 'v1', resource: 'secrets' }).namespace('default')
  const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: SECRET } }
  await secrets.create(made)
  await ask({
    method: 'POST',
    path: `${CORE}/configmaps`,
    body: { metadata: { name: 'open' }, data: { a: `not-${SECRET}` } },
  })
  const store = path('data/store')
  const onDisk = readdirSync(store)
    .filter((name) => statSync(join(store, name)).isFile())
    .map((name) => readFileSync(join(store, name)).toString('latin1'))
    .join()
  assert.ok(!onDisk.includes(Buffer.from(SECRET).toString('base64')))
  assert.ok(onDisk.includes(`not-${SECRET}`), 'what is not to be encrypted is found')
  assert.equal(Buffer.from((await secrets.get('s'))['data'].a, 'base64').toString(), SECRET)
})

// biome-ignore lint/suspicious/noExplicitAny: an event of the audit log, as JSON
type Event = any

/** The events about one request, when they are there: a read is answered before its event is written. */
async function eventsOf(id: string, count = 1): Promise<readonly Event[]> {
  for (;;) {
    const lines = readFileSync(path('audit.log'), 'utf8').split('\n').slice(0, -1)
    const found = lines.map((line): Event => JSON.parse(line)).filter(({ auditID }) => auditID === id)
    if (found.length >= count) return found
    await ask({ path: '/healthz' })
  }
}

let requests = 0
async function audit(asked: Asked, count = 1): Promise<readonly Event[]> {
  const id = `request-${requests++}`
  await ask({ ...asked, headers: { 'audit-id': id, ...asked.headers } })
  return eventsOf(id, count)
}

test('a request whose body is broken or too large is told as what it was, and refused for its user before', async () => {
  const { server, ca = '' } = endpointFromKubeconfig(cluster.kubeconfig)
  const broken = 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'
  for (const [token, body, code, message] of [
    ['abc', broken, 403, /^configmaps is forbidden: User "robot" cannot create/],
    ['abd', broken, 401, /^Unauthorized$/],
    [undefined, broken, 500, /^invalid byte in chunk length$/],
    [undefined, 'Content-Length: 5000000\r\n\r\n', 413, /^Request entity too large: limit is 3145728$/],
  ] as const) {
    const { cert = '', key = '' } = token === undefined ? endpointFromKubeconfig(cluster.kubeconfig) : {}
    const identity = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
    const id = `broken-${code}`
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(server).port), ca, cert, key })
    socket.write(`POST ${CORE}/configmaps HTTP/1.1\r\nHost: a\r\nAudit-Id: ${id}\r\n${identity}${body}`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    assert.match(String(answer), new RegExp(`^HTTP/1.1 ${code} `))
    const [event] = await eventsOf(id)
    assert.deepEqual([event.verb, event.responseStatus.code, event.objectRef.resource], ['create', code, 'configmaps'])
    assert.match(event.responseStatus.message, message)
  }
})

test('events tell what was asked and answered, as those of Kubernetes do', async () => {
  const map = { metadata: { name: 'a' }, data: { a: 'b' } }
  const [made] = await audit({ method: 'POST', path: `${CORE}/configmaps`, body: map })
  const typed = { kind: 'ConfigMap', apiVersion: 'v1' }
  assert.deepEqual(made.requestObject, { ...typed, ...map })
  assert.deepEqual(made.responseStatus, { metadata: {}, code: 201 })
  assert.deepEqual(Object.keys(made.responseObject.metadata).sort(), [
    'creationTimestamp',
    'name',
    'namespace',
    'resourceVersion',
    'uid',
  ])

  const headers = { 'content-type': 'application/merge-patch+json' }
  const patch = { data: { c: 'd' } }
  const [patched] = await audit({ method: 'PATCH', path: `${CORE}/configmaps/a`, body: patch, headers })
  assert.deepEqual(patched.requestObject, patch)

  const [listed] = await audit({ path: `${CORE}/configmaps?limit=1&labelSelector=%20x` })
  assert.equal(listed.requestURI, `${CORE}/configmaps?limit=1&labelSelector=%20x`)
  assert.deepEqual(listed.responseObject.items, [])

  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const [shown] = await audit({ path: `${CORE}/configmaps/a`, headers: table })
  assert.ok(JSON.stringify(shown).includes('"rows"') && !JSON.stringify(shown).includes('managedFields'))
  const [yaml] = await audit({ path: `${CORE}/configmaps/a`, headers: { accept: 'application/yaml' } })
  assert.deepEqual(yaml.responseObject.data, { a: 'b', c: 'd' })
  const [protobuf] = await audit({
    path: `${CORE}/configmaps/a`,
    headers: { accept: 'application/vnd.kubernetes.protobuf' },
  })
  assert.deepEqual(protobuf.responseObject.data, { a: 'b', c: 'd' })

  for (const accept of ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']) {
    const [all] = await audit({ path: `${CORE}/configmaps?fieldSelector=metadata.name%3Da`, headers: { accept } })
    const { items, ...list } = all.responseObject
    assert.deepEqual(
      [list.kind, items.length, items[0].kind, items[0].data],
      ['ConfigMapList', 1, undefined, { a: 'b', c: 'd' }],
    )
    assert.equal(items[0].metadata.managedFields, undefined)
  }

  const [refused] = await audit({ method: 'POST', path: `${CORE}/configmaps`, body: map, token: 'abc' })
  const status = {
    metadata: {},
    status: 'Failure',
    message:
      'configmaps is forbidden: User "robot" cannot create resource "configmaps" in API group "" in the namespace "default"',
    reason: 'Forbidden',
    details: { kind: 'configmaps' },
    code: 403,
  }
  assert.deepEqual(refused.responseStatus, status)
  assert.deepEqual(refused.responseObject, { kind: 'Status', apiVersion: 'v1', ...status })

  const [gone] = await audit({ method: 'DELETE', path: `${CORE}/configmaps/a`, body: { gracePeriodSeconds: 0 } })
  const options = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal', gracePeriodSeconds: 0 }
  assert.deepEqual(gone.requestObject, options)
  const { details, ...rest } = gone.responseStatus
  assert.deepEqual(rest, { metadata: {}, status: 'Success', code: 200 })
  assert.equal(details.name, 'a')
})

test('events tell where a request came from and who says he sent it, and no more than that', async () => {
  const headers = { 'x-forwarded-for': '1.2.3.4, junk, ::1', 'x-real-ip': '9.9.9.9', 'user-agent': 'u'.repeat(2000) }
  const [event] = await audit({ path: `${CORE}/configmaps/none`, headers })
  assert.deepEqual(event.sourceIPs, ['1.2.3.4', '::1', '9.9.9.9', '127.0.0.1'])
  assert.equal(event.userAgent, `${'u'.repeat(1024)}...TRUNCATED`)
})

test('what could go on has begun and has ended, even when it was refused', async () => {
  const events = await audit({ path: `${CORE}/pods/none/log` }, 2)
  assert.deepEqual(
    events.map(({ stage }) => stage),
    ['ResponseStarted', 'ResponseComplete'],
  )
})

const wrong: Readonly<Record<string, readonly [SecurityOptions, RegExp]>> = {
  'a policy that is not there': [{ auditPolicyFile: path('none') }, /none/],
  'a policy without rules': [
    { auditPolicyFile: file('empty.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\n') },
    /illegal policy with 0 rules.*empty\.yaml/s,
  ],
  'a log that cannot be written': [{ auditPolicyFile: audited, auditLogPath: path('no/such/audit.log') }, /audit\.log/],
  'a token file that is none': [{ tokenAuthFile: file('bad.csv', 'abc\n') }, /bad\.csv/],
  'an encryption configuration that is none': [
    { encryptionProviderConfig: file('bad.yaml', 'kind: Nothing\n') },
    /bad\.yaml/,
  ],
  'an authentication configuration that is none': [
    { authenticationConfig: file('authn.yaml', 'kind: Nothing\n') },
    /authn\.yaml/,
  ],
  'an authorization configuration that is none': [
    { authorizationConfig: file('authz.yaml', 'kind: Nothing\n') },
    /AuthorizationConfiguration from file: Object 'apiVersion' is missing in 'kind: Nothing/,
  ],
  'an issuer without https': [{ oidcIssuerUrl: 'http://example.com', oidcClientId: 'x' }, /https/],
  'a webhook without its mode': [
    { authorizationMode: ['RBAC', 'Webhook'] },
    /Webhook's authorization config file not passed/,
  ],
}

for (const [what, [options, error]] of Object.entries(wrong))
  test(`nothing starts with ${what}, which is said, and the directory is free again`, async () => {
    const dataDir = path(`wrong-${what.replaceAll(' ', '-')}`)
    const usual = { dataDir, storage: 'memory', components: ['apiserver'] } as const
    await assert.rejects(startCluster({ ...usual, security: options }), error)
    await (await startCluster(usual)).stop()
  })
