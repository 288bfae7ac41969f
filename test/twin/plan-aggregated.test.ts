/** What an aggregated API server holds, in plans and their gates: a second server behind an APIService of the source. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Asker, createAsker } from '../../conformance/ask.ts'
import { type StartedCluster, startApiServer } from '../../conformance/server.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { deleteDeed } from '../../src/inspect/plan/delete-deed.ts'
import { closedGates } from '../../src/inspect/plan/gates.ts'
import { planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { planAs } from '../../src/inspect/plan/report.ts'
import type { TwinSource } from '../../src/inspect/twin/read-cluster.ts'
import { addressBeyondLoopback, lacks } from '../machine.ts'

/** Endpoints may not be of the loopback range: the machine's own other address. */
const address = addressBeyondLoopback()
const skip = lacks.address()
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const GROUP = 'agg.test'

let cluster: StartedCluster
let asker: Asker
let remote: Server
let source: TwinSource
let close = () => {}
/** Metadata of what the other server holds; undefined: it lets nothing be listed. */
let things: readonly object[] | undefined = []

const post = async (path: string, object: object) =>
  JSON.parse((await asker.call({ m: 'POST', p: path, b: JSON.stringify(object) })).text)
const configMap = (name: string) =>
  post('/api/v1/namespaces/team/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

before(async () => {
  if (skip) return
  cluster = await startApiServer()
  asker = createAsker(cluster.kubeconfig)
  const pki = (file: string) => readFileSync(join(cluster.dataDir, 'pki', file))
  remote = createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') }, (request, response) => {
    const [path] = (request.url ?? '').split('?')
    response.setHeader('content-type', 'application/json')
    const verbs = ['get', 'list', 'delete']
    const resources = [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs }]
    if (path === `/apis/${GROUP}/v1`)
      response.end(
        JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources }),
      )
    else if (path === `/apis/${GROUP}/v1/things` && things !== undefined)
      response.end(
        JSON.stringify({
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: {},
          items: things.map((metadata) => ({
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { creationTimestamp: null, ...metadata },
          })),
        }),
      )
    else {
      response.statusCode = 403
      response.end(
        JSON.stringify({
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          reason: 'Forbidden',
          message: 'no',
          code: 403,
        }),
      )
    }
  })
  await new Promise<void>((resolve) => remote.listen(0, address, resolve))
  const { port } = remote.address() as { port: number }
  const metadata = { name: 'agg', namespace: 'default' }
  await post('/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ports: [{ port: 443, targetPort: port }] },
  })
  await post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'agg' } },
    addressType: 'IPv4',
    ports: [{ port }],
    endpoints: [{ addresses: [address] }],
  })
  await post(SERVICES, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1.${GROUP}` },
    spec: {
      group: GROUP,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: metadata,
    },
  })
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
  const discovery = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }
  const isServed = async () => (await asker.call({ m: 'GET', p: '/apis', h: discovery })).text.includes('"things"')
  // A loop of the server finds it available, another reads what it serves: until then its version is stale.
  for (let i = 0; !(await isServed()) && i < 100; i++)
    await asker.call({ m: 'GET', p: '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1' })
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, cluster.kubeconfig)
  close = () => transport.close()
  source = { runtime, transport, userAgent: 'skiff plan' }
})
after(async () => {
  close()
  asker?.close()
  remote?.close()
  await cluster?.stop()
})

async function planned(kind: string, name: string) {
  const model = await readModel(source)
  const deed = deleteDeed(model.read, { targets: [{ kind, namespace: 'team', name }] })
  const plan = await planIn(source, model, deed, { orders: 0 })
  const gate = (max: number, ...expectNone: readonly string[]) => closedGates(plan, model.read, { max, expectNone }, [])
  return { plan, gate, beyond: plan.beyond.map(({ resource, name }) => `${resource}/${name}`) }
}

test('what is in a namespace that ends, and what belongs to what goes, is told and counts; what else is there does not', {
  skip,
}, async () => {
  const { metadata } = await configMap('owner')
  const owned = (kind: string, name: string, uid: string) => ({
    ownerReferences: [{ apiVersion: 'v1', kind, name, uid }],
  })
  things = [
    { name: 'loose', namespace: 'team', uid: 't1' },
    { name: 'owned', namespace: 'team', uid: 't2', ...owned('ConfigMap', 'owner', metadata.uid) },
    { name: 'below', namespace: 'team', uid: 't3', ...owned('Thing', 'owned', 't2') },
    { name: 'elsewhere', namespace: 'other', uid: 't4' },
  ]
  const one = await planned('cm', 'owner')
  assert.deepEqual(one.beyond, ['things/owned', 'things/below'])
  assert.deepEqual(one.gate(3, 'secrets'), [])
  assert.deepEqual(one.gate(2, 'things'), [
    '2 things would go, and none may (--expect-none things)',
    '3 objects would go, and at most 2 may (--max)',
  ])
  assert.match(
    planAs('tree', one.plan),
    /^goes, if the aggregated API servers .*:\n {2}things\.agg\.test\/owned in namespace team$/m,
  )
  const space = await planned('ns', 'team')
  assert.deepEqual(space.beyond.toSorted(), ['things/below', 'things/loose', 'things/owned'])
  const none = await planned('cm', 'gone')
  assert.deepEqual([none.beyond, none.gate(0, 'things')], [[], []])
})

test('what may not be listed there is not known to stay', { skip }, async () => {
  things = undefined
  const { gate } = await planned('cm', 'owner')
  assert.match(gate(9, 'things')[0] ?? '', /^whether any things would go is not known/)
  assert.match(
    gate(9)[0] ?? '',
    /^at least 1 objects would go, how many is not known, .*: not listed: things\.agg\.test$/,
  )
})

test('a namespace takes along what a silent server holds, which is not known', { skip }, async () => {
  await new Promise((resolve) => {
    remote.closeAllConnections()
    remote.close(resolve)
  })
  const isStale = async () => (await asker.call({ m: 'GET', p: `/apis/${GROUP}/v1/things` })).code === 503
  for (let i = 0; !(await isStale()) && i < 100; i++)
    await asker.call({ m: 'GET', p: '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1' })
  const { gate } = await planned('ns', 'team')
  assert.match(gate(99)[0] ?? '', /how many is not known, .*: not listed: .*agg\.test/)
})
