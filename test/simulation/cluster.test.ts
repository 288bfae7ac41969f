/**
 * S1 to S8 in a whole cluster: random objects, deletes, failures and restarts, in a random order of hand-overs. What must hold is
 * in cluster/laws and cluster/rest.ts.
 */
import { test } from 'node:test'
import { exploreOnAllCores } from './explore.ts'

test('a whole cluster keeps every law under a thousand seeds', { timeout: 900_000 }, () =>
  exploreOnAllCores(new URL('./cluster/story.ts', import.meta.url), { seeds: 1000, twiceEvery: 100 }),
)
