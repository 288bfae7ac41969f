import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { madeUpTopology } from '../machine/made-up-topology.ts'
import type { Pod } from '../pod.ts'
import { createMemoryManager } from './memory-manager.ts'

const GI = 2 ** 30
let directory: string
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'skiff-memory-'))
})
after(() => rmSync(directory, { recursive: true }))

const podOf = (uid: string, memory: string, init?: string): Pod => {
  const container = (name: string, amount: string) => ({
    name,
    resources: { limits: { cpu: '1', memory: amount }, requests: { cpu: '1', memory: amount } },
  })
  const initContainers = init === undefined ? [] : [container('init', init)]
  return {
    ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: uid, namespace: 'n', uid } },
    spec: { initContainers, containers: [container('c', memory)] },
  }
}

const { numaNodes } = madeUpTopology({ sockets: 1, nodesPerSocket: 2, coresPerNode: 2, threads: 1, memory: 10 * GI })
const RESERVED = GI / 2
const start = (file: string) =>
  createMemoryManager(
    { policy: 'Static', reserved: new Map([[0, { memory: RESERVED }]]) },
    { memory: String(RESERVED) },
    numaNodes,
    join(directory, file),
    (_, write) => write(),
  )

test('it begins anew after a pod has ended that had memory of two nodes before another', () => {
  const give = (manager: ReturnType<typeof start>, pod: Pod) => manager.allocate(pod, pod.spec!.containers[0]!, 0b11)
  const manager = start('two-nodes')
  give(manager, podOf('a', '15Gi'))
  give(manager, podOf('b', '3Gi'))
  manager.forget('a')
  const { machineState } = JSON.parse(readFileSync(join(directory, 'two-nodes'), 'utf8'))
  const reserved = (node: number) => machineState[node].memoryMap.memory.reserved
  assert.deepEqual([reserved(0), reserved(1)], [0, 3 * GI], 'the first node would be taken first')
  const anew = start('two-nodes')
  assert.equal(anew.memsOf('b', 'c'), '0,1')
  anew.forget('b')
  give(anew, podOf('c', '19Gi'))
})
