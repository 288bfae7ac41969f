/** What a real cluster's attach/detach controller wrote, done again by ours. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRecording } from './recording.ts'
import { replay } from './replay.ts'
import { scenarios } from './scenarios.ts'

for (const [name, scenario] of Object.entries(scenarios))
  test(`${name}: every write and Event as recorded`, async () => {
    assert.deepEqual(await replay(scenario), readRecording(name))
  })
