/** All stories. How many are wholly as recorded may only rise; a known difference that no story shows any more is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KnownDifference, knownDifferences, lineOf } from './compare.ts'
import { readRecorded } from './recordings.ts'
import { readFigures } from './report.ts'
import { subjects } from './subjects.ts'
import { judgeStory } from './try-seeds.ts'

const figures = readFigures()
const shown = new Set<KnownDifference>()
let asRecorded = 0

for (const [subject, stories] of Object.entries(subjects)) {
  const recorded = readRecorded(subject)
  for (const [name, story] of Object.entries(stories))
    test(`${name}: every write, Event and object as recorded`, async () => {
      const own = recorded[name]
      assert.ok(own, 'it is not recorded')
      const { told, known } = await judgeStory(name, story, own)
      for (const one of known) shown.add(one)
      if (told.length === 0 && known.length === 0) asRecorded++
      assert.deepEqual(told.map(lineOf), [])
    })
}

test('as many stories as ever are wholly as recorded, and what is known to differ still does', () => {
  assert.ok(asRecorded >= figures.asRecorded, `${asRecorded} of ${figures.asRecorded}`)
  console.log(`${asRecorded} stories wholly as recorded (figures.json: ${figures.asRecorded})`)
  assert.deepEqual(
    knownDifferences.filter((one) => !shown.has(one)),
    [],
  )
})
