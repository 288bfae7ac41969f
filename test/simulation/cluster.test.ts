/**
 * S1 to S8 in a whole cluster: random objects, deletes, failures and restarts, in a random order of hand-overs. What must hold is
 * in cluster/laws and cluster/rest.ts, what must have been tried in cluster/happenings.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { happenings } from './cluster/happenings.ts'
import { exploreOnAllCores } from './explore.ts'

/** The share of every run; `npm run check:long` takes thousands of new ones. */
const SEEDS = 450
/** Of so many are the floors of what must happen. */
const FLOORS_OF = 1000

test('a whole cluster keeps every law under 450 seeds, and much happens in them', {
  timeout: 1_150_000,
}, async (t) => {
  const told = await exploreOnAllCores(new URL('./cluster/story.ts', import.meta.url), {
    seeds: SEEDS,
    twiceEvery: 100,
    say: (line) => t.diagnostic(line),
  })
  if (told === undefined) return
  const counts = Object.entries(happenings).map(([what, floor]) => ({
    what,
    count: told.happened.get(what) ?? 0,
    least: Math.floor((floor * told.seeds) / FLOORS_OF),
  }))
  if (told.asked) for (const { what, count } of counts) t.diagnostic(`${what}: ${count}`)
  // Of few seeds nothing can be said.
  if (told.seeds < SEEDS) return
  const seldom = counts.filter(({ count, least }) => count < least)
  assert.deepEqual(seldom, [], 'over all seeds it came to pass too seldom')
})
