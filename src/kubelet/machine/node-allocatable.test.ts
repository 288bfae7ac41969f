import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { evictionConfig } from '../eviction/thresholds.ts'
import { createCgroups } from './cgroups.ts'
import { allocatableOf, holdAllPods } from './node-allocatable.ts'

const GI = 1024n ** 3n
const capacity = { cpu: '2', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' }
const reserved = [{ cpu: '500m', memory: '1Gi' }, { memory: '512Mi' }]

/** Control groups of version 1 that are plain files. */
function node(t: TestContext) {
  const mount = mkdtempSync(join(tmpdir(), 'skiff-allocatable-'))
  t.after(() => rmSync(mount, { recursive: true }))
  const place = (file: string) => join(mount, file.split('.')[0] ?? '', 'skiff-k', file)
  const make = (...files: readonly string[]) => {
    for (const file of files) {
      mkdirSync(join(place(file), '..'), { recursive: true })
      writeFileSync(place(file), '')
    }
  }
  const told: string[] = []
  const tell = (reason: string, message: string) => void told.push(`${reason}: ${message}`)
  const runtime = simulatedRuntime(1)
  const stopping = new AbortController()
  const hold = (own: typeof reserved, driver: 'cgroupfs' | 'systemd' = 'cgroupfs') =>
    holdAllPods({
      runtime,
      signal: stopping.signal,
      cgroups: createCgroups('k', driver, mount),
      capacity,
      reserved: own,
      events: { normal: tell, warning: tell },
    })
  const drop = (file: string) => rmSync(place(file))
  return { make, drop, told, hold, runtime, stopping, limit: (file: string) => readFileSync(place(file), 'utf8') }
}

const ENFORCED = 'NodeAllocatableEnforced: Updated Node Allocatable limit across pods'
const [SHARES, MEMORY] = ['cpu.shares', 'memory.limit_in_bytes']

test('all pods together are held to what the node does not reserve, which an Event tells of; systemd has no such limit', (t) => {
  const { make, told, hold, limit } = node(t)
  make(SHARES, MEMORY)
  hold(reserved)
  assert.deepEqual([limit(SHARES), limit(MEMORY)], ['1536', String(6n * GI + GI / 2n)])
  hold(reserved, 'systemd')
  assert.deepEqual(told, [ENFORCED])
  // As a kubelet does where nothing is enforced.
  hold([])
  assert.deepEqual([limit(SHARES), limit(MEMORY)], ['2048', String(8n * GI)])
  assert.deepEqual(told, [ENFORCED, ENFORCED])
})

test('where a limit cannot be written an Event says so, and it is tried again every minute', async (t) => {
  const { make, drop, told, hold, runtime, stopping } = node(t)
  make(SHARES, MEMORY)
  drop(MEMORY)
  hold(reserved)
  await runtime.advance(60_000)
  const failed = `FailedNodeAllocatableEnforcement: Failed to update Node Allocatable Limits ["skiff-k"]: unable to set ${MEMORY} to ${6n * GI + GI / 2n}: ENOENT`
  assert.deepEqual(told, [failed, failed])
  make(MEMORY)
  await runtime.advance(60_000)
  assert.deepEqual(told, [failed, failed, ENFORCED])
  await runtime.advance(120_000)
  assert.equal(told.length, 3)
  stopping.abort()
})

test('where all memory is reserved pods are held to none, for each would be killed at once', (t) => {
  const { make, told, hold, limit } = node(t)
  make(SHARES, MEMORY)
  hold([{ cpu: '0', memory: '8Gi' }])
  assert.equal(limit(MEMORY), '-1')
  assert.deepEqual(told, [ENFORCED])
})

test('more reserved than there is, with what evictions keep free, is refused in a kubelet’s words', () => {
  const config = evictionConfig({ evictionHard: 'memory.available<50Mi,nodefs.available<1%' })
  assert.equal(allocatableOf(capacity, config, [{ memory: '8142Mi', cpu: '2', other: '9' }])['memory'], '0')
  assert.throws(() => allocatableOf(capacity, config, [{ memory: '8143Mi' }, { cpu: '64' }]), {
    message:
      'invalid Node Allocatable configuration. Resource "cpu" has a reservation of 64 but capacity of 2. Expected capacity >= reservation. ' +
      'Resource "memory" has a reservation of 8193Mi but capacity of 8Gi. Expected capacity >= reservation.',
  })
})
