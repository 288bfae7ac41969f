/** An aggregated API: a second server behind an APIService, reached through the first by discovery and requests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as httpsRequest, type Server } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Asker, createAsker } from '../conformance/ask.ts'
import { type StartedCluster, startApiServer } from '../conformance/server.ts'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { endless, MEGABYTE } from './endless.ts'
import { addressBeyondLoopback, lacks } from './machine.ts'

/** Endpoints may not be of the loopback range: the machine's own other address. */
const address = addressBeyondLoopback()
const skip = lacks.address()

let cluster: StartedCluster
let asker: Asker
let remote: Server
const seen: { path: string; user: string | undefined; authorization: string | undefined }[] = []
let groups: readonly string[] = []
/** What the remote server answers instead, when a test says so. */
let instead: ((url: string, response: ServerResponse) => boolean) | undefined

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
    { cert: pki('apiserver.crt'), key: pki('apiserver.key'), ca: pki('front-proxy-ca.crt'), requestCert: true },
    (request, response) => {
      const url = request.url ?? ''
      seen.push({
        path: url,
        user: request.headers['x-remote-user'] as string | undefined,
        authorization: request.headers.authorization,
      })
      groups = request.headersDistinct['x-remote-group'] ?? []
      if (instead?.(url, response) === true) return
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

/** Such an answer of JSON. */
function endlessJson(response: ServerResponse, most: number): Promise<number> {
  response.writeHead(200, { 'content-type': 'application/json' })
  return endless(response, most)
}

test('a server that tells without end what it serves is read no further than a bound', { skip }, async () => {
  const taken = new Promise<number>((resolve) => {
    instead = (url, response) => {
      if (url !== '/apis/agg.example.com/v1') return false
      instead = undefined
      resolve(endlessJson(response, 256 * MEGABYTE))
      return true
    }
  })
  // Any change to what the check depends on brings the next one.
  const service = await get('/apis/apiregistration.k8s.io/v1/apiservices/v1.agg.example.com')
  await asker.call({
    m: 'PUT',
    p: '/apis/apiregistration.k8s.io/v1/apiservices/v1.agg.example.com',
    b: json({ ...service.body, metadata: { ...service.body.metadata, labels: { look: 'again' } } }),
  })
  const bytes = await taken
  assert.ok(bytes < 64 * MEGABYTE, `${bytes} bytes were read`)
  assert.equal((await get('/healthz')).text, 'ok')
})

test('an answer without end is passed on as fast as its client reads, and ends with him', { skip }, async () => {
  let response: ServerResponse | undefined
  const taken = new Promise<number>((resolve) => {
    instead = (url, given) => {
      if (!url.includes('/things')) return false
      instead = undefined
      response = given
      resolve(endlessJson(given, 512 * MEGABYTE))
      return true
    }
  })
  const { server, cert = '', key = '' } = endpointFromKubeconfig(readFileSync(cluster.kubeconfig, 'utf8'))
  const { hostname: host, port } = new URL(server)
  const reading = await new Promise<IncomingMessage>((resolve, reject) => {
    const path = '/apis/agg.example.com/v1/things'
    httpsRequest({ host, port, path, cert, key, rejectUnauthorized: false, agent: false }, resolve)
      .on('error', reject)
      .end()
  })
  // Nobody reads: the sockets' buffers fill, and then the other server has to wait.
  while (response?.writableNeedDrain !== true && response?.destroyed !== true) await get('/healthz')
  for (let before = -1; before !== response.socket?.bytesWritten; ) {
    before = response.socket?.bytesWritten ?? 0
    for (let i = 0; i < 20; i++) await get('/healthz')
  }
  reading.destroy()
  const bytes = await taken
  assert.ok(bytes < 128 * MEGABYTE, `${bytes} bytes were taken for a client who read nothing`)
})

test('what the other server says of its answer comes with it, and nobody is sent elsewhere', { skip }, async () => {
  const once = (answer: (response: ServerResponse) => void) => {
    instead = (url, response) => {
      if (!url.includes('/things')) return false
      instead = undefined
      answer(response)
      return true
    }
  }
  const path = '/apis/agg.example.com/v1/things'
  once((response) => {
    response.writeHead(418, { 'content-encoding': 'gzip', warning: '299 - "old"', 'audit-id': 'theirs', etag: '"x"' })
    response.end(gzipSync('{}'))
  })
  const { code, headers } = await asker.call({ m: 'GET', p: path })
  assert.deepEqual(
    [code, headers['content-encoding'], headers['warning'], headers['etag'], headers['audit-id'] === 'theirs'],
    [418, 'gzip', '299 - "old"', '"x"', false],
  )
  const raw = (head: string) =>
    once((response) => response.socket?.end(`HTTP/1.1 ${head}\r\nContent-Length: 2\r\n\r\nok`))
  for (const head of ['101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x', '000 Nothing', '099 Less']) {
    raw(head)
    assert.equal((await asker.call({ m: 'GET', p: path })).code, 503, head)
  }
  raw('200 OK\r\nHTTP2-Settings: AAMAAABk\r\nProxy-Connection: x\r\nX-Own: x')
  const own = (await asker.call({ m: 'GET', p: path })).headers
  assert.deepEqual([own['x-own'], own['http2-settings'], own['proxy-connection']], ['x', undefined, undefined])
  once((response) => response.writeHead(302, { location: 'https://example.com/' }).end())
  const sent = await asker.call({ m: 'GET', p: path })
  assert.deepEqual(
    [sent.code, sent.text],
    [502, 'the backend attempted to redirect this request, which is not permitted'],
  )
  once((response) => response.socket?.destroy())
  assert.deepEqual((await asker.call({ m: 'POST', p: path, b: '{}' })).text, 'error trying to reach service: EOF\n')
})
