/**
 * npm run check:long: everything that is too long for CI, piece by piece. Each test's result is kept in .long/COMMIT.json as
 * soon as its piece has ended, so a run that is interrupted goes on where it was. Exit code 1 when a test failed.
 *
 *   npm run check:long                     what has not passed yet at this commit
 *   npm run check:long -- --only faults    pieces whose name holds this
 *   npm run check:long -- --again          also what has passed
 *   npm run check:long -- --list           the pieces, and what became of them
 *   npm run check:long -- --report         the figures, as docs/status.md gives them
 */
import { randomInt } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { currentCommit } from './testing/commit.ts'
import { type Piece, pieces } from './testing/pieces.ts'
import { closingLine, counted, type Result, runTests } from './testing/run.ts'

/** The longest of them build what they test from source. */
const TIMEOUT_MS = 3_600_000

interface Ended {
  readonly state: 'passed' | 'failed'
  /** When it ended, RFC 3339. */
  readonly at: string
  readonly seconds: number
  readonly results: readonly Result[]
}

interface Kept {
  readonly commit: string
  /** Where this commit's new seeds begin: drawn once, so that a run that goes on has the same ones. */
  readonly firstSeed: number
  readonly pieces: Readonly<Record<string, Ended>>
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
})

const commit = currentCommit()
const file = `.long/${commit}.json`
let kept = readKept()
const all = pieces(kept.firstSeed)

if (values.list) for (const piece of all) console.log(`${stateOf(piece).padEnd(8)} ${piece.name}`)
else if (values.report) report()
else runAll()

function runAll(): void {
  const chosen = all.filter(({ name }) => values.only === undefined || name.includes(values.only))
  if (chosen.length === 0) {
    console.error(`no piece's name holds ${values.only}: --list names them`)
    process.exit(2)
  }
  const due = chosen.filter((piece) => values.again || stateOf(piece) !== 'passed')
  console.log(
    `commit ${commit}, seeds from ${kept.firstSeed}: ${due.length} of ${chosen.length} pieces to run (${file})`,
  )
  for (const piece of due) {
    console.log(`\n== ${piece.name}`)
    const begin = performance.now()
    const { results, notes, failures, status } = runTests(piece.files, piece.env, TIMEOUT_MS)
    const seconds = Math.round((performance.now() - begin) / 100) / 10
    const state = status === 0 && counted(results, 'passed') > 0 ? 'passed' : 'failed'
    keep(piece.name, { state, at: new Date().toISOString(), seconds, results })
    if (notes.length > 0) console.log(`\n${notes.join('\n')}`)
    console.log(`${failures === '' ? '' : `\n${failures}`}\n${piece.name}: ${closingLine(results)} in ${seconds} s`)
  }
  report()
  if (chosen.some((piece) => stateOf(piece) !== 'passed')) process.exit(1)
}

function report(): void {
  const ended = all.flatMap(({ name }) => kept.pieces[name] ?? [])
  const last = ended
    .map(({ at }) => at)
    .sort()
    .at(-1)
  const open = all.length - ended.length
  console.log(`\ncommit ${commit}, ${last?.slice(0, 10) ?? 'never run'}, seeds from ${kept.firstSeed}:`)
  for (const piece of all) {
    const one = kept.pieces[piece.name]
    console.log(`  ${piece.name}: ${one === undefined ? 'not run' : `${closingLine(one.results)} in ${one.seconds} s`}`)
    for (const { name, state, reason } of one?.results ?? [])
      if (state !== 'passed') console.log(`    ${state}: ${name}${reason === undefined ? '' : `: ${reason}`}`)
  }
  if (open > 0) console.log(`${open} of ${all.length} pieces have not been run at this commit`)
  console.log(closingLine(ended.flatMap(({ results }) => results)))
}

function stateOf({ name }: Piece): string {
  return kept.pieces[name]?.state ?? 'not run'
}

function readKept(): Kept {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return { commit, firstSeed: randomInt(10_000, 1_000_000_000), pieces: {} }
  }
  return JSON.parse(text) as Kept
}

function keep(name: string, ended: Ended): void {
  kept = { ...kept, pieces: { ...kept.pieces, [name]: ended } }
  mkdirSync('.long', { recursive: true })
  // Whole or not at all: what is half written when the run is interrupted would be lost, and all before it.
  writeFileSync(`${file}.new`, `${JSON.stringify(kept, undefined, 1)}\n`)
  renameSync(`${file}.new`, file)
}
