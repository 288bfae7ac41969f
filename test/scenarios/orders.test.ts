/**
 * The recorded scenarios in other orders of hand-overs than the real cluster's: the end is the same, and the writes are the
 * recorded ones, value by value, but for what exceptions.ts says; each exception occurs. What holds between times is what was recorded.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Play } from './acts.ts'
import { endOf } from './ending.ts'
import { exceptions } from './exceptions.ts'
import { perform } from './perform.ts'
import { plays } from './plays.ts'
import { readRecording } from './recording.ts'
import { contradictions, factsOf, recordedFacts } from './times.ts'
import { kindOf, partsOf, unlikeRecorded } from './variation.ts'

/** There are many brief plays. */
const seedsOf = (play: Play): readonly number[] => (play.restMs === undefined ? [1, 2, 3] : [1, 2])
const MOST_SEEDS = 40
/** Of a single play, which is brief. */
const MOST_RARE_SEEDS = 400
/** What was made use of in all scenarios. */
const used = new Set<string>()

for (const [name, play] of Object.entries(plays)) {
  // Where others taint a node while it runs, the end depends on who was on it.
  if (play.meanwhile !== undefined) continue
  test(`${name} in other orders`, async () => {
    const recording = readRecording(name)
    const resources = new Set(recording.states.map(({ resource }) => resource))
    for (const seed of seedsOf(play)) {
      const { writes, states, objects } = await perform(play, seed)
      const unlike = unlikeRecorded(recording.writes, writes, exceptions)
      for (const part of unlike.used) used.add(part)
      assert.deepEqual(unlike.told, [], `seed ${seed}`)
      assert.deepEqual(contradictions(factsOf(objects), recordedFacts), [], `times of seed ${seed}`)
      const ofInterest = states.filter(({ resource }) => resources.has(resource))
      assert.deepEqual(endOf(ofInterest), endOf(recording.states), `seed ${seed}`)
    }
  })
}

test('every exception has occurred in one of them, or does in more orders of those with such writes', async () => {
  for (const exception of exceptions) {
    const isUsed = () => partsOf(exception).every((part) => used.has(part))
    // Which order shows it changes with everything that is changed; that some order does, must not.
    const suited = Object.entries(plays).filter(
      ([name, play]) =>
        play.meanwhile === undefined &&
        (exception.rareIn === undefined
          ? readRecording(name).writes.some((write) => kindOf(write).startsWith(exception.writes))
          : exception.rareIn === name),
    )
    const most = exception.rareIn === undefined ? MOST_SEEDS : MOST_RARE_SEEDS
    for (let seed = 4; seed <= most && !isUsed(); seed++)
      for (const [name, play] of suited) {
        if (isUsed()) break
        const { writes } = await perform(play, seed)
        for (const part of unlikeRecorded(readRecording(name).writes, writes, exceptions).used) used.add(part)
      }
  }
  const left = exceptions.flatMap(partsOf).filter((part) => !used.has(part))
  assert.deepEqual(left, [])
})
