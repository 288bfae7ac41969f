import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { measuredDisks } from './measured-disks.ts'

test('images are told to be on the disk of the node where this process does not see their directory', async () => {
  const none = () => '/none'
  const directories = { root: tmpdir(), logs: none }
  const real = { imageDirectory: async () => '/none', imageUse: async () => undefined }
  const { node, images, pods } = await measuredDisks(directories, real, async () => new Map(), [])
  assert.equal(images.capacityBytes, node.capacityBytes)
  assert.equal(pods.size, 0)
})
