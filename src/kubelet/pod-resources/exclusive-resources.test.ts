import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exclusiveResources } from './exclusive-resources.ts'

test('CPUs and blocks of memory that managers have set aside are told with their nodes', () => {
  const own = (uid: string, name: string) => uid === 'u' && name === 'c'
  const block = (size: number, ...numaAffinity: readonly number[]) => ({ type: 'memory', size, numaAffinity })
  const exclusive = exclusiveResources({
    cpus: { allocatable: [1, 2, 3], cpusOf: (uid, name) => (own(uid, name) ? [2] : []) },
    memory: {
      allocatable: [block(4096, 0), block(8192, 1)],
      blocksOf: (uid, name) => (own(uid, name) ? [block(1024, 0, 1)] : []),
    },
  })
  const told = (size: number, ...nodes: readonly number[]) => ({
    memory_type: 'memory',
    size,
    topology: { nodes: nodes.map((ID) => ({ ID })) },
  })
  assert.deepEqual(exclusive.allocatable(), { cpus: [1, 2, 3], memory: [told(4096, 0), told(8192, 1)] })
  assert.deepEqual(exclusive.of('u', 'c'), { cpus: [2], memory: [told(1024, 0, 1)] })
  assert.deepEqual(exclusive.of('u', 'd'), { cpus: [], memory: [] })
})
