import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '../pod.ts'
import { NO_SWAP, swapResources } from './swap-and-oom-group.ts'

const GI = 2n ** 30n
const containerOf = (request: string, limit?: string, cpu?: string): Container => ({
  name: 'c',
  resources: {
    requests: { memory: request, ...(cpu === undefined ? {} : { cpu }) },
    ...(limit === undefined ? {} : { limits: { memory: limit, ...(cpu === undefined ? {} : { cpu }) } }),
  },
})
const podOf = (container: Container, priority?: number): Pod => ({
  ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' } },
  spec: { containers: [container], ...(priority === undefined ? {} : { priority }) },
})
const version1 = { cgroupVersion: 1, memory: 16n * GI, swap: 4n * GI } as const
const version2 = { ...version1, cgroupVersion: 2 } as const

test('with control groups of version 1 memory and swap together are no more than memory, as a kubelet v1.37.1 asked for', () => {
  const container = containerOf('16Mi', '32Mi')
  for (const behavior of ['NoSwap', 'LimitedSwap'] as const) {
    const of = (limit: number | undefined) => swapResources(podOf(container), container, limit, { behavior }, version1)
    assert.deepEqual(of(33_554_432), { memory_swap_limit_in_bytes: 33_554_432 })
    assert.deepEqual(of(undefined), {})
  }
})

test('a Burstable container has of the swap what it asks for of the memory, others none (KEP-2400)', () => {
  const swapOf = (container: Container, priority?: number) =>
    swapResources(podOf(container, priority), container, undefined, { behavior: 'LimitedSwap' }, version2).unified?.[
      'memory.swap.max'
    ]
  assert.equal(swapOf(containerOf('4Gi')), String(GI))
  assert.equal(swapOf(containerOf('4Gi', '8Gi')), String(GI))
  assert.equal(swapOf(containerOf('4Gi', '4Gi')), '0', 'it cannot grow')
  assert.equal(swapOf(containerOf('4Gi', '4Gi', '1')), '0', 'Guaranteed')
  assert.equal(swapOf({ name: 'c' }), '0', 'BestEffort')
  assert.equal(swapOf(containerOf('4Gi'), 2_000_001_000), '0', 'critical')
})

test('without swap there is none; with version 2 a container ends as a whole, unless it is told otherwise', () => {
  const container = containerOf('4Gi')
  const of = (killsSingleProcess?: boolean) =>
    swapResources(
      podOf(container),
      container,
      undefined,
      { ...NO_SWAP, ...(killsSingleProcess === undefined ? {} : { killsSingleProcess }) },
      version2,
    )
  assert.deepEqual(of(), { unified: { 'memory.swap.max': '0', 'memory.oom.group': '1' } })
  assert.deepEqual(of(false), of())
  assert.deepEqual(of(true), { unified: { 'memory.swap.max': '0' } })
})
