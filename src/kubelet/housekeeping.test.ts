import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createHousekeeping, type HousekeepingOptions } from './housekeeping.ts'

test('what is left of pods that are gone is removed once at a time, however many of them are told of meanwhile', async () => {
  const runtime = simulatedRuntime(1)
  const removals: (() => void)[] = []
  let lists = 0
  const containerRuntime = {
    listPodSandboxes: async () => {
      lists++
      return [{ id: 's', metadata: { uid: 'gone' } }]
    },
    listContainers: async () => [],
    removePodSandbox: () => new Promise<void>((done) => removals.push(done)),
  }
  const housekeeping = createHousekeeping({
    runtime,
    signal: new AbortController().signal,
    containerRuntime,
    pods: { list: () => [] },
    isKnown: () => false,
    unprepareUnknown: async () => {},
  } as unknown as HousekeepingOptions)
  for (let count = 0; count < 50; count++) housekeeping.endOrphans()
  await runtime.settle()
  assert.deepEqual([lists, removals.length], [1, 1])
  for (let count = 0; count < 50; count++) housekeeping.endOrphans()
  removals[0]?.()
  await runtime.settle()
  assert.deepEqual([lists, removals.length], [2, 2], 'one more, for all that came meanwhile')
  removals[1]?.()
  await runtime.settle()
  assert.equal(lists, 2)
})

test('what hangs while the remains of one pod are removed holds no other up', async () => {
  const runtime = simulatedRuntime(1)
  const removed: string[] = []
  let left = ['hangs']
  const housekeeping = createHousekeeping({
    runtime,
    signal: new AbortController().signal,
    containerRuntime: { listPodSandboxes: async () => [], listContainers: async () => [] },
    machine: {
      known: () => left,
      remove(uid: string) {
        removed.push(uid)
        return uid === 'hangs' ? new Promise<void>(() => {}) : Promise.resolve()
      },
    },
    pods: { list: () => [] },
    isKnown: () => false,
    unprepareUnknown: async () => {},
  } as unknown as HousekeepingOptions)
  housekeeping.endOrphans()
  await runtime.settle()
  left = ['hangs', 'goes']
  housekeeping.endOrphans()
  await runtime.settle()
  assert.deepEqual(removed, ['hangs', 'goes'])
})
