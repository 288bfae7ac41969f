/**
 * npm test: every test file but the long ones (*.long.ts, which are npm run check:long's) through node:test, then what was
 * skipped and why, where it is seen. Arguments are file globs (default: all). With SKIFF_NO_SKIP=1 (CI) a skipped test fails
 * the run, unless a probe of this machine explains it (tools/testing/excuses.ts).
 */
import { globSync } from 'node:fs'
import { unexcused } from './testing/excuses.ts'
import { pieces } from './testing/pieces.ts'
import { closingLine, runTests } from './testing/run.ts'

/** Of a file: the longest takes a minute and a half on two cores, and a run has 35 minutes. */
const TIMEOUT_MS = 600_000

const globs = process.argv.slice(2)
const files = globSync(
  globs.length
    ? globs
    : [
        'src/**/*.test.ts',
        'test/**/*.test.ts',
        'conformance/**/*.test.ts',
        'interop/**/*.test.ts',
        'tools/**/*.test.ts',
      ],
)
if (files.length === 0) {
  console.error(`no test file matches ${globs.join(' ')}`)
  process.exit(2)
}
if (globs.length === 0) {
  console.log(`${files.length} test files. Left to npm run check:long:`)
  for (const { name } of pieces(1)) console.log(`  ${name}`)
}
const { results, notes, times, failures, status } = runTests(files, {}, TIMEOUT_MS)

console.log(failures === '' ? '' : `\n${failures}`)
if (notes.length > 0) console.log(notes.join('\n'))
const LONGEST_FILES = 15
console.log(
  `Longest: ${times
    .slice(0, LONGEST_FILES)
    .map(({ file, took }) => `${file} ${Math.round(took)}s`)
    .join(', ')}`,
)
const skipped = results.filter(({ state }) => state === 'skipped')
if (skipped.length > 0) {
  console.log(`Skipped, ${skipped.length}:`)
  for (const { name, reason } of skipped) console.log(`  ${name}${reason === undefined ? '' : `: ${reason}`}`)
}
console.log(closingLine(results))
if (status !== 0) process.exit(status)
if (process.env['SKIFF_NO_SKIP'] === '1' && unexcused(skipped).length > 0) {
  console.error(
    'A skipped test counts as a failure here (SKIFF_NO_SKIP=1), where no probe of this machine explains it: ' +
      unexcused(skipped)
        .map(({ name }) => name)
        .join(', '),
  )
  process.exit(1)
}
