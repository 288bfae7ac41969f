/** A container's log, from its file in CRI's form to what was said: the end of it, since a time, as it grows (API concept: PodLogOptions). */
import { watch } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { stat } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import { type LogLine, parseLine } from './log-line.ts'
import { type LogOptions, shownTime } from './log-options.ts'
import { openLog } from './open-log.ts'

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
  let file = await openLog(path)
  // The file that has come in its place, and whether this one gets no more lines.
  let successor: FileHandle | undefined
  let drained = false
  try {
    let left = options.limitBytes ?? Number.POSITIVE_INFINITY
    const { size } = await file.stat()
    let position = options.tailLines === undefined ? 0 : await lastLines(file, size, options.tailLines)
    // A reader that does not follow is told what was there when it asked: of a log that grows, so many lines and no more.
    const end = options.follow === true ? Number.POSITIVE_INFINITY : size
    let rest = ''
    let atLineStart = true
    const buffer = Buffer.alloc(CHUNK)
    while (!signal.aborted && left > 0) {
      // Asked before the file is read: what was written until then is read.
      const running = options.follow === true && source.isRunning()
      const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, end - position), position)
      if (bytesRead > 0) {
        position += bytesRead
        // A character of a byte each, so that nothing of what was said is lost.
        const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n')
        rest = lines.pop() ?? ''
        let text = ''
        for (const line of lines) {
          const parsed = parseLine(line)
          if (parsed === undefined || !isWanted(parsed, options)) continue
          if (options.timestamps === true && atLineStart) text += `${shownTime(parsed.time)} `
          text += parsed.partial ? parsed.text : `${parsed.text}\n`
          atLineStart = !parsed.partial
        }
        if (text === '') continue
        const bytes = Buffer.from(text, 'latin1')
        yield bytes.length > left ? bytes.subarray(0, left) : bytes
        left -= bytes.length
        continue
      }
      if (options.follow !== true) return
      if (successor === undefined) {
        successor = await turnedOver(path, file)
        // The old file may have grown before it was put aside: it is read once more in any case.
        if (successor !== undefined) continue
        if (!running) return
        await grown(source)
        continue
      }
      if (!drained) {
        // The runtime opens the new file first and writes to the old one until it has: lines in the new one tell that it has.
        drained = !running || (await successor.stat()).size > 0
        if (!drained) await grown(source)
        continue
      }
      await file.close()
      file = successor
      successor = undefined
      drained = false
      position = 0
      rest = ''
    }
  } finally {
    await file.close()
    await successor?.close()
  }
}

function isWanted({ time, stream }: LogLine, { since, stream: wanted }: LogOptions): boolean {
  if (wanted !== undefined && stream !== wanted) return false
  return since === undefined || Date.parse(time) >= since
}

/** Where the last so many lines of the file's first `size` bytes begin. */
async function lastLines(file: FileHandle, size: number, count: number): Promise<number> {
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
  return openLog(path).catch(() => undefined)
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
