import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerDisks, type MeasuredDisks, nodeDisks, podDisks } from './disk-summary.ts'

const disk = (capacityBytes: number) => ({
  ...{ capacityBytes, availableBytes: 30, freeBytes: 40, inodes: 10, inodesFree: 6 },
})
const disks: MeasuredDisks = {
  ...{ node: disk(100), images: disk(200), used: { bytes: 70, inodes: 3 } },
  pods: new Map([
    [
      'u',
      { logs: new Map([['c', { bytes: 5, inodes: 1 }]]), volumes: [{ bytes: 2, inodes: 1 }], startTime: undefined },
    ],
  ]),
}
const time = '1970-01-01T00:00:02Z'
const entry = (capacityBytes: number, usedBytes: number, inodesUsed: number) => ({
  ...{ time, availableBytes: 30, capacityBytes, usedBytes, inodesFree: 6, inodes: 10, inodesUsed },
})

test('disks are told of the node, of images, of containers and their logs, and of pods', () => {
  const imageFs = entry(200, 70, 3)
  assert.deepEqual(nodeDisks(disks, 2000), { fs: entry(100, 60, 4), runtime: { imageFs, containerFs: imageFs } })
  const rootfs = { bytes: 9, inodes: 2, time: 2000 }
  assert.deepEqual(containerDisks(disks, 'u', 'c', rootfs, 2000), { rootfs: entry(200, 9, 2), logs: entry(100, 5, 1) })
  assert.deepEqual(containerDisks(disks, 'u', 'other', rootfs, 2000), { rootfs: entry(200, 9, 2) })
  assert.deepEqual(podDisks(disks, 'u', [rootfs], 2000), { 'ephemeral-storage': entry(100, 16, 4) })
  assert.deepEqual(podDisks(disks, 'gone', [rootfs], 2000), {})
  assert.deepEqual(containerDisks(undefined, 'u', 'c', rootfs, 2000), {
    rootfs: { time, usedBytes: 9, inodesUsed: 2 },
  })
})
