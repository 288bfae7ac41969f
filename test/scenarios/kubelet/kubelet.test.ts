/**
 * What a real kubelet did, done again by ours: in the order of the recordings' causes, the pod passes through the recorded
 * states, by the recorded writes, with the recorded Events.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { readRecording } from '../recording.ts'
import { recorded, seen } from './compare.ts'
import { pace, plays } from './plays.ts'
import { podOf } from './pods.ts'
import { startNodeStage } from './stage.ts'

for (const [name, play] of Object.entries(plays)) {
  const recording = readRecording(`kubelet/${name}`)
  test(`${name}: states, writes and Events as recorded`, async () => {
    const stage = await startNodeStage(simulatedRuntime(1, { order: 'fifo' }))
    const { runtime } = stage
    await stage.run(podOf(recording.states[0]!.object, { ...pace, ...play.annotations }))
    if (play.fromDeletion) {
      await runtime.advance(20_000)
      stage.states.length = 0
      stage.writes.length = 0
      stage.events.length = 0
    }
    await play.act?.(stage)
    await runtime.advance(play.seconds * 1000)
    const ours = seen(stage)
    const theirs = recorded(recording)
    await stage.stop()
    assert.deepEqual(ours.states, theirs.states)
    assert.deepEqual(ours.writes, theirs.writes)
    assert.deepEqual(ours.tokens, theirs.tokens)
    assert.deepEqual(ours.events, theirs.events)
  })
}
