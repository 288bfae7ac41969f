/** What a real scheduler did with files of KubeSchedulerConfiguration, done again by ours: decisions, Events, conditions, attempts. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { profilesOfFile } from '../../src/components/scheduler-configuration/scheduler-settings.ts'
import { comparable, type QueueStep } from '../scheduler-queue/recording.ts'
import { replay } from '../scheduler-queue/replay.ts'
import { fileOf, readRecording } from './recording.ts'
import { scenarios } from './scenarios.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-profiles-'))
after(() => rmSync(folder, { recursive: true }))
const timed = new Set(['backoffs', 'backoffs-without-nodes'])

for (const [name, { config, steps }] of Object.entries(scenarios))
  test(`${name}: as recorded`, async () => {
    const file = join(folder, 'config.json')
    writeFileSync(file, fileOf(config))
    const form = (step: QueueStep) => comparable(step, timed.has(name))
    assert.deepEqual((await replay(steps, profilesOfFile(file))).map(form), readRecording(name).map(form))
  })
