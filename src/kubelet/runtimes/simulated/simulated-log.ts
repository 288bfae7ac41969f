/**
 * What a simulated container's command has printed until a moment: a pure function of the command and of when the container started and
 * ended. Lines are numbered, and only those that are asked for are made: a loop that has run for days costs no more than its one round.
 */
import type { PrintedLine, PrintedLog, PrintedQuery } from '../../logs/printed-log.ts'
import type { RuntimeContainerStatus } from '../runtime.ts'
import type { Output, PlainCommand } from './container-command.ts'

/** The last are kept, as in a log file that is turned over. */
export const MOST_LINES = 10_000
/** Characters of a line whose end was never printed. */
const LONGEST_REST = 64 * 1024
const STREAMS = ['stdout', 'stderr'] as const

/** What is printed, in the container's own time. */
export type Told = Pick<PlainCommand, 'output' | 'loop'>

export type Lived = Pick<RuntimeContainerStatus, 'state' | 'startedAt' | 'finishedAt'>

/** The lines of what is told, each by the output that ends it. */
interface Laid {
  readonly first: readonly Output[]
  /** Of the loop's first round, which begins with what was left before it, and of each one after it. */
  readonly begun: readonly Output[]
  readonly round: readonly Output[]
}

const laid = new WeakMap<Told, Laid>()

function lay(told: Told): Laid {
  const known = laid.get(told)
  if (known !== undefined) return known
  const { output, loop } = told
  const rest = { stdout: '', stderr: '' }
  const lines = (outputs: readonly Output[] = []): readonly Output[] =>
    outputs.flatMap(({ afterMs, stream, text }) => {
      const parts = (rest[stream] + text).split('\n')
      rest[stream] = parts.pop() as string
      return parts.map((part) => ({ afterMs, stream, text: part }))
    })
  const made = { first: lines(output), begun: lines(loop?.output), round: lines(loop?.output) }
  laid.set(told, made)
  return made
}

/** Those of them that are printed after so long; they are in the order of their times. */
function countUntil(lines: readonly Output[], ageMs: number): number {
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle] as Output).afterMs <= ageMs) low = middle + 1
    else high = middle
  }
  return low
}

function linesUntil(told: Told, ageMs: number): number {
  const { first, round } = lay(told)
  const { loop } = told
  if (loop === undefined || ageMs < loop.beginsAfterMs) return countUntil(first, ageMs)
  const whole = Math.floor((ageMs - loop.beginsAfterMs) / loop.everyMs)
  return first.length + whole * round.length + countUntil(round, ageMs - loop.beginsAfterMs - whole * loop.everyMs)
}

/** undefined: there never is one of this number. */
function lineOf(told: Told, number: number): Output | undefined {
  const { first, begun, round } = lay(told)
  const { loop } = told
  if (number < first.length || loop === undefined || round.length === 0) return first[number]
  const before = Math.floor((number - first.length) / round.length)
  const line = (before === 0 ? begun : round)[(number - first.length) % round.length] as Output
  return { ...line, afterMs: loop.beginsAfterMs + before * loop.everyMs + line.afterMs }
}

/** The lines until now, or until it ended. */
export function toldLog(told: Told, lived: Lived, now: number, { from, tail }: PrintedQuery = {}): PrintedLog {
  const { state, startedAt, finishedAt } = lived
  const running = state !== 'exited'
  const until = running ? now : finishedAt
  const ageMs = until - startedAt
  if (startedAt === 0 || ageMs < 0) return { lines: [], next: from ?? { line: 0, offset: 0, file: 0 }, running }
  const complete = linesUntil(told, ageMs)
  // What has no end of its line yet is a line once nothing more can come.
  const rests: readonly PrintedLine[] = running
    ? []
    : STREAMS.map((stream) => ({ at: until, stream, text: restOf(told, stream, ageMs) })).filter(
        ({ text }) => text !== '',
      )
  const end = complete + rests.length
  const wanted = from?.line ?? (tail === undefined ? 0 : end - tail)
  function* lines(): Generator<PrintedLine> {
    for (let number = Math.max(0, wanted, end - MOST_LINES); number < end; number++) {
      const line = number < complete ? lineOf(told, number) : undefined
      if (line !== undefined) yield { at: startedAt + line.afterMs, stream: line.stream, text: line.text }
      else yield rests[number - complete] as PrintedLine
    }
  }
  return { lines: lines(), next: { line: Math.max(end, from?.line ?? 0), offset: 0, file: 0 }, running }
}

/** What is left of a stream behind its last line. */
function restOf({ output, loop }: Told, stream: Output['stream'], ageMs: number): string {
  const textOf = (outputs: readonly Output[], untilMs: number) =>
    outputs
      .filter((one) => one.stream === stream && one.afterMs <= untilMs)
      .map(({ text }) => text)
      .join('')
  let text = textOf(output, ageMs)
  if (loop !== undefined && ageMs >= loop.beginsAfterMs) {
    const rounds = Math.floor((ageMs - loop.beginsAfterMs) / loop.everyMs)
    const round = textOf(loop.output, Number.POSITIVE_INFINITY)
    const enough = round === '' ? 0 : Math.ceil(LONGEST_REST / round.length)
    text +=
      round.repeat(Math.min(rounds, enough)) + textOf(loop.output, ageMs - loop.beginsAfterMs - rounds * loop.everyMs)
  }
  return text.slice(text.lastIndexOf('\n') + 1).slice(-LONGEST_REST)
}

/** Milliseconds after its start at which its next line comes, after `ageMs`; undefined: never, as far as is known. */
export const printsNextAt = (told: Told, ageMs: number): number | undefined =>
  lineOf(told, linesUntil(told, ageMs))?.afterMs
