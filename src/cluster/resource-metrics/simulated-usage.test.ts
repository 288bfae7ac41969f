import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '../../api/generated/types.ts'
import { simulatedNodeUsage, simulatedPodUsage } from './simulated-usage.ts'

const MI = 1024 * 1024

function pod(annotations: Readonly<Record<string, string>>, requests?: Readonly<Record<string, string>>): Pod {
  const container = (name: string) => ({
    name,
    image: 'i',
    ...(requests === undefined ? {} : { resources: { requests } }),
  })
  const running = (name: string) => ({ name, state: { running: {} } }) as never
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations },
    spec: { containers: [container('a'), container('b'), container('ended')] },
    status: {
      phase: 'Running',
      containerStatuses: [running('a'), running('b'), { name: 'ended', state: { terminated: {} } } as never],
    },
  }
}

test('annotations say what containers use, a container its own before the pod', () => {
  const used = simulatedPodUsage(
    pod({ 'sim.skiff.dev/cpu': '250m', 'b.sim.skiff.dev/cpu': '1', 'sim.skiff.dev/memory': '64Mi' }),
  )
  assert.deepEqual(
    [...(used ?? [])],
    [
      ['a', { cpuNanoCores: 250_000_000, memoryBytes: 64 * MI }],
      ['b', { cpuNanoCores: 1_000_000_000, memoryBytes: 64 * MI }],
    ],
  )
})

test('without them it is a share of the requests, or next to nothing', () => {
  const { cpuNanoCores, memoryBytes } = simulatedPodUsage(pod({}, { cpu: '2', memory: '1Gi' }))?.get('a') ?? {}
  assert.deepEqual([cpuNanoCores, memoryBytes], [200_000_000, 512 * MI])
  assert.deepEqual(simulatedPodUsage(pod({}))?.get('a'), { cpuNanoCores: 1_000_000, memoryBytes: 16 * MI })
})

test('what is no quantity, negative or beyond measure is passed over', () => {
  for (const text of ['much', '-1', '1e300', '', `1${'0'.repeat(100)}`])
    assert.equal(simulatedPodUsage(pod({ 'sim.skiff.dev/cpu': text }))?.get('a')?.cpuNanoCores, 1_000_000, text)
})

test('a pod that runs no container uses nothing', () => {
  const { status, ...rest } = pod({})
  assert.equal(simulatedPodUsage({ ...rest, status: { ...status, phase: 'Succeeded' } }), undefined)
  assert.equal(simulatedPodUsage({ ...rest, status: { phase: 'Running' } }), undefined)
})

test('a node uses what its pods use, and its system', () => {
  const node = (annotations: Readonly<Record<string, string>>) =>
    ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', annotations } }) as Node
  const used = simulatedPodUsage(pod({ 'sim.skiff.dev/cpu': '100m', 'sim.skiff.dev/memory': '10Mi' }))
  assert.ok(used)
  assert.deepEqual(simulatedNodeUsage(node({}), [used, used]), { cpuNanoCores: 450_000_000, memoryBytes: 296 * MI })
  const annotated = node({ 'sim.skiff.dev/cpu': '0', 'sim.skiff.dev/memory': '0' })
  assert.deepEqual(simulatedNodeUsage(annotated, [used]), { cpuNanoCores: 200_000_000, memoryBytes: 20 * MI })
})
