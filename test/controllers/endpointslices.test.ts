/** The EndpointSlice controller where its watch is behind its writes, where answers get lost, and where nodes come and go. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import type { ApiRequest, Handler } from '../../src/api/request.ts'
import { StatusError } from '../../src/api/status.ts'
import { type SimulatedRuntime, simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { createEndpointSliceController } from '../../src/controllers/endpointslice/endpointslice-controller.ts'
import { ADMIN, startTestApi, type TestApi } from '../harness.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }

/** `between` stands between the controller and the API server. */
async function setUp(runtime: SimulatedRuntime, between: (handler: Handler) => Handler) {
  const api: TestApi = await runtime.complete(startTestApi(runtime))
  await runtime.complete(api.namespace('n'))
  const user = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const spec = { selector: { app: 'x' }, ports: [{ port: 80 }] }
  const nodes = user.resource({ group: '', version: 'v1', resource: 'nodes' })
  await runtime.complete(nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' } }))
  const services = user.resource({ group: '', version: 'v1', resource: 'services' }).namespace('n')
  await runtime.complete(services.create({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec }))
  const writes: string[] = []
  const handler: Handler = (request) => {
    if (request.method !== 'GET' && request.path.includes('/endpointslices')) writes.push(request.method)
    return between(api.handler)(request)
  }
  const transport = inProcessTransport(handler)
  const client = createClient(runtime, transport, { user: ADMIN, userAgent: 'controller' })
  const { signal } = new AbortController()
  const informers = createInformerFactory(runtime, client, signal)
  informers.start()
  await runtime.complete(createEndpointSliceController({ runtime, client, informers, signal }).start())
  await runtime.advance(10_000)
  return {
    user,
    /** Methods of what the controller wrote to slices. */
    writes,
    async addPod(name: string, nodeName = 'node') {
      const pod: KubeObject = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels: { app: 'x' } },
        spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
      }
      const own = user.resource(pods).namespace('n')
      const made = await runtime.complete(own.create(pod))
      const podIP = `10.0.0.${name.length}`
      const status = {
        phase: 'Running',
        podIP,
        podIPs: [{ ip: podIP }],
        conditions: [{ type: 'Ready', status: 'True' }],
      }
      await runtime.complete(own.update({ ...made, status }, { subresource: 'status' }))
      await runtime.advance(10_000)
    },
    async told(): Promise<readonly string[]> {
      const { items } = await runtime.complete(user.resource(slices).namespace('n').list())
      return items.flatMap((slice) => (slice['endpoints'] ?? []).map(({ targetRef }: Fields) => targetRef.name)).sort()
    },
  }
}

/** Lets the first list of slices through, and no later list or watch of them until it is opened. */
function gate() {
  let shut = true
  let listed = false
  return {
    open() {
      shut = false
    },
    check({ method, path }: ApiRequest) {
      if (method !== 'GET' || !path.endsWith('/endpointslices')) return
      if (shut && listed) throw new StatusError(500, 'InternalError', 'made up')
      listed = true
    },
  }
}

test('endpoints are in one slice where the watch of slices is behind what was written', async () => {
  const runtime = simulatedRuntime(1)
  const { open, check } = gate()
  const { addPod, told, writes } = await setUp(runtime, (handler) => (request) => {
    check(request)
    return handler(request)
  })
  for (const name of ['a', 'bb', 'ccc']) await addPod(name)
  assert.deepEqual(writes, ['POST'])
  open()
  await runtime.advance(120_000)
  assert.deepEqual(await told(), ['a', 'bb', 'ccc'])
  assert.deepEqual(writes, ['POST', 'PUT'])
})

test('a slice that was made without an answer is found, and one of the two goes', async () => {
  const runtime = simulatedRuntime(1)
  const { open, check } = gate()
  let made = 0
  const { addPod, told, writes } = await setUp(runtime, (handler) => async (request) => {
    check(request)
    const answer = await handler(request)
    if (request.method === 'POST' && request.path.endsWith('/endpointslices') && ++made === 1)
      throw new StatusError(500, 'InternalError', 'made up')
    return answer
  })
  assert.equal(made, 2)
  open()
  await runtime.advance(120_000)
  assert.deepEqual(writes, ['POST', 'POST', 'PUT', 'DELETE'])
  await addPod('a')
  assert.deepEqual(await told(), ['a'])
})

for (const [what, label] of [
  ['manager', 'endpointslice.kubernetes.io/managed-by'],
  ['service', 'kubernetes.io/service-name'],
] as const)
  test(`a slice that another ${what} has now is still waited for: its service gets no other`, async () => {
    const runtime = simulatedRuntime(1)
    const { user, writes, addPod } = await setUp(runtime, (handler) => handler)
    await addPod('a')
    const own = user.resource(slices).namespace('n')
    const [slice] = (await runtime.complete(own.list())).items
    await runtime.complete(
      own.patch(slice?.metadata.name ?? '', 'merge', { metadata: { labels: { [label]: 'other' } } }),
    )
    const before = writes.length
    await addPod('bb')
    assert.deepEqual(writes.slice(before), [])
  })

test('the slices of a service that is orphaned stay as they are, also while it lives', async () => {
  const runtime = simulatedRuntime(1)
  const { addPod, told, writes, user } = await setUp(runtime, (handler) => handler)
  await addPod('a')
  const before = writes.length
  const own = user.resource(slices).namespace('n')
  const [slice] = (await runtime.complete(own.list())).items
  await runtime.complete(own.patch(slice?.metadata.name ?? '', 'merge', { metadata: { ownerReferences: null } }))
  await runtime.advance(10_000)
  assert.equal(writes.length, before)
  assert.deepEqual(await told(), ['a'])
})

const nodes = { group: '', version: 'v1', resource: 'nodes' }
const services = { group: '', version: 'v1', resource: 'services' }
const events = { group: '', version: 'v1', resource: 'events' }

type Stand = Awaited<ReturnType<typeof setUp>>

async function addNode(runtime: SimulatedRuntime, { user }: Stand, name: string, zone: string, cpu: string) {
  const metadata = { name, labels: { 'topology.kubernetes.io/zone': zone } }
  const made = await runtime.complete(user.resource(nodes).create({ apiVersion: 'v1', kind: 'Node', metadata }))
  const status = { allocatable: { cpu }, conditions: [{ type: 'Ready', status: 'True' }] }
  await runtime.complete(user.resource(nodes).update({ ...made, status }, { subresource: 'status' }))
  await runtime.advance(2000)
}

async function eventsOf(runtime: SimulatedRuntime, { user }: Stand): Promise<readonly string[]> {
  await runtime.advance(2000)
  const { items } = await runtime.complete(user.resource(events).namespace('n').list())
  return items.map((event) => `${event['type']} ${event['reason']}: ${event['message']}`)
}

/** `pod>zone` of each endpoint. */
async function hintsOf(runtime: SimulatedRuntime, { user }: Stand): Promise<readonly string[]> {
  await runtime.advance(5000)
  const { items } = await runtime.complete(user.resource(slices).namespace('n').list())
  const all: readonly Fields[] = items.flatMap((slice) => slice['endpoints'] ?? [])
  return all.map(({ targetRef, hints }) => `${targetRef.name}>${hints?.forZones[0].name ?? ''}`).sort()
}

test('a service of topology mode Auto has hints by the zones of the nodes there are, and Events tell of it', async () => {
  const runtime = simulatedRuntime(1)
  const stand = await setUp(runtime, (handler) => handler)
  await runtime.complete(stand.user.resource(nodes).delete('node'))
  await addNode(runtime, stand, 'a', 'za', '4')
  await addNode(runtime, stand, 'b', 'zb', '4')
  for (const name of ['1', '22']) await stand.addPod(name, 'a')
  for (const name of ['333', '4444']) await stand.addPod(name, 'b')
  const service = stand.user.resource(services).namespace('n')
  const setMode = (mode: string | null) =>
    runtime.complete(
      service.patch('s', 'merge', { metadata: { annotations: { 'service.kubernetes.io/topology-mode': mode } } }),
    )
  await setMode('Auto')
  assert.deepEqual(await hintsOf(runtime, stand), ['1>za', '22>za', '333>zb', '4444>zb'])
  const enabled = 'Normal TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, addressType: IPv4'
  assert.deepEqual(await eventsOf(runtime, stand), [enabled])
  await addNode(runtime, stand, 'c', 'zc', '16')
  const moved = await hintsOf(runtime, stand)
  assert.equal(
    moved.filter((text) => text.endsWith('>zc')).length,
    0,
    'four endpoints are too few for three zones so unlike',
  )
  const overload =
    'Warning TopologyAwareHintsDisabled: Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones), addressType: IPv4'
  assert.ok((await eventsOf(runtime, stand)).includes(overload))
  for (const length of [5, 6, 7, 8, 9]) await stand.addPod(`${length}`.repeat(length), 'b')
  const share = (await hintsOf(runtime, stand)).filter((text) => text.endsWith('>zc'))
  assert.equal(share.length, 5)
  await setMode(null)
  assert.deepEqual([...new Set((await hintsOf(runtime, stand)).map((text) => text.split('>')[1]))], [''])
  const disabled = 'Warning TopologyAwareHintsDisabled: Topology Aware Hints has been disabled, addressType: IPv4'
  assert.ok((await eventsOf(runtime, stand)).includes(disabled))
})

test('a pod whose node is not there is in no slice until the node is', async () => {
  const runtime = simulatedRuntime(1)
  const stand = await setUp(runtime, (handler) => handler)
  await stand.addPod('a')
  await stand.addPod('bb', 'late')
  assert.deepEqual(await stand.told(), ['a'])
  const text = 'Error updating Endpoint Slices for Service n/s: skipping Pod bb for Service n/s: Node late Not Found'
  assert.deepEqual(await eventsOf(runtime, stand), [`Warning FailedToUpdateEndpointSlices: ${text}`])
  await addNode(runtime, stand, 'late', 'z', '1')
  await runtime.advance(60_000)
  assert.deepEqual(await stand.told(), ['a', 'bb'])
})
