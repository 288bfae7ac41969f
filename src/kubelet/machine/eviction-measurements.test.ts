import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { evictionConfig } from '../eviction/thresholds.ts'
import type { Pod } from '../pod.ts'
import type { ContainerUsage } from '../runtimes/runtime.ts'
import { createCgroups } from './cgroups.ts'
import { machineMeasurements } from './eviction-measurements.ts'
import { allocatableOf } from './node-allocatable.ts'
import { podDirectories } from './pod-directories.ts'
import { createVolumeSizes } from './volume-sizes.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-measured-'))
after(() => rmSync(root, { recursive: true }))

const pod: Pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [
      { name: 'disk', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
    ],
  },
}

const usage: ContainerUsage = {
  podUid: 'u',
  podName: 'p',
  podNamespace: 'n',
  name: 'c',
  time: 1,
  cpuNanoCores: 1,
  cpuNanoSeconds: 1,
  workingSetBytes: 11,
  usageBytes: 12,
  rssBytes: 13,
  rootfsBytes: 14,
  rootfsInodes: 15,
}

function measurements(files: Readonly<Record<string, string>> = {}) {
  const proc = join(root, 'proc')
  mkdirSync(join(proc, 'sys/kernel'), { recursive: true })
  writeFileSync(
    join(proc, 'meminfo'),
    'MemTotal:       1000 kB\nMemFree:         300 kB\nMemAvailable:    600 kB\nInactive:        250 kB\nInactive(file):  200 kB\n',
  )
  writeFileSync(join(proc, 'sys/kernel/pid_max'), '400\n')
  writeFileSync(join(proc, 'sys/kernel/threads-max'), '300\n')
  writeFileSync(join(proc, 'loadavg'), '0.1 0.2 0.3 2/120 4711\n')
  const groups = join(root, 'cgroup')
  const own = join(groups, 'skiff-k/besteffort/podu')
  mkdirSync(join(own, 'container'), { recursive: true })
  writeFileSync(join(groups, 'cgroup.controllers'), '')
  writeFileSync(join(own, 'cgroup.procs'), '')
  writeFileSync(join(own, 'container/cgroup.procs'), '1\n2\n3\n')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(groups, name), text)
  return machineMeasurements({
    real: { usage: async () => [usage], imageDirectory: async () => root },
    directories: podDirectories(root),
    cgroups: createCgroups('k', 'cgroupfs', groups),
    pods: () => [pod],
    volumeSizes: createVolumeSizes(podDirectories(root), { monotonic: () => 0 }),
    proc,
    mount: groups,
  })
}

test('memory is what is free and what was read long ago where control groups tell nothing, processes are counted against the smaller limit', async () => {
  const observed = await measurements().observe()
  assert.deepEqual(observed['memory.available'], { available: 500 * 1024, capacity: 1000 * 1024 })
  assert.deepEqual(observed['pid.available'], { available: 180, capacity: 300 })
  const { available = 0, capacity = 0 } = observed['nodefs.available'] ?? {}
  assert.ok(available > 0 && available <= capacity)
  assert.equal(observed['imagefs.available']?.capacity, capacity)
})

test('memory is what the highest control group does not use, and of what all pods are held to what they do not', async () => {
  const observed = await measurements({
    'memory.stat': `anon ${200 * 1024}\nfile ${300 * 1024}\ninactive_file ${100 * 1024}\n`,
    'skiff-k/memory.max': String(500 * 1024),
    'skiff-k/memory.current': String(60 * 1024),
    'skiff-k/memory.stat': `inactive_file ${20 * 1024}\n`,
  }).observe()
  assert.deepEqual(observed['memory.available'], { available: 600 * 1024, capacity: 1000 * 1024 })
  assert.deepEqual(observed['allocatableMemory.available'], { available: 460 * 1024, capacity: 500 * 1024 })
})

test('a pod uses what its containers, its volumes on disk and its processes do', async () => {
  const directories = podDirectories(root)
  const volume = directories.volume('u', 'empty-dir', 'disk')
  mkdirSync(volume, { recursive: true })
  mkdirSync(directories.volume('u', 'empty-dir', 'memory'), { recursive: true })
  writeFileSync(join(volume, 'f'), Buffer.alloc(8192, 1))
  const plain = (await measurements().pods(false)).get('u')
  assert.deepEqual([...(plain?.containers ?? [])], [['c', { memoryBytes: 11, diskBytes: 14, inodes: 15 }]])
  assert.deepEqual([plain?.volumes.size, plain?.processes], [0, 3])
  const whole = (await measurements().pods(true)).get('u')
  assert.deepEqual([...(whole?.volumes.keys() ?? [])], ['disk'])
  assert.ok((whole?.volumes.get('disk')?.bytes ?? 0) >= 8192)
  assert.equal(whole?.volumes.get('disk')?.inodes, 2)
})

test('pods may be given what is not kept free by evicting them', () => {
  // As a real node told of itself.
  const capacity = { cpu: '2', memory: '24684084Ki', 'ephemeral-storage': '270553174016', pods: '110' }
  const config = evictionConfig({ evictionHard: 'memory.available<50Mi,nodefs.available<1%' })
  assert.deepEqual(allocatableOf(capacity, config), {
    cpu: '2',
    memory: '24632884Ki',
    'ephemeral-storage': '267847642337',
    pods: '110',
  })
  assert.deepEqual(allocatableOf(capacity, evictionConfig({ evictionHard: 'pid.available<5%' })), capacity)
})
