/** Secrets whose key is gone: the server starts, serves the rest, and says of them what a Kubernetes v1.37.1 was heard to say (KEP-3926). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../src/api/object.ts'
import { asObject } from '../../src/api/unchecked.ts'
import { liveClock } from '../../src/base/live-clock.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import { askWhy } from '../../src/inspect/why/ask.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-unreadable-'))
const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'
const SECRETS = '/api/v1/namespaces/vault/secrets'
const FAILED = 'data from the storage is not transformable revision=0: cipher: message authentication failed'
const corrupt = (key: string) =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${FAILED}`

let cluster: Cluster
after(async () => {
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The same keys by another secret. */
function encryption(fill: number): string {
  const file = join(folder, `${fill}.yaml`)
  const secret = Buffer.alloc(32, fill).toString('base64')
  writeFileSync(
    file,
    `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [secrets]\n  providers:\n  - aesgcm: {keys: [{name: one, secret: ${secret}}]}\n`,
  )
  return file
}

const start = (fill: number) =>
  startCluster({
    dataDir: join(folder, 'data'),
    components: ['apiserver', 'controllers'],
    security: { encryptionProviderConfig: encryption(fill) },
  })

async function ask(method: string, path: string, object?: JsonObject, as = cluster.client) {
  const { status, body } = await as.raw(method, path, object)
  return { status, body: JSON.parse(body) as JsonObject }
}
const said = async (method: string, path: string, object?: JsonObject) => {
  const { status, body } = await ask(method, path, object)
  return [status, body['reason'], body['message']]
}
const secret = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'vault', finalizers: ['acme.test/f'] },
})

before(async () => {
  cluster = await start(1)
  await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } })
  for (const name of ['a', 'b']) await ask('POST', SECRETS, secret(name))
  await cluster.stop()
  cluster = await start(2)
})

test('what can be read is served, and written', async () => {
  assert.equal((await ask('POST', SECRETS, secret('c'))).status, 201)
  assert.equal((await ask('GET', `${SECRETS}/c`)).status, 200)
  const { status, body } = await ask('GET', '/api/v1/namespaces/default/secrets')
  assert.deepEqual([status, body['items']], [200, []])
})

test('a read, an update and a delete of one are 500, a create says that it is there', async () => {
  const read = [500, 'InternalError', `Internal error occurred: ${corrupt('/secrets/vault/a')}`]
  assert.deepEqual(await said('GET', `${SECRETS}/a`), read)
  assert.deepEqual(await said('DELETE', `${SECRETS}/a`), read)
  const written = [500, 'InternalError', `Internal error occurred: ${FAILED}`]
  assert.deepEqual(await said('PUT', `${SECRETS}/a`, secret('a')), written)
  assert.deepEqual(await said('POST', SECRETS, secret('a')), [409, 'AlreadyExists', 'secrets "a" already exists'])
})

test('a list that meets one names all that it meets', async () => {
  const key = '/registry/secrets/vault'
  const message = `failed to read one or more secrets from the storage: ${corrupt(`${key}/a`)} (and 1 more)`
  for (const [method, path] of [
    ['GET', SECRETS],
    ['GET', '/api/v1/secrets?resourceVersion=0'],
    ['GET', `${SECRETS}?labelSelector=x%3Dy`],
    ['DELETE', SECRETS],
  ] as const)
    assert.deepEqual(await said(method, path), [500, 'StorageReadError', message], path)
  const { body } = await ask('GET', SECRETS)
  assert.deepEqual(body['details'], {
    name: 'list',
    kind: 'secrets',
    causes: ['a', 'b'].map((name) => ({
      reason: 'UnexpectedServerResponse',
      message: corrupt(`${key}/${name}`),
      field: `${key}/${name}`,
    })),
  })
  assert.equal((await ask('GET', `${SECRETS}?limit=1`)).status, 500)
  assert.equal((await ask('GET', `${SECRETS}?fieldSelector=metadata.name%3Dc`)).status, 200)
})

test('a watch is to come again when there is nothing left that cannot be read', async () => {
  const { status, body } = await ask('GET', '/api/v1/secrets?watch=true')
  assert.deepEqual(
    [status, body['reason'], asObject(body['details'])],
    [429, 'TooManyRequests', { retryAfterSeconds: 30 }],
  )
  assert.match(
    String(body['message']),
    /^storage is \(re\)initializing: failed to list <unspecified>: failed to read one or more secrets from the storage: /,
  )
})

test('the namespace’s deletion tells why it does not end', async () => {
  await ask('DELETE', '/api/v1/namespaces/vault')
  const deadline = AbortSignal.timeout(20_000)
  for await (const event of watchOf('vault', deadline)) {
    const conditions = (asObject(asObject(event)['status'])['conditions'] ?? []) as readonly JsonObject[]
    const failure = conditions.find(({ type }) => type === 'NamespaceDeletionContentFailure')
    if (failure?.['status'] !== 'True') continue
    assert.match(String(failure['message']), /failed to read one or more secrets from the storage/)
    return
  }
  assert.fail('no condition')
})

async function* watchOf(name: string, signal: AbortSignal) {
  const resource = cluster.client.resource({ group: '', version: 'v1', resource: 'namespaces' })
  yield await resource.get(name)
  const events = await resource.watch({ fieldSelector: `metadata.name=${name}` }, signal)
  for (let event = await events.next(); event !== undefined; event = await events.next()) yield event.object
}

test('skiff why says that it cannot be decrypted, and what hangs on it', async () => {
  const transport = httpsTransport(endpointFromKubeconfig(cluster.kubeconfig, () => ''))
  const options = { clock: liveClock(), transport, userAgent: 'skiff why', dryRun: true, output: 'json' } as const
  try {
    const one = await askWhy(options, { kind: 'secret', name: 'a', namespace: 'vault' })
    const { state, cause } = JSON.parse(one.text) as JsonObject
    assert.deepEqual(
      [state, asObject(cause)['kind'], asObject(cause)['isDecryption']],
      ['unreadable', 'unreadable', true],
    )
    const all = await askWhy(options, { kind: 'ns', name: 'vault', namespace: '' })
    const held = asObject(JSON.parse(all.text) as JsonObject)
    assert.deepEqual([asObject(held['cause'])['kind'], held['verdict']], ['unreadable', 'refused'])
  } finally {
    transport.close()
  }
})

test('options that need the object do not go with its unsafe deletion', async () => {
  const wrong = (option: string) => `Invalid value: true: cannot be set together with .${option}`
  const { status, body } = await ask(
    'DELETE',
    `${SECRETS}/a?${UNSAFE}&gracePeriodSeconds=0&propagationPolicy=Background`,
  )
  const causes = asObject(body['details'])['causes'] as readonly JsonObject[]
  assert.deepEqual(
    [status, causes.map(({ message }) => message)],
    [422, ['propagationPolicy', 'gracePeriodSeconds'].map(wrong)],
  )
})

test('unsafe deletion is for what cannot be read alone, and for users with its own verb', async () => {
  const decodable = await said('DELETE', `${SECRETS}/c?${UNSAFE}`)
  assert.deepEqual(decodable.slice(0, 2), [409, 'Conflict'])
  assert.equal((await ask('DELETE', `${SECRETS}/none?${UNSAFE}`)).status, 404)
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'deleters' } }
  const group = 'rbac.authorization.k8s.io'
  const verbs = (...verbs: string[]) => [{ apiGroups: [''], resources: ['secrets'], verbs }]
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
  await ask('POST', roles, { ...role, kind: 'ClusterRole', rules: verbs('delete') })
  await ask('POST', `${roles.slice(0, -1)}bindings`, {
    ...role,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'deleters' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'jane' }],
  })
  const jane = cluster.clientFor({ name: 'jane', groups: ['system:authenticated'] })
  const refused = await ask('DELETE', `${SECRETS}/a?${UNSAFE}`, undefined, jane)
  assert.deepEqual(
    [refused.status, refused.body['message']],
    [403, 'secrets "a" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: '],
  )
  await ask('PUT', `${roles}/deleters`, {
    ...role,
    kind: 'ClusterRole',
    rules: verbs('delete', 'unsafe-delete-ignore-read-errors'),
  })
  const dry = await ask('DELETE', `${SECRETS}/a?${UNSAFE}&dryRun=All`, undefined, jane)
  assert.equal(dry.status, 200)
  assert.equal((await ask('GET', `${SECRETS}/a`)).status, 500)
  const { status, body } = await ask('DELETE', `${SECRETS}/a?${UNSAFE}`, undefined, jane)
  assert.deepEqual([status, body['status'], body['details']], [200, 'Success', { name: 'a', kind: 'Secret' }])
  assert.equal((await ask('GET', `${SECRETS}/a`)).status, 404)
})

test('with the last of them lists and watches are there again, and what waited goes on', async () => {
  const { resourceVersion: before = '' } = (
    await cluster.client.resource({ group: '', version: 'v1', resource: 'namespaces' }).get('vault')
  ).metadata
  assert.equal((await ask('DELETE', `${SECRETS}/b?${UNSAFE}`)).status, 200)
  const { status, body } = await ask('GET', SECRETS)
  assert.deepEqual([status, (body['items'] as readonly JsonObject[]).length], [200, 1])
  const secrets = cluster.client.resource({ group: '', version: 'v1', resource: 'secrets' })
  // From before there is no telling what happened.
  const old = await secrets.watch({ resourceVersion: before }, AbortSignal.timeout(5000))
  await assert.rejects(old.next(), { code: 410 })
  const namespaces = cluster.client.resource({ group: '', version: 'v1', resource: 'namespaces' })
  const events = await namespaces.watch({ fieldSelector: 'metadata.name=vault' }, AbortSignal.timeout(60_000))
  await secrets.namespace('vault').patch('c', 'merge', { metadata: { finalizers: null } })
  let last = ''
  while (last !== 'DELETED') last = (await events.next())?.type ?? 'DELETED without an event'
  assert.equal(last, 'DELETED')
})
