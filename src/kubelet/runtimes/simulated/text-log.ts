/** A log whose text an annotation gives, or a file that may grow: read on from the byte at which the last reading ended. */
import type { PrintedLine, PrintedLog, PrintedQuery } from '../../logs/printed-log.ts'
import type { Lived } from './simulated-log.ts'

export interface LogText {
  readonly bytes: Buffer
  /** Where they stand in the whole text. */
  readonly offset: number
  /** Tells one file from another of its name; 0: no file. */
  readonly file: number
  /** No more can come, so that the last line needs no end. */
  readonly whole: boolean
}

const LINE_FEED = 10

/** What of an annotation's text has not been read. */
export function annotationText(text: string, { from }: PrintedQuery): LogText {
  const offset = from?.offset ?? 0
  return { bytes: Buffer.from(text).subarray(offset), offset, file: 0, whole: true }
}

/** The lines that come by now, one each `everyMs`; 0: all at once, as the container starts. */
export function textLog(
  { bytes, offset, file, whole }: LogText,
  everyMs: number,
  { state, startedAt, finishedAt }: Lived,
  now: number,
  { from, tail, follow }: PrintedQuery = {},
): PrintedLog {
  const running = state !== 'exited'
  const until = running ? now : finishedAt
  // A file that was made anew is read from its beginning.
  const goesOn = from !== undefined && from.file === file && from.offset <= offset
  const line = goesOn ? from.line : 0
  if (startedAt === 0 || until < startedAt) return { lines: [], next: { line, offset, file }, running }
  const takesRest = whole || follow !== true || !running
  let count = 0
  let end = 0
  if (everyMs === 0) end = takesRest ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1
  else
    for (const most = Math.floor((until - startedAt) / everyMs) + 1 - line; count < most; count++) {
      const found = bytes.indexOf(LINE_FEED, end)
      if (end >= bytes.length || (found < 0 && !takesRest)) break
      end = found < 0 ? bytes.length : found + 1
    }
  let begin = end
  if (from !== undefined || tail === undefined) begin = 0
  else
    for (let left = tail; left > 0 && begin > 0; left--)
      begin = begin < 2 ? 0 : bytes.lastIndexOf(LINE_FEED, begin - 2) + 1
  const first = from === undefined && tail !== undefined ? Math.max(0, count - tail) : 0
  function* lines(): Generator<PrintedLine> {
    for (let at = begin, number = line + first; at < end; number++) {
      const found = bytes.indexOf(LINE_FEED, at)
      const stop = found < 0 || found > end ? end : found
      yield { at: startedAt + number * everyMs, stream: 'stdout', text: bytes.toString('utf8', at, stop) }
      at = stop + 1
    }
  }
  return { lines: lines(), next: { line: line + count, offset: offset + end, file }, running }
}

/** Milliseconds after its start at which the next line of an annotation's text comes; undefined: all have. */
export function textPrintsNextAt(text: string, everyMs: number, ageMs: number): number | undefined {
  if (everyMs === 0) return ageMs < 0 ? 0 : undefined
  const next = Math.max(0, Math.floor(ageMs / everyMs) + 1)
  let begin = 0
  for (let line = 0; line < next; line++) {
    const found = text.indexOf('\n', begin)
    if (found < 0 || found + 1 === text.length) return undefined
    begin = found + 1
  }
  return text === '' ? undefined : next * everyMs
}
