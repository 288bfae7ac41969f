/** What a real scheduler's queue did, done again by ours on the simulated clock: every attempt, why it was made, and what was written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparable, type QueueStep, readRecording } from './recording.ts'
import { replay } from './replay.ts'
import { scenarios, slowScenarios } from './scenarios.ts'

/** Their steps are well apart from the ends of backoffs. */
const timed = new Set(['no-nodes', 'backoff'])

for (const [name, scenario] of Object.entries({ ...scenarios, ...slowScenarios }))
  test(`${name}: attempts, queues and writes as recorded`, async () => {
    const form = (step: QueueStep) => comparable(step, timed.has(name))
    assert.deepEqual((await replay(scenario)).map(form), readRecording(name).map(form))
  })
