import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '../base/clock.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import type { Pod } from './pod.ts'
import { createPodWorkers, type PodWorkerOptions } from './pod-workers.ts'
import { SyncError } from './sync-error.ts'
import { createWorkerPhases } from './worker-phases.ts'

function pod(metadata: object = {}, status: object = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', uid: 'u', ...metadata }, status } as Pod
}

function setup(options: Partial<PodWorkerOptions> = {}) {
  const runtime = simulatedRuntime(1)
  const steps: string[] = []
  const phases = createWorkerPhases()
  const workers = createPodWorkers({
    runtime,
    phases,
    syncPod: async ({ metadata }) => {
      steps.push(`sync ${metadata.generation ?? ''}`)
      return false
    },
    syncTerminatingPod: async (_, grace) => void steps.push(`terminating ${grace}`),
    syncTerminatedPod: async () => void steps.push('terminated'),
    shorten: (_, grace) => void steps.push(`shorten ${grace}`),
    forget: () => void steps.push('forget'),
    ...options,
  })
  return { runtime, workers, phases, steps }
}

test('what arrives during a step waits as one update, the newest', async () => {
  const steps: string[] = []
  const { runtime, workers } = setup({
    async syncPod({ metadata }) {
      steps.push(`sync ${metadata.generation}`)
      await sleep(runtime.clock, 1000)
      return false
    },
  })
  workers.update({ pod: pod({ generation: 1 }), type: 'create' })
  await runtime.settle()
  for (const generation of [2, 3, 4]) workers.update({ pod: pod({ generation }), type: 'update' })
  await runtime.advance(5000)
  assert.deepEqual(steps, ['sync 1', 'sync 4'])
})

test('a sync goes by the newest status, and by the rest of what its worker was given', async () => {
  const steps: string[] = []
  const { runtime, workers } = setup({
    newest: () => pod({ generation: 2 }, { phase: 'Running' }),
    async syncPod({ metadata, status }) {
      steps.push(`${metadata.generation} ${status?.phase}`)
      return false
    },
  })
  workers.update({ pod: pod({ generation: 1 }, { phase: 'Pending' }), type: 'create' })
  await runtime.settle()
  workers.sync('u')
  await runtime.settle()
  assert.deepEqual(steps, ['1 Pending', '1 Running'])
})

test('a deleted pod is terminated, then finished, and forgotten once its object is gone', async () => {
  const { runtime, workers, phases, steps } = setup()
  workers.update({ pod: pod(), type: 'create' })
  await runtime.settle()
  const deleted = pod({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 })
  workers.update({ pod: deleted, type: 'update' })
  assert.equal(phases.couldHaveRunningContainers('u'), true)
  await runtime.settle()
  assert.equal(phases.couldHaveRunningContainers('u'), false)
  workers.remove(deleted)
  assert.deepEqual(steps, ['sync ', 'terminating 30', 'terminated', 'forget'])
  assert.equal(phases.get('u'), undefined)
})

test('a grace period only gets shorter', async () => {
  const { runtime, workers, steps } = setup({
    syncTerminatingPod: (_, grace) => {
      steps.push(`terminating ${grace}`)
      return new Promise(() => {})
    },
  })
  const deleted = (seconds: number) =>
    pod({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: seconds })
  for (const seconds of [30, 60, 5, 0]) {
    workers.update({ pod: deleted(seconds), type: 'update' })
    await runtime.settle()
  }
  assert.deepEqual(steps, ['terminating 30', 'shorten 5', 'shorten 1'])
})

test('a pod whose object goes away at once is killed before it is forgotten', async () => {
  const { runtime, workers, steps } = setup()
  workers.update({ pod: pod(), type: 'create' })
  await runtime.settle()
  workers.remove(pod())
  assert.deepEqual(steps, ['sync '])
  await runtime.settle()
  assert.deepEqual(steps, ['sync ', 'terminating undefined', 'terminated', 'forget'])
})

test('a pod that had ended before the kubelet started is left alone', async () => {
  const { runtime, workers, steps } = setup()
  workers.update({ pod: pod({}, { phase: 'Succeeded' }), type: 'create' })
  await runtime.settle()
  workers.sync('u')
  await runtime.settle()
  assert.deepEqual(steps, [])
})

test('a pod that was evicted by its status ends', async () => {
  const { runtime, workers, steps } = setup()
  workers.update({ pod: pod(), type: 'create' })
  await runtime.settle()
  workers.update({ pod: pod({}, { phase: 'Failed' }), type: 'sync' })
  await runtime.settle()
  assert.deepEqual(steps, ['sync ', 'terminating undefined', 'terminated'])
})

test('a failed step is tried again when its error says, an unknown one after 10 to 15 seconds', async () => {
  const errors = [new SyncError('soon', 500), new Error('unknown')]
  const times: number[] = []
  const { runtime, workers } = setup({
    async syncPod() {
      times.push(runtime.clock.monotonic())
      const error = errors.shift()
      if (error !== undefined) throw error
      return false
    },
  })
  workers.update({ pod: pod(), type: 'create' })
  await runtime.advance(60_000)
  assert.equal(times.length, 3)
  assert.equal(times[1]! - times[0]!, 500)
  assert.ok(times[2]! - times[1]! >= 10_000 && times[2]! - times[1]! <= 15_000)
})

test('a pod that begins to end interrupts the sync that runs', async () => {
  let aborted = false
  const { runtime, workers, steps } = setup({
    syncPod: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true
          reject(new Error('aborted'))
        })
      }),
  })
  workers.update({ pod: pod(), type: 'create' })
  await runtime.settle()
  workers.update({ pod: pod(), type: 'kill', gracePeriodSeconds: 3 })
  await runtime.settle()
  assert.ok(aborted)
  assert.deepEqual(steps, ['terminating 3', 'terminated'])
})

test('a pod is not finished until its last step has succeeded, however often that fails', async () => {
  const times: number[] = []
  const { runtime, workers, steps } = setup({
    async syncTerminatedPod() {
      times.push(runtime.clock.monotonic())
      if (times.length < 4) throw new Error('not yet')
    },
  })
  const deleted = pod({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 })
  workers.update({ pod: deleted, type: 'create' })
  await runtime.advance(100_000)
  assert.equal(times.length, 4)
  const waits = times.slice(1).map((time, at) => time - times[at]!)
  assert.ok(
    waits.every((wait) => wait >= 10_000 && wait <= 15_000),
    String(waits),
  )
  workers.remove(deleted)
  assert.deepEqual(steps, ['terminating 30', 'forget'])
})

test('a pod whose object is gone is forgotten only after its last step has succeeded', async () => {
  let failures = 1
  const { runtime, workers, steps } = setup({
    async syncTerminatedPod() {
      steps.push('terminated')
      if (failures-- > 0) throw new Error('not yet')
    },
  })
  workers.update({ pod: pod(), type: 'create' })
  await runtime.settle()
  workers.remove(pod())
  await runtime.settle()
  assert.deepEqual(steps, ['sync ', 'terminating undefined', 'terminated'])
  await runtime.advance(15_000)
  assert.deepEqual(steps, ['sync ', 'terminating undefined', 'terminated', 'terminated', 'forget'])
})

test('a look by the way comes at once, but for a pod whose last sync failed: that waits for its next try', async () => {
  const steps: string[] = []
  let fails = false
  const { runtime, workers } = setup({
    async syncPod() {
      steps.push('sync')
      if (fails) throw new SyncError('back-off', 5000)
      return false
    },
  })
  workers.update({ pod: pod(), type: 'create' })
  await runtime.settle()
  workers.look('u')
  await runtime.settle()
  assert.equal(steps.length, 2)
  fails = true
  workers.look('u')
  await runtime.settle()
  workers.look('u')
  await runtime.advance(4900)
  assert.equal(steps.length, 3)
  await runtime.advance(100)
  assert.equal(steps.length, 4)
})
