/**
 * npm test: every test file through node:test, then what was skipped and why, where it is seen. Arguments are file globs
 * (default: all). With SKIFF_NO_SKIP=1 (CI) a skipped test fails the run.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const globs = process.argv.slice(2)
const files = globSync(
  globs.length ? globs : ['src/**/*.test.ts', 'test/**/*.test.ts', 'conformance/*.test.ts', 'tools/**/*.test.ts'],
)
if (files.length === 0) {
  console.error(`no test file matches ${globs.join(' ')}`)
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'skiff-test-'))
const report = join(folder, 'report.tap')
const result = spawnSync(
  process.execPath,
  [
    '--test',
    // Of a file: the longest takes a minute and a half on two cores.
    '--test-timeout=600000',
    '--disable-warning=ExperimentalWarning',
    // Three reporters are more listeners than Node itself thinks usual.
    '--disable-warning=MaxListenersExceededWarning',
    '--test-reporter=dot',
    '--test-reporter-destination=stdout',
    '--test-reporter=spec',
    `--test-reporter-destination=${join(folder, 'spec.txt')}`,
    '--test-reporter=tap',
    `--test-reporter-destination=${report}`,
    ...files.sort(),
  ],
  { stdio: 'inherit' },
)
const spec = readFileSync(join(folder, 'spec.txt'), 'utf8')
const tap = readFileSync(report, 'utf8')
rmSync(folder, { recursive: true, force: true })

const failed = spec.indexOf('✖ failing tests:')
console.log(failed >= 0 ? `\n${spec.slice(failed)}` : '')
const skipped = [...tap.matchAll(/^\s*ok \d+ - (.*?) # SKIP ?(.*)$/gm)]
if (skipped.length > 0) {
  console.log(`Skipped, ${skipped.length}:`)
  for (const [, name, reason] of skipped) console.log(`  ${name}${reason ? `: ${reason}` : ''}`)
}
const count = (what: string) =>
  /# (\w+) (\d+)/.test(tap) && Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0)
console.log(`${count('pass')} passed, ${count('fail')} failed, ${count('skipped')} skipped`)
if (result.status !== 0) process.exit(result.status ?? 1)
if (skipped.length > 0 && process.env['SKIFF_NO_SKIP'] === '1') {
  console.error('A skipped test counts as a failure here (SKIFF_NO_SKIP=1).')
  process.exit(1)
}
