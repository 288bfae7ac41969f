/** Graphs that were deleted on a real Kubernetes, planned from what was read of it then: no fewer end as planned than before. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readPlanFigures } from '../../conformance/plans/figures.ts'
import { type Judgement, judgeBatch } from '../../conformance/plans/judge.ts'
import { readBatch } from '../../conformance/plans/recording.ts'

const directory = fileURLToPath(new URL('../../conformance/plans/recordings', import.meta.url))

test('what was recorded goes as planned', async () => {
  const all: Judgement[] = []
  for (const file of globSync(`${directory}/*.json.gz`)) all.push(...(await judgeBatch(readBatch(file))))
  const { graphs, asPlanned, withEither } = readPlanFigures()
  const right = all.filter(({ differences }) => differences.length === 0).length
  assert.equal(all.length, graphs)
  // Which races are found is chance.
  assert.ok(right >= asPlanned - withEither, `${right} of ${graphs} as planned, ${asPlanned} before`)
})
