import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCluster, type NodeInfo } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import type { ScoringStrategy } from './profile.ts'
import { balance, resourceScore } from './resource-scores.ts'
import { node, pod } from './test-objects.ts'

const info = (cpu: string, memory: string, more = {}) => podInfoOf(pod('p', {}, { requests: { cpu, memory, ...more } }))
function nodeWith(allocatable: Record<string, string>): NodeInfo {
  const cluster = createCluster()
  cluster.setNode(node('a', { allocatable }))
  return cluster.nodes.get('a') as NodeInfo
}
const both = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
]
const strategy = (type: ScoringStrategy['type'], more: Partial<ScoringStrategy> = {}): ScoringStrategy => ({
  type,
  resources: both,
  shape: [],
  ...more,
})

test('what is left and what is used add up to all', () => {
  const empty = nodeWith({ cpu: '4', memory: '8Gi' })
  assert.equal(resourceScore(info('1', '2Gi'), empty, strategy('LeastAllocated')), 75)
  assert.equal(resourceScore(info('1', '2Gi'), empty, strategy('MostAllocated')), 25)
})

test('a resource counts by its weight, and not at all on a node that has none of it', () => {
  const resources = [
    { name: 'cpu', weight: 3 },
    { name: 'memory', weight: 1 },
    { name: 'example.com/gpu', weight: 4 },
  ]
  const weighted = strategy('MostAllocated', { resources })
  const asking = info('2', '2Gi', { 'example.com/gpu': '1' })
  assert.equal(resourceScore(asking, nodeWith({ cpu: '4', memory: '8Gi' }), weighted), Math.floor((3 * 50 + 25) / 4))
  const gpus = nodeWith({ cpu: '4', memory: '8Gi', 'example.com/gpu': '2' })
  assert.equal(resourceScore(asking, gpus, weighted), Math.floor((3 * 50 + 25 + 4 * 50) / 8))
  assert.equal(resourceScore(info('2', '2Gi'), gpus, weighted), Math.floor((3 * 50 + 25) / 4), 'it asks for none')
})

test('a score between the points of a shape lies on the line between them', () => {
  const shape = [
    { utilization: 20, score: 0 },
    { utilization: 60, score: 10 },
    { utilization: 80, score: 5 },
  ]
  const score = (cpu: string) =>
    resourceScore(
      info(cpu, '1Gi'),
      nodeWith({ cpu: '10', memory: '8Gi' }),
      strategy('RequestedToCapacityRatio', { resources: [{ name: 'cpu', weight: 1 }], shape }),
    )
  assert.deepEqual(['1', '2', '3', '6', '7', '8', '9'].map(score), [0, 0, 25, 100, 75, 50, 50])
})

test('balance of three resources is told by their deviation', () => {
  const asking = info('2', '4Gi', { 'example.com/gpu': '0' })
  const on = nodeWith({ cpu: '4', memory: '4Gi', 'ephemeral-storage': '1Gi' })
  assert.equal(balance(on, ['cpu', 'memory'], asking.requests, asking), 75)
  assert.equal(balance(on, ['cpu', 'memory', 'ephemeral-storage'], asking.requests, asking), 59)
  assert.equal(balance(on, ['cpu', 'example.com/gpu'], asking.requests, asking), 100, 'one alone is in balance')
})
