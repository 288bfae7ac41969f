/** Service account tokens of the old kind in use: what the API server notes of them and tells their users (KEP-2799), as recorded of a real one. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'
import { createHttpsClient, type HttpsClient } from '../src/http/client.ts'

const SECRETS = '/api/v1/namespaces/default/secrets'
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/default'
const PODS = '/api/v1/namespaces/default/pods'
const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'
const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
const USER = 'system:serviceaccount:default:default'
const DAY_MS = 24 * 3_600_000

const folder = mkdtempSync(join(tmpdir(), 'skiff-legacy-'))
const auditLog = join(folder, 'audit.log')
let cluster: Cluster
let admin: HttpsClient
let bearer: HttpsClient
let token: string

async function ask(client: HttpsClient, method: string, path: string, body?: object) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const answer = await client.send({
    method,
    path,
    headers: body === undefined ? {} : { 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const object = JSON.parse(Buffer.from(await answer.bytes()).toString())
  return { code: answer.status, warning: answer.headers['warning'], object }
}

const secret = async () => (await ask(admin, 'GET', `${SECRETS}/old`)).object
const today = () => cluster.clock.now.toISOString().slice(0, 10)
/** What a token has proved holds for ten seconds. */
const forgotten = () => cluster.clock.advance('11s')

/** Annotations of the event of a request, once it is written, without those of authorization. */
async function audited(path: string) {
  for (;;) {
    const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1)
    const event = lines.map((line) => JSON.parse(line)).find(({ requestURI }) => requestURI === path)
    const annotations: Record<string, string> = event?.annotations ?? {}
    const own = Object.entries(annotations).filter(([name]) => name.startsWith('authentication.'))
    if (event !== undefined) return Object.fromEntries(own)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

before(async () => {
  const auditPolicyFile = join(folder, 'policy.yaml')
  const rules = '[{level: Metadata, omitStages: [RequestReceived]}]'
  writeFileSync(auditPolicyFile, `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: ${rules}`)
  cluster = await startCluster({
    storage: 'memory',
    clock: 'manual',
    components: ['apiserver', 'controllers'],
    security: { auditPolicyFile, auditLogPath: auditLog },
  })
  const endpoint = endpointFromKubeconfig(cluster.kubeconfig)
  admin = createHttpsClient(endpoint)
  const annotations = { 'kubernetes.io/service-account.name': 'default' }
  const type = 'kubernetes.io/service-account-token'
  const object = { apiVersion: 'v1', kind: 'Secret', type, metadata: { name: 'old', annotations } }
  assert.equal((await ask(admin, 'POST', SECRETS, object)).code, 201)
  await cluster.clock.advance('1s')
  token = Buffer.from((await secret()).data.token, 'base64').toString()
  const { server, ca } = endpoint
  bearer = createHttpsClient({ server, ...(ca === undefined ? {} : { ca }), token })
})
after(async () => {
  admin?.close()
  bearer?.close()
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('its Secret is labelled with the day of its use before the request is answered, once a day, by the server itself', async () => {
  assert.equal((await secret()).metadata.labels, undefined)
  assert.equal((await ask(bearer, 'GET', PODS)).code, 403)
  const used = await secret()
  assert.deepEqual(used.metadata.labels, { [LAST_USED]: today() })
  const entry = used.metadata.managedFields.find(({ manager }: { manager: string }) => manager === 'kube-apiserver')
  assert.equal(entry.operation, 'Update')
  assert.deepEqual(entry.fieldsV1, { 'f:metadata': { 'f:labels': { '.': {}, [`f:${LAST_USED}`]: {} } } })
  await forgotten()
  await ask(bearer, 'GET', PODS)
  assert.equal((await secret()).metadata.resourceVersion, used.metadata.resourceVersion)
  await cluster.clock.advance(DAY_MS)
  await ask(bearer, 'GET', PODS)
  assert.deepEqual((await secret()).metadata.labels, { [LAST_USED]: today() })
})

test('audit events name the account and the Secret; who uses a token that an account lists is warned', async () => {
  const asked = await ask(bearer, 'GET', `${PODS}?limit=1`)
  assert.equal(asked.warning, undefined)
  assert.deepEqual(await audited(`${PODS}?limit=1`), {
    'authentication.k8s.io/legacy-token': USER,
    'authentication.k8s.io/legacy-token-manual-secret': 'old',
  })
  await ask(admin, 'PATCH', ACCOUNT, { secrets: [{ name: 'old' }] })
  await forgotten()
  const text =
    'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.'
  // Each time, also when it is known what the token proves.
  for (const path of [PODS, '/version', `${PODS}?limit=2`]) {
    const { code, warning } = await ask(bearer, 'GET', path)
    assert.equal(code, path === '/version' ? 200 : 403)
    assert.deepEqual([warning].flat(), [`299 - "${text}"`], path)
  }
  assert.deepEqual(await audited(`${PODS}?limit=2`), {
    'authentication.k8s.io/legacy-token': USER,
    'authentication.k8s.io/legacy-token-autogenerated-secret': 'old',
  })
  assert.equal((await ask(admin, 'GET', '/version')).warning, undefined)
})

test('one that is marked as invalid is refused, until the mark is gone', async () => {
  await ask(admin, 'PATCH', `${SECRETS}/old`, { metadata: { labels: { [INVALID_SINCE]: today() } } })
  await forgotten()
  assert.equal((await ask(bearer, 'GET', PODS)).code, 401)
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
  assert.deepEqual((await ask(admin, 'POST', REVIEWS, review)).object.status, {
    user: {},
    error:
      '[invalid bearer token, the token in secret default/old for service account default/default has been marked invalid. ' +
      'Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the ' +
      `'${INVALID_SINCE}' label from the secret to temporarily allow use of this token]`,
  })
  await ask(admin, 'PATCH', `${SECRETS}/old`, { metadata: { labels: { [INVALID_SINCE]: null } } })
  await forgotten()
  assert.equal((await ask(bearer, 'GET', PODS)).code, 403)
  const metrics = Buffer.from(await (await admin.send({ method: 'GET', path: '/metrics' })).bytes()).toString()
  const count = (name: string) => Number(new RegExp(`^serviceaccount_${name}_total (\\d+)$`, 'm').exec(metrics)?.[1])
  const [all, auto, manual, invalid] = [
    'legacy_tokens',
    'legacy_auto_token_uses',
    'legacy_manual_token_uses',
    'invalid_legacy_auto_token_uses',
  ].map(count) as [number, number, number, number]
  assert.equal(invalid, 2)
  assert.ok(auto >= 2 && manual >= 3)
  assert.equal(all, auto + manual + invalid)
})
