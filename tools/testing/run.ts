/** Runs test files through node:test in a process of their own and gives what became of each test. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Result {
  /** Its file, from the top of the checkout. */
  readonly file: string
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped'
  readonly seconds: number
  /** Of what is skipped: why. */
  readonly reason?: string
}

/** What the reporter writes, a line each. */
export type Reported = Result | { readonly note: string } | FileTime

/** How long a whole test file took, with its start. */
export interface FileTime {
  readonly file: string
  readonly took: number
}

export interface Run {
  readonly results: readonly Result[]
  /** What tests say by the way (`t.diagnostic`): which seeds they took, what happened in them. */
  readonly notes: readonly string[]
  /** The longest first. */
  readonly times: readonly FileTime[]
  /** What the tests that failed said; empty when none did. */
  readonly failures: string
  /** Exit code of node:test: not 0 when a test failed, or when a file could not be run at all. */
  readonly status: number
}

const REPORTER = fileURLToPath(new URL('reporter.ts', import.meta.url))

/** `env` is added to the environment; a file that takes longer than `timeoutMs` has failed. A dot for each test is printed meanwhile. */
export function runTests(files: readonly string[], env: Readonly<Record<string, string>>, timeoutMs: number): Run {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-test-'))
  const lines = join(folder, 'results.jsonl')
  const spec = join(folder, 'spec.txt')
  const arguments_ = [
    '--test',
    `--test-timeout=${timeoutMs}`,
    `--test-concurrency=${availableParallelism()}`,
    '--disable-warning=ExperimentalWarning',
    // Three reporters are more listeners than Node itself thinks usual.
    '--disable-warning=MaxListenersExceededWarning',
    '--test-reporter=dot',
    '--test-reporter-destination=stdout',
    '--test-reporter=spec',
    `--test-reporter-destination=${spec}`,
    `--test-reporter=${REPORTER}`,
    `--test-reporter-destination=${lines}`,
    ...files.toSorted(),
  ]
  try {
    // Each file runs in a process of its own: what one has compiled of the sources the others read, which halves their processor time.
    const compiled = files.length > 1 ? { NODE_COMPILE_CACHE: join(folder, 'compiled') } : {}
    const ended = spawnSync(process.execPath, arguments_, {
      stdio: 'inherit',
      env: { ...compiled, ...process.env, ...env },
    })
    const said = readFileSync(spec, 'utf8')
    const failed = said.indexOf('✖ failing tests:')
    const reported = parseReported(readFileSync(lines, 'utf8'))
    return {
      results: reported.filter((line) => 'state' in line),
      times: reported.filter((line) => 'took' in line).sort((a, b) => b.took - a.took),
      notes: reported.flatMap((line) => ('note' in line ? line.note : [])),
      failures: failed >= 0 ? said.slice(failed) : '',
      status: ended.status ?? 1,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const parseReported = (text: string): Reported[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Reported)

export const counted = (results: readonly Result[], state: Result['state']): number =>
  results.filter((result) => result.state === state).length

/** The closing line: `12 passed, 0 failed, 1 skipped`. */
export const closingLine = (results: readonly Result[]): string =>
  `${counted(results, 'passed')} passed, ${counted(results, 'failed')} failed, ${counted(results, 'skipped')} skipped`
