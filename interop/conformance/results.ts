/** What became of each test, kept as a run goes on in .long/COMMIT.kubernetes.json (of another cluster: with its name), and told at the end. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { currentCommit } from '../../tools/testing/commit.ts'

export interface TestResult {
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped'
  readonly seconds: number
  /** Of one that did not pass: the first lines of why. */
  readonly reason?: string
  /** At which it was run; of one that is kept. */
  readonly commit?: string
}

export interface Results {
  readonly file: string
  get(name: string): TestResult | undefined
  all(): readonly TestResult[]
  /** Written whole or not at all, so that an interrupted run loses only what was under way. */
  keep(results: readonly TestResult[]): void
}

/** `cluster` names another cluster than skiff's own of this checkout. */
export function resultsOf(cluster: string | undefined): Results {
  const commit = currentCommit()
  const file = `.long/${commit}.kubernetes${cluster === undefined ? '' : `.${cluster}`}.json`
  const kept = new Map(readResults(file).map((result) => [result.name, result]))
  return {
    file,
    get: (name) => kept.get(name),
    all: () => [...kept.values()],
    keep(results) {
      for (const result of results) kept.set(result.name, { ...result, commit })
      mkdirSync('.long', { recursive: true })
      writeFileSync(`${file}.new`, `${JSON.stringify([...kept.values()], undefined, 1)}\n`)
      renameSync(`${file}.new`, file)
    },
  }
}

/** None where there is no such file. */
export function readResults(file: string): readonly TestResult[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return JSON.parse(text) as readonly TestResult[]
}

/** The group that answers for a test: `sig-node` of `[sig-node] Pods …`. */
export const groupOf = (name: string): string => /^\[([^\]]+)\]/.exec(name)?.[1] ?? 'none'

/** A line for each group, what failed and why, and the sum. */
export function summary(results: readonly TestResult[]): string {
  const groups = [...new Set(results.map(({ name }) => groupOf(name)))].toSorted()
  const row = (name: string, of: readonly TestResult[]) => {
    const count = (state: TestResult['state']) => of.filter((result) => result.state === state).length
    const seconds = of.reduce((sum, result) => sum + result.seconds, 0)
    const cells = [count('passed'), count('failed'), count('skipped'), Math.round(seconds)]
    return `${name.padEnd(24)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
  }
  const failed = results.filter(({ state }) => state === 'failed')
  return [
    `${'group'.padEnd(24)}${['passed', 'failed', 'skipped', 'seconds'].map((word) => word.padStart(9)).join('')}`,
    ...groups.map((group) =>
      row(
        group,
        results.filter(({ name }) => groupOf(name) === group),
      ),
    ),
    row('all', results),
    ...failed.map(({ name, reason }) => `failed: ${name}\n    ${(reason ?? '').replaceAll('\n', '\n    ')}`),
  ].join('\n')
}
