import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { machineTopology } from './machine-topology.ts'

test('CPUs, caches, memory, huge pages and distances are as the kernel tells them; a CPU that is offline does not count', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'skiff-topology-'))
  t.after(() => rmSync(root, { recursive: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `${text}\n`)
  }
  // Two sockets that both number their cores from 0, two threads each; CPU 3 is offline.
  for (const [cpu, core, socket, shared] of [
    [0, 0, 0, '0,2'],
    [1, 0, 1, '1,5'],
    [2, 0, 0, '0,2'],
    [3, 0, 1, '3'],
    [4, 1, 0, '4'],
    [5, 0, 1, '1,5'],
  ] as const) {
    mkdirSync(join(root, `node/node${socket}/cpu${cpu}`), { recursive: true })
    write(`cpu/cpu${cpu}/topology/core_id`, String(core))
    write(`cpu/cpu${cpu}/topology/physical_package_id`, String(socket))
    write(`cpu/cpu${cpu}/online`, cpu === 3 ? '0' : '1')
    for (const [index, level, list] of [
      [0, 1, shared],
      [3, 3, shared],
    ] as const) {
      write(`cpu/cpu${cpu}/cache/index${index}/level`, String(level))
      write(`cpu/cpu${cpu}/cache/index${index}/id`, String(70 + cpu))
      write(`cpu/cpu${cpu}/cache/index${index}/shared_cpu_list`, list)
    }
  }
  for (const node of [0, 1]) {
    write(`node/node${node}/meminfo`, `Node ${node} MemTotal:       ${1000 + node} kB\nNode ${node} MemFree: 1 kB`)
    write(`node/node${node}/distance`, node === 0 ? '10 21' : '21 10')
    write(`node/node${node}/hugepages/hugepages-2048kB/nr_hugepages`, String(node))
  }
  const { cpus, numaNodes } = machineTopology(root)
  assert.deepEqual(
    [...cpus.places],
    [
      [0, { core: 0, socket: 0, numaNode: 0, uncoreCache: 70 }],
      [2, { core: 0, socket: 0, numaNode: 0, uncoreCache: 70 }],
      [4, { core: 4, socket: 0, numaNode: 0, uncoreCache: 74 }],
      // The cache is that of the whole node.
      [1, { core: 1, socket: 1, numaNode: 1, uncoreCache: 1 }],
      [5, { core: 1, socket: 1, numaNode: 1, uncoreCache: 1 }],
    ],
  )
  assert.deepEqual(numaNodes, [
    { id: 0, memory: 1_024_000, hugePages: [{ sizeKiB: 2048, count: 0 }], distances: [10, 21] },
    { id: 1, memory: 1_025_024, hugePages: [{ sizeKiB: 2048, count: 1 }], distances: [21, 10] },
  ])
})
