/** Who may speak for others by headers (API concept: authenticating proxy): whom the front proxies' own authority certified. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { issue, type KeyAndCertificate } from '../../src/cluster/certificate.ts'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import { createHttpsClient } from '../../src/http/client.ts'
import { until } from './until.ts'

const runtime = liveRuntime({ log: { write: () => {} } })
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const dataDir = mkdtempSync(join(tmpdir(), 'front-proxy-'))
const pki = (file: string) => readFileSync(join(dataDir, 'pki', file), 'utf8')
const keyAndCertificate = (name: string): KeyAndCertificate => ({ cert: pki(`${name}.crt`), key: pki(`${name}.key`) })
const client = (issuer: KeyAndCertificate, commonName: string, organizations: readonly string[] = []) =>
  issue(runtime, { commonName, organizations, usage: 'client', validDays: 1 }, issuer)
const authority = (issuer?: KeyAndCertificate) =>
  issue(runtime, { commonName: 'between', usage: 'ca', validDays: 1 }, issuer)

let cluster: Cluster
const start = async () => {
  cluster = await startCluster({ dataDir, components: ['apiserver'] })
}
before(start)
after(async () => {
  await cluster?.stop()
  rmSync(dataDir, { recursive: true })
})

const MASTER = { 'x-remote-user': 'kubernetes-admin', 'x-remote-group': 'system:masters' }
type Headers = Readonly<Record<string, string | readonly string[]>>

/** Who the server takes this certificate and these headers for; undefined when for nobody. */
async function whoIs(identity: KeyAndCertificate, headers: Headers): Promise<Record<string, unknown> | undefined> {
  const { server, ca = '' } = endpointFromKubeconfig(cluster.kubeconfig)
  const asking = createHttpsClient({ server, ca, ...identity })
  try {
    const answer = await asking.send({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}',
    })
    const body = JSON.parse(Buffer.from(await answer.bytes()).toString())
    assert.ok(answer.status === 201 || answer.status === 401, JSON.stringify(body))
    return body.status?.userInfo
  } finally {
    asking.close()
  }
}

test('a front proxy speaks for whom its headers name, with all of his groups and extra fields', async () => {
  const said = { ...MASTER, 'x-remote-group': ['a', 'b,c'], 'x-remote-extra-acme.com%2fx': ['1', '2'] }
  assert.deepEqual(await whoIs(keyAndCertificate('front-proxy-client'), said), {
    username: 'kubernetes-admin',
    groups: ['a', 'b,c', 'system:authenticated'],
    extra: { 'acme.com/x': ['1', '2'] },
  })
})

const refused: Readonly<Record<string, () => [KeyAndCertificate, Headers]>> = {
  'a proxy that names nobody': () => [keyAndCertificate('front-proxy-client'), {}],
  'a proxy that names an empty user': () => [
    keyAndCertificate('front-proxy-client'),
    { ...MASTER, 'x-remote-user': '' },
  ],
  'a proxy that says only groups': () => [
    keyAndCertificate('front-proxy-client'),
    { 'x-remote-group': 'system:masters' },
  ],
  "a name of the proxies' authority that is not allowed": () => [
    client(keyAndCertificate('front-proxy-ca'), 'other'),
    MASTER,
  ],
  'an administrator whom the proxies’ authority certified': () => [
    client(keyAndCertificate('front-proxy-ca'), 'kubernetes-admin', ['system:masters']),
    {},
  ],
  'whom an authority below that of the proxies certified': () => {
    const below = authority(keyAndCertificate('front-proxy-ca'))
    const leaf = client(below, 'kubernetes-admin', ['system:masters'])
    return [{ key: leaf.key, cert: leaf.cert + below.cert }, {}]
  },
  'a proxy whom an authority below that of the proxies certified': () => {
    const below = authority(keyAndCertificate('front-proxy-ca'))
    const leaf = client(below, 'front-proxy-client')
    return [{ key: leaf.key, cert: leaf.cert + below.cert }, MASTER]
  },
  'a proxy with a foreign authority': () => [client(authority(), 'front-proxy-client'), MASTER],
  'a proxy with a foreign authority of the same name': () => [
    client(issue(runtime, { commonName: 'front-proxy-ca', usage: 'ca', validDays: 1 }), 'front-proxy-client'),
    MASTER,
  ],
  "a proxy's certificate that has ended": () => [
    issue(
      runtime,
      { commonName: 'front-proxy-client', usage: 'client', validDays: -1 },
      keyAndCertificate('front-proxy-ca'),
    ),
    MASTER,
  ],
  "a server's certificate of the proxies' authority": () => [
    issue(
      runtime,
      { commonName: 'front-proxy-client', usage: 'server', validDays: 1 },
      keyAndCertificate('front-proxy-ca'),
    ),
    MASTER,
  ],
}

for (const [what, attempt] of Object.entries(refused))
  test(`nobody: ${what}`, async () => {
    assert.equal(await whoIs(...attempt()), undefined)
  })

for (const [what, name] of Object.entries({
  'who has the name of a proxy from the authority of clients': 'front-proxy-client',
  'any other client with a proxy’s headers': 'jane',
}))
  test(`himself, whatever his headers say: ${what}`, async () => {
    const user = await whoIs(client(keyAndCertificate('ca'), name, ['dev']), MASTER)
    assert.deepEqual([user?.['username'], user?.['groups']], [name, ['dev', 'system:authenticated']])
  })

test('a token proves who a certificate does not, and the headers beside it count for nothing', async () => {
  const accounts = cluster.client.resource({ group: '', version: 'v1', resource: 'serviceaccounts' })
  await accounts.namespace('default').create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } })
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const path = '/api/v1/namespaces/default/serviceaccounts/robot/token'
  const { token } = JSON.parse((await cluster.client.raw('POST', path, asked)).body).status
  for (const identity of [
    client(authority(), 'front-proxy-client'),
    client(keyAndCertificate('front-proxy-ca'), 'x'),
  ]) {
    const user = await whoIs(identity, { ...MASTER, authorization: `Bearer ${token}` })
    assert.equal(user?.['username'], 'system:serviceaccount:default:robot')
    assert.equal(await whoIs(identity, { ...MASTER, authorization: `Bearer ${token}x` }), undefined)
  }
})

const trust = async () =>
  (await cluster.client.resource(configMaps).namespace('kube-system').get('extension-apiserver-authentication'))[
    'data'
  ] as Record<string, string>

test('extension servers are told whom to trust, in each authority’s place', async () => {
  assert.deepEqual(await trust(), {
    'client-ca-file': pki('ca.crt'),
    'requestheader-client-ca-file': pki('front-proxy-ca.crt'),
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  })
  assert.notEqual(pki('ca.crt'), pki('front-proxy-ca.crt'))
})

test('what extension servers are told is put right when somebody changes or removes it', async () => {
  const maps = cluster.client.resource(configMaps).namespace('kube-system')
  const before = await trust()
  const forged = { ...before, 'requestheader-allowed-names': '[]' }
  await maps.update({ ...(await maps.get('extension-apiserver-authentication')), data: forged })
  await until(async () => (await trust())['requestheader-allowed-names'] === before['requestheader-allowed-names'])
  await maps.delete('extension-apiserver-authentication')
  await until(async () =>
    trust().then(
      () => true,
      () => false,
    ),
  )
  assert.deepEqual(await trust(), before)
})

test('a directory from before there was an authority of proxies gets one, and its old proxy is nobody’s any more', async () => {
  const old = client(keyAndCertificate('ca'), 'front-proxy-client')
  const before = { ...(await trust()), 'requestheader-client-ca-file': pki('ca.crt'), mine: 'kept' }
  const maps = cluster.client.resource(configMaps).namespace('kube-system')
  await maps.update({ ...(await maps.get('extension-apiserver-authentication')), data: before })
  await cluster.stop()
  rmSync(join(dataDir, 'pki', 'front-proxy-ca.crt'))
  rmSync(join(dataDir, 'pki', 'front-proxy-ca.key'))
  writeFileSync(join(dataDir, 'pki', 'front-proxy-client.crt'), old.cert)
  writeFileSync(join(dataDir, 'pki', 'front-proxy-client.key'), old.key)

  await start()

  assert.equal((await whoIs(old, MASTER))?.['username'], 'front-proxy-client')
  assert.equal((await whoIs(keyAndCertificate('front-proxy-client'), MASTER))?.['username'], 'kubernetes-admin')
  assert.ok(
    new X509Certificate(pki('front-proxy-client.crt')).checkIssued(new X509Certificate(pki('front-proxy-ca.crt'))),
  )
  assert.deepEqual(await trust(), { ...before, 'requestheader-client-ca-file': pki('front-proxy-ca.crt') })
})
