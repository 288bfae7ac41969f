/** What became of the whole suite, as docs/conformance.md tells it: figures.json. */
import { readFileSync } from 'node:fs'
import { groupOf, type TestResult } from './results.ts'

export interface GroupFigures {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly notRun: number
}

export interface Figures {
  /** Of the last one. */
  readonly date: string
  /** How many tests were run at each. */
  readonly commits: Readonly<Record<string, number>>
  readonly groups: Readonly<Record<string, GroupFigures>>
  readonly failed: readonly { readonly name: string; readonly cause: string }[]
  readonly skipped: readonly string[]
  readonly notRun: readonly string[]
}

export const figuresFile = new URL('figures.json', import.meta.url)
const UNKNOWN = 'not looked into yet'

export const readFigures = (): Figures => JSON.parse(readFileSync(figuresFile, 'utf8')) as Figures

/** `names`: all there are. `causes`: of failures, by name. */
export function figuresOf(
  names: readonly string[],
  known: readonly TestResult[],
  causes: Readonly<Record<string, string>>,
): Figures {
  const byName = new Map(known.map((result) => [result.name, result]))
  const notRun = names.filter((name) => !byName.has(name))
  const groups = Object.groupBy(names, groupOf)
  const commits = Object.groupBy(known, ({ commit }) => commit ?? 'unknown')
  return {
    date: new Date().toISOString().slice(0, 10),
    commits: Object.fromEntries(Object.entries(commits).map(([commit, of]) => [commit, of?.length ?? 0])),
    groups: Object.fromEntries(
      Object.entries(groups)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([group, own = []]) => {
          const count = (state: TestResult['state']) => own.filter((name) => byName.get(name)?.state === state).length
          const left = own.filter((name) => !byName.has(name)).length
          return [group, { passed: count('passed'), failed: count('failed'), skipped: count('skipped'), notRun: left }]
        }),
    ),
    failed: known
      .filter(({ state }) => state === 'failed')
      .map(({ name }) => ({ name, cause: causes[name] ?? UNKNOWN })),
    skipped: known.filter(({ state }) => state === 'skipped').map(({ name }) => name),
    notRun,
  }
}
