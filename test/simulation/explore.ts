/**
 * The core of simulation tests: run something under many seeds, some of them twice, and name the seeds that broke it.
 * SKIFF_SEED=N runs that one alone with its log; SKIFF_SEEDS=N changes how many are tried, SKIFF_FIRST=N where they begin
 * (SKIFF_FIRST=random: somewhere, and it says where).
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import {
  type SimulatedRuntime,
  type SimulatedRuntimeOptions,
  simulatedRuntime,
} from '../../src/base/simulated-runtime.ts'

export interface ExploreOptions extends Omit<SimulatedRuntimeOptions, 'log'> {
  /** How many seeds. Default 1,000. */
  readonly seeds?: number
  /** The first. Default 1. */
  readonly first?: number
  /** Every so many seeds the run is made twice and must leave the same trace. Default 100. */
  readonly twiceEvery?: number
  /** Is told, of seeds that were asked for, which they are and how far the run is. Default: standard error. */
  readonly say?: (line: string) => void
}

/** How often something that makes a story worth telling came to pass, by name. */
export type Happenings = ReadonlyMap<string, number>

/** Gives what happened in it, if it counts that. */
// biome-ignore lint/suspicious/noConfusingVoidType: a story that counts nothing returns nothing
export type Story = (runtime: SimulatedRuntime) => Promise<Happenings | void>

/** What one worker runs: of `seeds` seeds from `first` each `step`-th, beginning with number `offset`. */
export interface Share extends Omit<ExploreOptions, 'say'> {
  readonly seeds: number
  readonly first: number
  readonly step: number
  readonly offset: number
}

/** So many broken seeds tell enough. */
const MOST_BROKEN = 5
/** Of a run that was asked for, it is told how far it is after so many seeds of a worker. */
const TELL_EVERY = 250

export interface Told {
  readonly happened: Happenings
  readonly seeds: number
  /** Which or how many was asked for, by the environment. */
  readonly asked: boolean
}

/** Runs `body` under each seed. @throws Error that names every seed that broke it (at most 5), with its reason */
export async function explore(body: Story, options: ExploreOptions = {}): Promise<void> {
  if (await runAlone(body, options)) return
  const broken: string[] = []
  await runShare(body, { ...rangeOf(options), step: 1, offset: 0 }, { broken: (reason) => broken.push(reason) })
  report(broken)
}

/**
 * The same on all cores: `story` is a module that exports it as `tell`. Seeds are dealt out in turn.
 * @returns undefined when one seed was run alone
 * @throws Error as `explore`
 */
export async function exploreOnAllCores(story: URL, options: ExploreOptions = {}): Promise<Told | undefined> {
  const { tell } = (await import(story.href)) as { tell: Story }
  if (await runAlone(tell, options)) return undefined
  const { say = toStandardError, ...range } = rangeOf(options)
  const step = Math.max(1, Math.min(4, availableParallelism()))
  const happened = new Map<string, number>()
  const broken: string[] = []
  const reached = Array.from({ length: step }, () => range.first)
  await Promise.all(
    reached.map((_, offset) =>
      runInWorker(story, { ...range, step, offset }, (message) => {
        if (message.happened) for (const [what, count] of message.happened) add(happened, what, count)
        if (message.broken !== undefined) broken.push(message.broken)
        if (message.reached !== undefined) {
          const before = Math.min(...reached)
          reached[offset] = message.reached
          if (Math.min(...reached) > before) tellReached(range, Math.min(...reached), say)
        }
      }),
    ),
  )
  report(broken)
  return { happened, seeds: range.seeds, asked: isAsked() }
}

export interface Message {
  readonly happened?: Happenings
  readonly broken?: string
  readonly reached?: number
}

function runInWorker(story: URL, share: Share, heard: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./explore-share.ts', import.meta.url), {
      workerData: { story: story.href, share },
    })
    worker.on('message', heard)
    worker.once('error', reject)
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with code ${code}`))))
  })
}

async function runAlone(body: Story, options: ExploreOptions): Promise<boolean> {
  const only = process.env['SKIFF_SEED']
  if (only === undefined) return false
  const log = { level: 6, write: (line: string) => process.stderr.write(`${line}\n`) }
  await body(simulatedRuntime(Number(only), { ...options, log }))
  return true
}

const isAsked = (): boolean => process.env['SKIFF_FIRST'] !== undefined || process.env['SKIFF_SEEDS'] !== undefined

function rangeOf(options: ExploreOptions): ExploreOptions & { readonly first: number; readonly seeds: number } {
  const asked = process.env['SKIFF_FIRST']
  const first = asked === 'random' ? randomInt(1_000_000, 1_000_000_000) : Number(asked ?? options.first ?? 1)
  const seeds = Number(process.env['SKIFF_SEEDS'] ?? options.seeds ?? 1000)
  assert.ok(Number.isSafeInteger(first) && first >= 0, `SKIFF_FIRST is a seed or "random", not ${asked}`)
  assert.ok(Number.isSafeInteger(seeds) && seeds > 0, `SKIFF_SEEDS is a number of seeds, not ${seeds}`)
  const { say = toStandardError } = options
  if (isAsked())
    say(`seeds ${first} to ${first + seeds - 1} (SKIFF_FIRST=${first} SKIFF_SEEDS=${seeds} runs them again)`)
  return { ...options, first, seeds }
}

function tellReached(
  { first, seeds }: Pick<Share, 'first' | 'seeds'>,
  reached: number,
  say: (line: string) => void,
): void {
  const left = first + seeds - reached
  if (isAsked() && reached > first && left > 0)
    say(`told up to seed ${reached - 1} (SKIFF_FIRST=${reached} SKIFF_SEEDS=${left} goes on from there)`)
}

const toStandardError = (line: string): void => void process.stderr.write(`${line}\n`)

/** Runs each seed of the share until too many broke. */
export async function runShare(
  body: Story,
  share: Share,
  tell: {
    broken(reason: string): void
    happened?(happenings: Happenings): void
    /** Every seed of the share before this one is done. */
    reached?(seed: number): void
  },
): Promise<void> {
  const { twiceEvery = 100, first, seeds, step, offset } = share
  let broken = 0
  let told = 0
  for (let seed = first + offset; seed < first + seeds && broken < MOST_BROKEN; seed += step) {
    try {
      const { trace, happened } = await run(body, seed, share)
      if (happened) tell.happened?.(happened)
      if (Math.floor((seed - first) / step) % Math.ceil(twiceEvery / step) === 0)
        assert.equal((await run(body, seed, share)).trace, trace, 'the same seed twice gives the same trace')
    } catch (error) {
      const reason = error instanceof Error ? (error.name === 'Error' ? error.message : error.stack) : String(error)
      tell.broken(`seed ${seed} (SKIFF_SEED=${seed} runs it alone): ${reason}`)
      broken++
    }
    if (++told % TELL_EVERY === 0) tell.reached?.(seed + step)
  }
  tell.reached?.(first + seeds)
}

function report(broken: readonly string[]): void {
  if (broken.length > 0) throw new Error(broken.join('\n'))
}

async function run(body: Story, seed: number, options: SimulatedRuntimeOptions) {
  const runtime = simulatedRuntime(seed, options)
  const happened = await body(runtime)
  return { trace: runtime.trace(), happened: happened ?? undefined }
}

export function add(counts: Map<string, number>, what: string, count = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + count)
}
