import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import { takeDownNode } from './take-down-node.ts'

test('what cannot be kept of a node keeps its directory, and is told beside all else that is left', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-down-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const record = {
    cluster: 'of-a-test',
    nodeName: 'n',
    endpoint: `unix://${directory}/none.sock`,
    runtimeName: 'containerd',
    configurationDirectory: directory,
    cgroupDriver: 'cgroupfs',
    networks: [],
  }
  writeFileSync(join(directory, 'node.json'), JSON.stringify(record))
  writeFileSync(join(directory, 'kept'), 'text')
  const full = () => {
    throw new Error("ENOSPC: no space left on device, mkdir '/kept'")
  }
  // The runtime, which is not there, is told of first: it was gone to all the same.
  await assert.rejects(
    takeDownNode(liveRuntime(), directory, full),
    /of the node something is left: .*none\.sock.*; ENOSPC/s,
  )
  assert.equal(existsSync(join(directory, 'node.json')), true)
  assert.equal(readFileSync(join(directory, 'kept'), 'utf8'), 'text')
})
