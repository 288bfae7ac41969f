import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '../api/generated/types.ts'
import { createImageIndex } from './image-locality.ts'
import { createCluster, type NodeInfo } from './node-info.ts'
import { node as anyNode, pod } from './test-objects.ts'

const MB = 1024 * 1024
const holding = (name: string, images: Record<string, number>): Node => {
  const made = anyNode(name)
  const list = Object.entries(images).map(([image, mb]) => ({
    names: [image, `${image}@sha256:x`],
    sizeBytes: mb * MB,
  }))
  return { ...made, status: { ...made['status'], images: list } } as Node
}
const running = (...images: string[]): Pod =>
  ({ ...pod('p'), spec: { containers: images.map((image, i) => ({ name: `c${i}`, image })) } }) as Pod

function scoresOf(nodes: readonly Node[], wanted: Pod): readonly number[] | undefined {
  const index = createImageIndex()
  const cluster = createCluster()
  for (const one of nodes) {
    index.set(one)
    cluster.setNode(one)
  }
  const scorer = index.scorer(wanted, nodes.length)
  return scorer && [...cluster.nodes.values()].map((info: NodeInfo) => scorer(info))
}

test('a node that has the image is better, by its size and by how many nodes have it', () => {
  const nodes = [holding('a', { 'x:1': 400 }), holding('b', {}), holding('c', { 'x:1': 400 }), holding('d', {})]
  // 400 MB on half of the nodes count as 200, between 23 and 1,000.
  assert.deepEqual(scoresOf(nodes, running('x:1')), [18, 0, 18, 0])
})

test('an image without a tag is its latest', () => {
  const nodes = [holding('a', { 'registry:5000/x:latest': 2000 }), holding('b', { 'registry:5000/x:latest': 2000 })]
  assert.deepEqual(scoresOf(nodes, running('registry:5000/x')), [100, 100])
})

test('small images count for nothing, and the most that counts grows with the containers', () => {
  const nodes = [holding('a', { 'x:1': 22, 'y:1': 1000 })]
  assert.deepEqual(scoresOf(nodes, running('x:1')), [0])
  assert.deepEqual(scoresOf(nodes, running('x:1', 'y:1')), [Math.trunc((100 * (1022 - 23)) / (2000 - 23))])
})

test('no node has told of images: there is nothing to score', () => {
  const index = createImageIndex()
  index.set(holding('a', {}))
  assert.equal(index.scorer(running('x:1'), 1), undefined)
  index.set(holding('a', { 'x:1': 400 }))
  assert.notEqual(index.scorer(running('x:1'), 1), undefined)
  index.remove('a')
  assert.equal(index.scorer(running('x:1'), 1), undefined)
})
