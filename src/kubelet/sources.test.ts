import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import type { Handler } from '../api/request.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createFakeServer } from '../client/fake-server.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import { sharedSources } from './sources.ts'

const NAMES = Array.from({ length: 20 }, (_, index) => `node-${index}`)

const pod = (name: string, nodeName?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
})

function start() {
  const runtime = simulatedRuntime(1)
  const nodes = createFakeServer()
  const pods = createFakeServer()
  const handler: Handler = (request) => (request.path.endsWith('/pods') ? pods : nodes).handler(request)
  const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'test' })
  const sourcesOf = sharedSources(runtime, client, new AbortController().signal)
  const told: string[] = []
  const follow = (name: string) => {
    const sources = sourcesOf(name)
    sources.node.addHandlers({
      added: ({ metadata }) => told.push(`${name}: added node ${metadata.name}`),
      updated: (_, { metadata }) => told.push(`${name}: updated node ${metadata.name}`),
      deleted: ({ metadata }) => told.push(`${name}: deleted node ${metadata.name}`),
    })
    sources.pods.addHandlers({
      added: ({ metadata }, initial) => told.push(`${name}: added ${metadata.name}${initial ? ' initial' : ''}`),
      updated: (_, { metadata }) => told.push(`${name}: updated ${metadata.name}`),
      deleted: ({ metadata }) => told.push(`${name}: deleted ${metadata.name}`),
    })
    return sources.start()
  }
  return { runtime, nodes, pods, told, follow }
}

test('nodes that share their watches are each told of their own Node and pods, by two watches for all', async () => {
  const { runtime, nodes, pods, told, follow } = start()
  for (const name of NAMES) nodes.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
  pods.put(pod('bound', 'node-3'))
  await runtime.complete(Promise.all(NAMES.map(follow)))
  assert.deepEqual(
    told.toSorted(),
    [...NAMES.map((name) => `${name}: added node ${name}`), 'node-3: added bound initial'].toSorted(),
  )
  told.length = 0
  pods.put(pod('waiting'))
  pods.put(pod('waiting', 'node-7'))
  nodes.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-4' } })
  pods.remove('default/bound')
  await runtime.settle()
  assert.deepEqual(told.toSorted(), ['node-3: deleted bound', 'node-4: updated node node-4', 'node-7: added waiting'])
  assert.equal([...nodes.requests, ...pods.requests].filter(({ query }) => query.get('watch') === 'true').length, 2)
})

test('a node that comes later is told first of what is there', async () => {
  const { runtime, pods, told, follow } = start()
  await runtime.complete(follow('node-1'))
  pods.put(pod('a', 'node-2'))
  await runtime.settle()
  await runtime.complete(follow('node-2'))
  pods.put(pod('a', 'node-2'))
  await runtime.settle()
  assert.deepEqual(told, ['node-2: added a initial', 'node-2: updated a'])
})

test('a pod of the same name on another node, of which only a new list tells, leaves the one and comes to the other', async () => {
  const { runtime, pods, told, follow } = start()
  pods.put(pod('a', 'node-1'))
  await runtime.complete(Promise.all([follow('node-1'), follow('node-2')]))
  told.length = 0
  pods.dropWatches()
  pods.remove('default/a')
  pods.put(pod('a', 'node-2'))
  pods.compact()
  await runtime.run({ until: () => told.length >= 2 })
  assert.deepEqual(told, ['node-1: deleted a', 'node-2: added a'])
})
