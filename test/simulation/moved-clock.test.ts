/**
 * The same random stories of a whole cluster as in cluster.test.ts, on the clock that users move (docs/clock.md): advances of random
 * lengths break none of the laws. CI tells a share of the thousand, check:long all of them and others.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADVANCES } from './cluster/moved-story.ts'
import { exploreOnAllCores } from './explore.ts'

const WHOLE = 1000
const SHARE = 40

test(`a whole cluster keeps every law on a clock that is moved by random lengths (${SHARE} of ${WHOLE} seeds in CI)`, {
  timeout: 900_000,
}, async (t) => {
  const told = await exploreOnAllCores(new URL('./cluster/moved-story.ts', import.meta.url), {
    seeds: SHARE,
    twiceEvery: Number.POSITIVE_INFINITY,
    say: (line) => t.diagnostic(line),
  })
  if (told === undefined) return
  const moved = told.happened.get(ADVANCES) ?? 0
  t.diagnostic(`${told.seeds} of ${WHOLE} seeds, ${moved} advances`)
  assert.ok(moved >= told.seeds * 8, 'time was hardly ever moved')
})
