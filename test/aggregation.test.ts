/** An aggregated API: a second server behind an APIService, reached through the first by discovery and requests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Asker, createAsker } from '../conformance/ask.ts'
import { type StartedCluster, startApiServer } from '../conformance/server.ts'

/** Endpoints may not be of the loopback range: the machine's own other address. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address
const skip = address === undefined ? 'this machine has no address but loopback' : false

let cluster: StartedCluster
let asker: Asker
let remote: Server
const seen: { path: string; user: string | undefined; authorization: string | undefined }[] = []
let groups: readonly string[] = []

const json = (value: unknown) => JSON.stringify(value)
const get = async (path: string, h?: Record<string, string>) => {
  const { code, text } = await asker.call({ m: 'GET', p: path, ...(h ? { h } : {}) })
  return { code, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}
const post = (path: string, object: unknown) => asker.call({ m: 'POST', p: path, b: json(object) })

before(async () => {
  if (skip) return
  cluster = await startApiServer()
  asker = createAsker(cluster.kubeconfig)
  const pki = (file: string) => readFileSync(join(cluster.dataDir, 'pki', file))
  remote = createServer(
    { cert: pki('apiserver.crt'), key: pki('apiserver.key'), ca: pki('ca.crt'), requestCert: true },
    (request, response) => {
      const url = request.url ?? ''
      seen.push({
        path: url,
        user: request.headers['x-remote-user'] as string | undefined,
        authorization: request.headers.authorization,
      })
      groups = request.headersDistinct['x-remote-group'] ?? []
      response.setHeader('content-type', 'application/json')
      if (url === '/apis/agg.example.com/v1')
        response.end(
          json({
            kind: 'APIResourceList',
            apiVersion: 'v1',
            groupVersion: 'agg.example.com/v1',
            resources: [
              { name: 'things', singularName: 'thing', namespaced: false, kind: 'Thing', verbs: ['get', 'list'] },
            ],
          }),
        )
      else response.end(json({ kind: 'ThingList', apiVersion: 'agg.example.com/v1', metadata: {}, items: [] }))
    },
  )
  await new Promise<void>((resolve) => remote.listen(0, address, resolve))
})
after(async () => {
  asker?.close()
  remote?.close()
  await cluster?.stop()
})

/** The condition is written by a loop: look until it says so, or for five seconds. */
async function availability(reason: string): Promise<{ status: string; reason: string; message: string }> {
  for (let i = 0; ; i++) {
    const { body } = await get('/apis/apiregistration.k8s.io/v1/apiservices/v1.agg.example.com')
    const condition = body.status?.conditions?.[0]
    if (condition?.reason === reason || i === 100) return condition
    await get('/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1')
  }
}

test('an APIService is unavailable until its Service is there and answers, then its API is served through us', {
  skip,
}, async () => {
  await post('/apis/apiregistration.k8s.io/v1/apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.agg.example.com' },
    spec: {
      group: 'agg.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { name: 'agg', namespace: 'default' },
    },
  })
  const missing = await availability('ServiceNotFound')
  assert.deepEqual([missing.status, missing.message], ['False', 'service/agg in "default" is not present'])
  const early = await get('/apis/agg.example.com/v1/things')
  assert.deepEqual([early.code, early.text], [503, 'service unavailable\n'])

  await post('/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'agg' },
    spec: { ports: [{ port: 443, targetPort: 8443 }] },
  })
  assert.equal((await availability('EndpointsNotFound')).status, 'False')

  const { port } = remote.address() as { port: number }
  await post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'agg-1', labels: { 'kubernetes.io/service-name': 'agg' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ port, protocol: 'TCP', name: '' }],
  })
  assert.equal((await availability('Passed')).status, 'True')

  assert.equal((await get('/apis/agg.example.com/v1/things?limit=5')).body.kind, 'ThingList')
  const last = seen.at(-1)
  assert.deepEqual(last, {
    path: '/apis/agg.example.com/v1/things?limit=5',
    user: 'kubernetes-admin',
    authorization: undefined,
  })

  const published = (await get('/apis')).body.groups as { name: string }[]
  assert.equal(published.at(-1)?.name, 'agg.example.com')
  const aggregated = await get('/apis', {
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  })
  const group = aggregated.body.items.at(-1)
  assert.deepEqual([group.metadata.name, group.versions[0].resources[0].resource], ['agg.example.com', 'things'])
})

test('who may not do it here is not passed on', { skip }, async () => {
  const before = seen.length
  const { code } = await get('/apis/agg.example.com/v1/things', { 'impersonate-user': 'nobody' })
  assert.equal(code, 403)
  assert.equal(seen.length, before)
})

test("each of a user's groups is a header of its own: none becomes two", { skip }, async () => {
  await get('/apis/agg.example.com/v1/things')
  assert.deepEqual(groups, ['system:masters', 'system:authenticated'])
})
