import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createCluster, type NodeInfo } from './node-info.ts'
import { createNodeMemory } from './node-memory.ts'
import { node } from './test-objects.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const nodeOf = (cluster: ReturnType<typeof createCluster>, name: string) => cluster.nodes.get(name) as NodeInfo

test('what was found of a node holds until the node changes', () => {
  const cluster = createCluster()
  const memory = createNodeMemory<string>()
  for (const name of ['a', 'b', 'c']) cluster.setNode(node(name))
  memory.set(nodeOf(cluster, 'c'), 'fits')
  assert.equal(memory.get(nodeOf(cluster, 'c')), 'fits')
  assert.equal(memory.get(nodeOf(cluster, 'a')), undefined)
  cluster.setNode({ ...node('c'), spec: { unschedulable: true } })
  assert.equal(memory.get(nodeOf(cluster, 'c')), undefined)
})

test('a node that takes the slot of one that is gone is another', () => {
  const cluster = createCluster()
  const memory = createNodeMemory<string>()
  cluster.setNode(node('a'))
  const gone = nodeOf(cluster, 'a')
  memory.set(gone, 'fits')
  cluster.removeNode('a')
  cluster.setNode(node('b'))
  const later = nodeOf(cluster, 'b')
  assert.equal(later.slot, gone.slot)
  memory.set(gone, 'fits')
  later.generation = gone.generation
  assert.equal(memory.get(later), undefined)
})

test('no two nodes have one slot, whichever came and went', () => {
  const cluster = createCluster()
  for (const name of ['a', 'b', 'c', 'd']) cluster.setNode(node(name))
  for (const name of ['b', 'a']) cluster.removeNode(name)
  for (const name of ['e', 'f', 'g']) cluster.setNode(node(name))
  const slots = [...cluster.nodes.values()].map(({ slot }) => slot)
  assert.deepEqual(slots.toSorted(), [0, 1, 2, 3, 4])
})

test('neither nodes that are gone nor what was found before are held', async () => {
  const cluster = createCluster()
  const memory = createNodeMemory<object>()
  for (const name of ['a', 'b', 'c']) cluster.setNode(node(name))
  const fill = () => {
    const found = {}
    memory.set(nodeOf(cluster, 'c'), found)
    return new WeakRef(found)
  }
  const found = fill()
  const gone = new WeakRef(nodeOf(cluster, 'c'))
  memory.set(nodeOf(cluster, 'c'), {})
  cluster.removeNode('c')
  // A WeakRef holds what it was made of until the turn ends.
  await setImmediate()
  collectGarbage()
  assert.deepEqual([found.deref(), gone.deref()], [undefined, undefined])
  assert.equal(memory.get(nodeOf(cluster, 'a')), undefined)
})
