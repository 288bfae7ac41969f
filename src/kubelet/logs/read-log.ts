/** A container's log, from its file in CRI's form to what was said: the end of it, since a time, as it grows (API concept: PodLogOptions). */
import { watch } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import { type LogLine, parseLine } from './log-line.ts'

export interface LogOptions {
  /** Lines before the end; undefined: from the beginning. */
  readonly tailLines?: number
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly timestamps?: boolean
  readonly follow?: boolean
  readonly limitBytes?: number
  /** Only what was written there. */
  readonly stream?: 'stdout' | 'stderr'
}

export interface LogSource {
  readonly clock: Clock
  readonly path: string
  /** Whether more may come. */
  readonly isRunning: () => boolean
  readonly signal: AbortSignal
}

const CHUNK = 64 * 1024
/** A file is looked at again after this, should the system not tell of its growth. */
const LOOK_AGAIN_MS = 1000

/** @throws what opening the file throws */
export async function* readLog(source: LogSource, options: LogOptions): AsyncGenerator<Uint8Array> {
  const { path, signal } = source
  let file = await open(path, 'r')
  try {
    let left = options.limitBytes ?? Number.POSITIVE_INFINITY
    let position = options.tailLines === undefined ? 0 : await lastLines(file, options.tailLines)
    let rest = ''
    let atLineStart = true
    const buffer = Buffer.alloc(CHUNK)
    while (!signal.aborted && left > 0) {
      // Asked before the file is read: what was written until then is read.
      const running = options.follow === true && source.isRunning()
      const { bytesRead } = await file.read(buffer, 0, CHUNK, position)
      if (bytesRead > 0) {
        position += bytesRead
        // A character of a byte each, so that nothing of what was said is lost.
        const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n')
        rest = lines.pop() ?? ''
        let text = ''
        for (const line of lines) {
          const parsed = parseLine(line)
          if (parsed === undefined || !isWanted(parsed, options)) continue
          if (options.timestamps === true && atLineStart) text += `${padded(parsed.time)} `
          text += parsed.partial ? parsed.text : `${parsed.text}\n`
          atLineStart = !parsed.partial
        }
        if (text === '') continue
        const bytes = Buffer.from(text, 'latin1')
        yield bytes.length > left ? bytes.subarray(0, left) : bytes
        left -= bytes.length
        continue
      }
      if (!running) return
      const next = await turnedOver(path, file)
      if (next === undefined) await grown(source)
      else {
        await file.close()
        file = next
        position = 0
        rest = ''
      }
    }
  } finally {
    await file.close()
  }
}

function isWanted({ time, stream }: LogLine, { since, stream: wanted }: LogOptions): boolean {
  if (wanted !== undefined && stream !== wanted) return false
  return since === undefined || Date.parse(time) >= since
}

/** Nine digits behind the point, however many were written. */
function padded(time: string): string {
  const [, head = '', digits = '', zone = ''] = /^([^.Z+]*)(?:\.(\d*))?(.*)$/.exec(time) ?? []
  return `${head}.${digits.padEnd(9, '0')}${zone}`
}

/** Where the last so many lines of the file begin. */
async function lastLines(file: FileHandle, count: number): Promise<number> {
  const { size } = await file.stat()
  if (count === 0) return size
  const buffer = Buffer.alloc(CHUNK)
  let found = 0
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK)
    const { bytesRead } = await file.read(buffer, 0, end - start, start)
    for (let at = bytesRead - 1; at >= 0; at--) {
      if (buffer[at] !== 0x0a || start + at === size - 1) continue
      found++
      if (found === count) return start + at + 1
    }
    end = start
  }
  return 0
}

/** The file that has come in its place. */
async function turnedOver(path: string, file: FileHandle): Promise<FileHandle | undefined> {
  const now = await stat(path).catch(() => undefined)
  if (now === undefined || now.ino === (await file.stat()).ino) return undefined
  return open(path, 'r').catch(() => undefined)
}

/** Resolves when the file may have grown, or the reader has gone. */
function grown({ clock, path, signal }: LogSource): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      timer.cancel()
      watcher?.close()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.setTimer(LOOK_AGAIN_MS, 'log follow', done)
    let watcher: ReturnType<typeof watch> | undefined
    try {
      watcher = watch(path, { persistent: false }, done)
      watcher.on('error', done)
    } catch {
      // Watches are limited by the system: the timer is there.
    }
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
}
