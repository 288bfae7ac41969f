/**
 * S1 to S8 in a whole cluster: random objects, deletes, failures and restarts, in a random order of hand-overs. What must hold is
 * in cluster/laws and cluster/rest.ts, what must have been tried in cluster/happenings.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { happenings } from './cluster/happenings.ts'
import { exploreOnAllCores } from './explore.ts'

const SEEDS = 1000

test('a whole cluster keeps every law under a thousand seeds, and much happens in them', {
  timeout: 900_000,
}, async () => {
  const happened = await exploreOnAllCores(new URL('./cluster/story.ts', import.meta.url), {
    seeds: SEEDS,
    twiceEvery: 100,
  })
  // Other seeds have no such duty.
  if (happened === undefined || process.env['SKIFF_FIRST'] !== undefined || process.env['SKIFF_SEEDS'] !== undefined)
    return
  const never = happenings.filter((what) => !happened.has(what))
  assert.deepEqual(never, [], 'over all seeds it never came to pass')
})
