/**
 * The long check: stories of a whole cluster under seeds that were never tried, and how often what happened in them. Exits with 1
 * when a law is broken. `node test/simulation/stories.ts` (SKIFF_FIRST, SKIFF_SEEDS: explore.ts; default: 5,000 from anywhere).
 */
import { happenings } from './cluster/happenings.ts'
import { exploreOnAllCores } from './explore.ts'

process.env['SKIFF_FIRST'] ??= 'random'
try {
  const seeds = 5000
  const happened = await exploreOnAllCores(new URL('./cluster/story.ts', import.meta.url), { seeds, twiceEvery: 500 })
  if (happened) for (const what of happenings) console.log(`${what}: ${happened.get(what) ?? 0}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
