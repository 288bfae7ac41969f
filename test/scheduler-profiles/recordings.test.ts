/** What a real scheduler did with files of KubeSchedulerConfiguration, done again by ours: decisions, Events, conditions, attempts. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { profilesOfFile } from '../../src/components/scheduler-configuration/scheduler-settings.ts'
import { comparable } from '../scheduler-queue/recording.ts'
import { replay } from '../scheduler-queue/replay.ts'
import { askedIn, fileOf, type ProfileStep, readRecording } from './recording.ts'
import { scenarios } from './scenarios.ts'
import { createStub } from './stub-extender.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-profiles-'))
after(() => rmSync(folder, { recursive: true }))
const timed = new Set(['backoffs', 'backoffs-without-nodes'])

for (const [name, { config, steps, rules = {} }] of Object.entries(scenarios))
  test(`${name}: as recorded`, async () => {
    const file = join(folder, 'config.json')
    writeFileSync(file, fileOf(config))
    const stub = createStub(rules)
    const played = await replay(steps, {
      ...profilesOfFile(file),
      extenderOf: (settings) => ({
        settings,
        post: async (url, body) => stub.answer(new URL(url).pathname, body),
      }),
      ended: (neutral) => askedIn(stub.taken(), neutral),
    })
    const form = (step: ProfileStep) => comparable(step, timed.has(name))
    assert.deepEqual(played.map(form), readRecording(name).map(form))
  })
