/** The log of a container that writes no file: lines that are known with their times, read as a log file is. */
import { formatMicroTime } from '../../base/clock.ts'
import { type LogOptions, shownTime } from './log-options.ts'

export interface PrintedLine {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly stream: 'stdout' | 'stderr'
  /** Without the end of the line. */
  readonly text: string
}

/** Up to where a reader has read. */
export interface PrintedPlace {
  readonly line: number
  /** In bytes, of what is a text, and the file in which that stands. */
  readonly offset: number
  readonly file: number
}

export interface PrintedQuery {
  /** Only what comes behind that. */
  readonly from?: PrintedPlace
  /** Without `from`: so many lines before the end. */
  readonly tail?: number
  /** There will be another question from where this one ends. */
  readonly follow?: boolean
}

export interface PrintedLog {
  /** Made as they are read, once: there may be millions. */
  readonly lines: Iterable<PrintedLine>
  /** Behind these lines. */
  readonly next: PrintedPlace
  /** More may come. */
  readonly running: boolean
}

export interface PrintedSource {
  /** What there is until now; undefined: the container is gone. */
  printed(query: PrintedQuery): Promise<PrintedLog | undefined>
  /** Resolves when there may be more, the container has ended, or the reader has gone. */
  changed(): Promise<void>
  readonly signal: AbortSignal
}

/** Of what is given at once. */
const CHUNK = 64 * 1024

export async function* readPrinted(source: PrintedSource, options: LogOptions): AsyncGenerator<Uint8Array> {
  const { signal } = source
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY
  const { tailLines, follow = false } = options
  let query: PrintedQuery = { follow, ...(tailLines === undefined ? {} : { tail: tailLines }) }
  while (!signal.aborted && left > 0) {
    const log = await source.printed(query)
    if (log === undefined) return
    for (const bytes of chunksOf(log.lines, options)) {
      yield bytes.length > left ? bytes.subarray(0, left) : bytes
      left -= bytes.length
      if (left <= 0) return
    }
    query = { follow, from: log.next }
    if (!follow || !log.running) return
    await source.changed()
  }
}

function* chunksOf(lines: Iterable<PrintedLine>, options: LogOptions): Generator<Uint8Array> {
  let text = ''
  for (const line of lines) {
    if (options.stream !== undefined && line.stream !== options.stream) continue
    if (options.since !== undefined && line.at < options.since) continue
    text += `${options.timestamps === true ? `${shownTime(formatMicroTime(line.at))} ` : ''}${line.text}\n`
    if (text.length < CHUNK) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
