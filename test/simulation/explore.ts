/**
 * The core of simulation tests: run something under many seeds, some of them twice, and name the seeds that broke it.
 * SKIFF_SEED=N runs that one alone with its log; SKIFF_SEEDS=N changes how many are tried, SKIFF_FIRST=N where they begin.
 */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type SimulatedRuntime, type SimulationOptions, simulatedRuntime } from '../../src/base/simulated.ts'

export interface ExploreOptions extends Omit<SimulationOptions, 'log'> {
  /** How many seeds. Default 1,000. */
  readonly seeds?: number
  /** The first. Default 1. */
  readonly first?: number
  /** Every how many-th of them. Default 1. */
  readonly step?: number
  /** Every so many seeds the run is made twice and must leave the same trace. Default 100. */
  readonly twiceEvery?: number
}

export type Story = (runtime: SimulatedRuntime) => Promise<void>

/** So many broken seeds tell enough. */
const MOST_BROKEN = 5

/** Runs `body` under each seed. @throws Error that names every seed that broke it (at most 5), with its reason */
export async function explore(body: Story, options: ExploreOptions = {}): Promise<void> {
  if (await runAlone(body, options)) return
  report(await brokenSeeds(body, options))
}

/**
 * The same on all cores: `story` is a module that exports it as `tell`. Seeds are dealt out in turn.
 * @throws Error as `explore`
 */
export async function exploreOnAllCores(story: URL, options: ExploreOptions = {}): Promise<void> {
  const { tell } = (await import(story.href)) as { tell: Story }
  if (await runAlone(tell, options)) return
  const workers = Math.max(1, Math.min(4, availableParallelism()))
  const shares = Array.from({ length: workers }, (_, index) => {
    const first = Number(process.env['SKIFF_FIRST'] ?? options.first ?? 1) + index
    const share: ExploreOptions = { ...options, first, step: workers }
    return shareOf(story, share)
  })
  report((await Promise.all(shares)).flat())
}

function shareOf(story: URL, options: ExploreOptions): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./explore-share.ts', import.meta.url), {
      workerData: { story: story.href, options },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`a worker ended with code ${code}`)))
  })
}

async function runAlone(body: Story, options: ExploreOptions): Promise<boolean> {
  const only = process.env['SKIFF_SEED']
  if (only === undefined) return false
  const log = { level: 6, write: (line: string) => process.stderr.write(`${line}\n`) }
  await body(simulatedRuntime(Number(only), { ...options, log }))
  return true
}

/** What broke, each with its seed in front. */
export async function brokenSeeds(body: Story, options: ExploreOptions): Promise<readonly string[]> {
  const { twiceEvery = 100, first = Number(process.env['SKIFF_FIRST'] ?? 1), step = 1 } = options
  const seeds = Number(process.env['SKIFF_SEEDS'] ?? options.seeds ?? 1000)
  const broken: string[] = []
  const start = first - ((first - 1) % step)
  for (let seed = first; seed < start + seeds && broken.length < MOST_BROKEN; seed += step) {
    try {
      const trace = await traceOf(body, seed, options)
      if (seed % twiceEvery < step)
        assert.equal(await traceOf(body, seed, options), trace, 'the same seed twice gives the same trace')
    } catch (error) {
      const reason = error instanceof Error ? (error.name === 'Error' ? error.message : error.stack) : String(error)
      broken.push(`seed ${seed} (SKIFF_SEED=${seed} runs it alone): ${reason}`)
    }
  }
  return broken
}

function report(broken: readonly string[]): void {
  if (broken.length > 0) throw new Error(broken.join('\n'))
}

async function traceOf(body: Story, seed: number, options: ExploreOptions): Promise<string> {
  const runtime = simulatedRuntime(seed, options)
  await body(runtime)
  return runtime.trace()
}
