/**
 * The same scenarios in other orders of hand-overs: wherever the seed leads, the pod comes to the recorded end, no container
 * of an ended pod runs again, and no object goes before its containers have stopped, unless it was forced.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../src/api/object.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { readRecording } from '../recording.ts'
import { recorded, seen } from './compare.ts'
import { pace, plays } from './plays.ts'
import { podOf } from './pods.ts'
import { type NodeStage, startNodeStage } from './stage.ts'

const SEEDS = 4

for (const [name, play] of Object.entries(plays)) {
  const recording = readRecording(`kubelet/${name}`)
  test(`${name}: the recorded end in every order`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const delays = seed % 2 === 0 ? pace : {}
      const stage = await startNodeStage(simulatedRuntime(seed))
      const { runtime } = stage
      await stage.run(podOf(recording.states[0]!.object, { ...delays, ...play.annotations }))
      if (play.fromDeletion) await runtime.advance(20_000)
      await play.act?.(stage)
      await runtime.advance((play.seconds + 1) * 1000)
      const ours = seen(stage)
      const theirs = recorded(recording)
      checkInvariants(stage, name)
      const last = (states: readonly unknown[]) => states[states.length - 1]
      if (!play.unsettled) assert.deepEqual(last(ours.states), last(theirs.states), `seed ${seed}`)
      if (!play.fromDeletion && !play.unsettled) assert.deepEqual(ours.events, theirs.events, `seed ${seed}`)
      await stage.stop()
    }
  })
}

function checkInvariants(stage: NodeStage, name: string): void {
  let ended = false
  for (const { type, object } of stage.states) {
    const statuses = [
      ...((object['status']?.containerStatuses ?? []) as readonly Fields[]),
      ...((object['status']?.initContainerStatuses ?? []) as readonly Fields[]),
    ]
    const running = statuses.filter(({ state }) => state.running !== undefined)
    if (ended) assert.equal(running.length, 0, `${name}: a container of an ended pod runs`)
    const { phase } = object['status'] ?? {}
    if (phase === 'Succeeded' || phase === 'Failed') ended = true
    else assert.ok(!ended, `${name}: an ended pod is ${phase}`)
    if (type === 'DELETED' && name !== 'S4-forced') assert.ok(ended, `${name}: the object went before its end`)
  }
}

test('the same seed twice gives the same trace', async () => {
  const trace = async () => {
    const runtime = simulatedRuntime(7)
    const stage = await startNodeStage(runtime)
    await stage.run(podOf(readRecording('kubelet/pod-runs').states[0]!.object, {}))
    await runtime.advance(20_000)
    await stage.ask('DELETE', '/api/v1/namespaces/t-kubelet/pods/p')
    await runtime.advance(5000)
    await stage.stop()
    return runtime.trace()
  }
  assert.equal(await trace(), await trace())
})
