/**
 * The recorded scenarios on the manual clock, whose hand-overs are the event loop's own: time moves only when it is told to, and the
 * end, the writes and what holds between times are what was recorded.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '../../src/base/clock.ts'
import { manualRuntime } from '../../src/base/manual-clock-runtime.ts'
import { endOf } from './ending.ts'
import { exceptions } from './exceptions.ts'
import { performIn } from './perform.ts'
import { plays } from './plays.ts'
import { readRecording } from './recording.ts'
import type { StageRuntime } from './stage.ts'
import { contradictions, factsOf, recordedFacts } from './times.ts'
import { unlikeRecorded } from './variation.ts'

const LONGEST_MS = 86_400_000
/** In the event loop's own order a write is said again here, by several workers at once; their end is the recorded one. */
const SAID_AGAIN: ReadonlySet<string> = new Set(['daemonset', 'daemonset-adopts', 'statefulset-claims-deleted'])

function stageRuntime(): StageRuntime & { stop(): void } {
  const runtime = manualRuntime({ startMs: Date.UTC(2026, 0, 1), log: { write() {} } })
  const { manual } = runtime
  let isCompleting = false
  return {
    ...runtime,
    stop: manual.stop,
    // Within what is completed time passes already.
    advance: (ms) => (isCompleting ? sleep(runtime.clock, ms) : manual.advance(ms)),
    async complete(promise) {
      isCompleting = true
      let isOver = false
      const over = () => {
        isOver = true
      }
      promise.then(over, over)
      assert.ok(await manual.runUntil(() => isOver, LONGEST_MS), 'it goes on for longer than a day')
      isCompleting = false
      return promise
    },
  }
}

for (const [name, play] of Object.entries(plays)) {
  // Where others taint a node while it runs, the end depends on the pods that were on it.
  if (play.meanwhile !== undefined) continue
  test(`${name} on a clock that is moved`, async () => {
    const recording = readRecording(name)
    const resources = new Set(recording.states.map(({ resource }) => resource))
    const runtime = stageRuntime()
    const { writes, states, objects } = await performIn(play, runtime)
    runtime.stop()
    if (!SAID_AGAIN.has(name)) assert.deepEqual(unlikeRecorded(recording.writes, writes, exceptions).told, [])
    assert.deepEqual(contradictions(factsOf(objects), recordedFacts), [])
    const ofInterest = states.filter(({ resource }) => resources.has(resource))
    assert.deepEqual(endOf(ofInterest), endOf(recording.states))
  })
}
