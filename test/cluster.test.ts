/** A whole cluster in this process, as the package's export starts it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { after, before, test } from 'node:test'
import type { KubeObject } from '../src/api/object.ts'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { clusterDirectory, readState } from '../src/cluster/directory.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'
import { keyOfJane, requests } from '../src/controllers/certificates/fixtures.ts'
import { CONTROLLER_NAMES } from '../src/controllers/manager.ts'
import { createHttpsClient } from '../src/http/client.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const GRAPH = '/debug/controllers/garbagecollector/graph'

let cluster: Cluster
let directory: string

before(async () => {
  cluster = await startCluster({ storage: 'memory', components: ['apiserver', 'controllers'] })
  directory = dirname(cluster.kubeconfigFile)
})
after(async () => {
  await cluster.stop()
  await cluster.stop()
  assert.equal(existsSync(directory), false, 'a directory of its own goes away with the cluster')
})

/** Asks the controller manager's own port, with the admin's certificate, a token or nothing. */
async function ask(path: string, identity: 'certificate' | 'nobody' | { readonly token: string }) {
  const { ca = '', cert = '', key = '' } = endpointFromKubeconfig(readFileSync(cluster.kubeconfigFile, 'utf8'))
  const server = readState(clusterDirectory(directory))?.debugUrl ?? ''
  const client = createHttpsClient({ server, ca, ...(identity === 'certificate' ? { cert, key } : {}) })
  try {
    const headers = typeof identity === 'object' ? { authorization: `Bearer ${identity.token}` } : {}
    const answer = await client.send({ method: 'GET', path, headers })
    return { status: answer.status, body: Buffer.from(await answer.bytes()).toString() }
  } finally {
    client.close()
  }
}

async function tokenOf(serviceAccount: string): Promise<string> {
  await cluster.client
    .resource({ group: '', version: 'v1', resource: 'serviceaccounts' })
    .namespace('kube-system')
    .create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: serviceAccount } })
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const path = `/api/v1/namespaces/kube-system/serviceaccounts/${serviceAccount}/token`
  const { status, body } = await cluster.client.raw('POST', path, review)
  assert.equal(status, 201, body)
  return JSON.parse(body).status.token
}

const configMap = (name: string, owner?: { readonly name: string; readonly uid: string }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner.name, uid: owner.uid }] }),
  },
})

test('the in-process client and the URL are the same cluster', async () => {
  await cluster.client.resource(configMaps).namespace('default').create(configMap('in-process'))
  const client = createHttpsClient(endpointFromKubeconfig(cluster.kubeconfig))
  const answer = await client.send({ method: 'GET', path: '/api/v1/namespaces/default/configmaps/in-process' })
  assert.equal(answer.status, 200)
  await answer.bytes()
  client.close()
})

test("the controller manager's port: health for all, the garbage collector's graph for who may see it", async () => {
  const owned = cluster.client.resource(configMaps).namespace('default')
  const owner = await owned.create(configMap('owner'))
  const uid = owner.metadata.uid ?? ''
  const dependent = await owned.create(configMap('dependent', { name: 'owner', uid }))

  assert.deepEqual(await ask('/healthz', 'nobody'), { status: 200, body: 'ok' })
  assert.equal((await ask(GRAPH, 'nobody')).status, 403)
  assert.equal((await ask(GRAPH, { token: 'bogus' })).status, 401)
  const forbidden = await ask(GRAPH, { token: await tokenOf('someone') })
  assert.equal(forbidden.status, 403)
  assert.match(forbidden.body, /someone.*cannot get path/)

  let whole = await ask(GRAPH, 'certificate')
  while (!whole.body.includes(dependent.metadata.uid ?? '?')) whole = await ask(GRAPH, 'certificate')
  assert.equal(whole.status, 200)
  assert.match(whole.body, /^strict digraph full \{/)
  assert.ok(whole.body.includes(uid))
  const part = await ask(`${GRAPH}?uid=${uid}`, 'certificate')
  assert.ok(part.body.includes(uid) && part.body.includes(dependent.metadata.uid ?? '?'))
  assert.equal((await ask('/debug/else', 'certificate')).status, 404)
})

test("the controller manager's port: its controllers by name, and metrics for who may see them", async () => {
  const health = await ask('/healthz?verbose', 'nobody')
  // All that may run are known by name: --controllers of the process apart is made of the same list.
  const running = [...health.body.matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name]) => name)
  // Nodes get ranges of addresses only where there is one to give of.
  const expected = CONTROLLER_NAMES.filter((name) => name !== 'node-ipam-controller')
  assert.deepEqual(running.sort(), [...expected].sort())
  assert.match(health.body, /\nhealthz check passed\n$/)
  assert.equal((await ask('/metrics', 'nobody')).status, 403)
  const metrics = await ask('/metrics', 'certificate')
  assert.match(metrics.body, /^workqueue_adds_total\{name="serviceaccount"\} \d+$/m)
  assert.match(metrics.body, /^workqueue_unfinished_work_seconds\{name="serviceaccount"\} 0$/m)
  assert.match(metrics.body, /^rest_client_requests_total\{code="201",host="in-process",method="POST"\} \d+$/m)
  const indicators = await ask('/metrics/slis', 'certificate')
  assert.match(indicators.body, /^kubernetes_healthcheck\{name="garbage-collector-controller",type="healthz"\} 1$/m)
})

test('kubectl certificate approve gives a certificate that its user can use', async () => {
  const resource = cluster.client.resource({
    group: 'certificates.k8s.io',
    version: 'v1',
    resource: 'certificatesigningrequests',
  })
  const signerName = 'kubernetes.io/kube-apiserver-client'
  const spec = { request: requests.jane, signerName, usages: ['client auth'], expirationSeconds: 3600 }
  const metadata = { name: 'jane' }
  const asked = await resource.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata,
    spec,
  })
  const conditions = [{ type: 'Approved', status: 'True', reason: 'KubectlApprove', message: 'by hand' }]
  const events = await resource.watch({ fieldSelector: 'metadata.name=jane' }, new AbortController().signal)
  await resource.update({ ...asked, status: { conditions } } as never, { subresource: 'approval' })
  let certificate = ''
  while (certificate === '') certificate = (await events.next())?.object['status']?.certificate ?? ''
  const { server, ca = '' } = endpointFromKubeconfig(readFileSync(cluster.kubeconfigFile, 'utf8'))
  const cert = Buffer.from(certificate, 'base64').toString()
  const client = createHttpsClient({ server, ca, cert, key: keyOfJane })
  try {
    const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    const headers = { 'content-type': 'application/json' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const answer = await client.send({ method: 'POST', path, headers, body: review })
    const { userInfo } = JSON.parse(Buffer.from(await answer.bytes()).toString()).status
    assert.deepEqual([userInfo.username, userInfo.groups], ['jane', ['dev', 'system:authenticated']])
  } finally {
    client.close()
  }
})

test('a Secret of a service account gets a token, which ends with it; one of nobody goes', async () => {
  const core = (resource: string) =>
    cluster.client.resource({ group: '', version: 'v1', resource }).namespace('default')
  const secret = (name: string, account: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
    type: 'kubernetes.io/service-account-token' as never,
  })
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }
  const { uid } = (await core('serviceaccounts').create(account)).metadata
  const events = await core('secrets').watch({}, new AbortController().signal)
  const next = async (
    name: string,
    found: (event: { readonly type: string; readonly object: KubeObject }) => boolean,
  ) => {
    for (;;) {
      const event = await events.next()
      assert.ok(event)
      if (event.object.metadata.name === name && found(event)) return event.object
    }
  }
  await core('secrets').create(secret('nobodys', 'nobody'))
  await next('nobodys', ({ type }) => type === 'DELETED')
  await core('secrets').create(secret('robots', 'robot'))
  const { data, metadata } = await next('robots', ({ object }) => object['data']?.token !== undefined)
  assert.equal(metadata.annotations?.['kubernetes.io/service-account.uid'], uid)
  assert.deepEqual(Object.keys(data).sort(), ['ca.crt', 'namespace', 'token'])
  const token = Buffer.from(data.token, 'base64').toString()
  const review = async () => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    return JSON.parse((await cluster.client.raw('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)).body)
      .status
  }
  assert.equal((await review()).user.username, 'system:serviceaccount:default:robot')
  await core('serviceaccounts').delete('robot')
  await next('robots', ({ type }) => type === 'DELETED')
  assert.match((await review()).error, /Token has been invalidated/)
})

test('metrics of the API server tell which deprecated APIs were asked for, and how many addresses and ports Services have', async () => {
  const lines = async (part: string) =>
    (await cluster.client.raw('GET', '/metrics')).body.split('\n').filter((line) => line.startsWith(part))
  const deprecated = (resource: string) =>
    `apiserver_requested_deprecated_apis{group="",removed_release="",resource="${resource}",subresource="",version="v1"} 1`
  await cluster.client.raw('GET', '/api/v1/componentstatuses')
  assert.ok((await lines('apiserver_requested_deprecated_apis')).includes(deprecated('componentstatuses')))
  assert.ok(!(await lines('apiserver_requested_deprecated_apis')).some((line) => line.includes('configmaps')))
  const pools = async () => {
    const all = await lines('kube_apiserver_')
    return all.map((line) => line.slice('kube_apiserver_'.length).replaceAll(/_allocator_\w+_(ips|ports)/g, ''))
  }
  // The Service kubernetes has one. The first address and the last are never given.
  const before = [
    'clusterip{cidr="10.96.0.0/16"} 1',
    'clusterip{cidr="10.96.0.0/16"} 65533',
    'nodeport 0',
    'nodeport 2768',
  ]
  assert.deepEqual(await pools(), before)
  const services = cluster.client.resource({ group: '', version: 'v1', resource: 'services' }).namespace('default')
  const spec = { type: 'NodePort', ports: [{ port: 80 }, { port: 81, name: 'b' }] }
  const ports = spec.ports.map((port, i) => ({ name: `p${i}`, ...port }))
  await services.create({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'pools' }, spec: { ...spec, ports } })
  assert.deepEqual(await pools(), [
    ...['clusterip{cidr="10.96.0.0/16"} 2', 'clusterip{cidr="10.96.0.0/16"} 65532', 'nodeport 2', 'nodeport 2766'],
  ])
  await services.delete('pools')
  assert.deepEqual(await pools(), before)
})
