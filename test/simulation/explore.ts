/**
 * The core of simulation tests: run something under many seeds, each twice when asked, and name the seed that broke it.
 * SKIFF_SEED=N runs that one alone with its log; SKIFF_SEEDS=N changes how many are tried.
 */
import assert from 'node:assert/strict'
import { type SimulatedRuntime, type SimulationOptions, simulatedRuntime } from '../../src/base/simulated.ts'

export interface ExploreOptions extends Omit<SimulationOptions, 'log'> {
  /** How many seeds. Default 1,000. */
  readonly seeds?: number
  /** Every so many seeds the run is made twice and must leave the same trace. Default 100. */
  readonly twiceEvery?: number
}

/** Runs `body` under each seed. @throws the body's error with the seed that brought it about in front */
export async function explore(
  body: (runtime: SimulatedRuntime) => Promise<void>,
  options: ExploreOptions = {},
): Promise<void> {
  const only = process.env['SKIFF_SEED']
  if (only !== undefined) {
    const log = { level: 6, write: (line: string) => process.stderr.write(`${line}\n`) }
    await body(simulatedRuntime(Number(only), { ...options, log }))
    return
  }
  const { twiceEvery = 100 } = options
  const seeds = Number(process.env['SKIFF_SEEDS'] ?? options.seeds ?? 1000)
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      const trace = await traceOf(body, seed, options)
      if (seed % twiceEvery === 1) {
        assert.equal(await traceOf(body, seed, options), trace, 'the same seed twice gives the same trace')
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`seed ${seed} (SKIFF_SEED=${seed} runs it alone): ${reason}`, { cause: error })
    }
  }
}

async function traceOf(
  body: (runtime: SimulatedRuntime) => Promise<void>,
  seed: number,
  options: ExploreOptions,
): Promise<string> {
  const runtime = simulatedRuntime(seed, options)
  await body(runtime)
  return runtime.trace()
}
