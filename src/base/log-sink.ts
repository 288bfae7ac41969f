/**
 * Where log lines go: a file, or a descriptor that is open already. Lines that a pipe's reader does not take yet are held, up to a
 * bound, and written as it reads on. A line that cannot be written (a full disk, a reader that went away or is far behind) is
 * lost and counted, never thrown: what runs is worth more than what is said about it. The next line that can be written again
 * follows one that tells how many were lost, and why.
 */
import { openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, formatMicroTime, type Timer } from './clock.ts'
import { isNoRoom, messageOf } from './errors.ts'
import { makeDirectory } from './make-directory.ts'

export interface LogSink {
  write(line: string): void
}

/** The system's calls, for tests that let them fail. */
export interface LogSystem {
  open(path: string): number
  write(fd: number, bytes: Uint8Array): number
  /** Runs the task when the process ends, unless what is returned was called before. */
  atExit(task: () => void): () => void
  /** Lets the whole thread wait. */
  pause(ms: number): void
}

const system: LogSystem = {
  open(path) {
    makeDirectory(dirname(path), 0o777)
    return openSync(path, 'a', 0o600)
  },
  write: (fd, bytes) => writeSync(fd, bytes),
  atExit(task) {
    process.once('exit', task)
    return () => process.off('exit', task)
  },
  pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
}

const NEWLINE = 0x0a
/** What is held for a slow reader, in bytes. */
export const MOST_HELD = 1024 * 1024
/** How often it is looked whether it has read on, in milliseconds. */
const RETRY_MS = 10
/** How long a process that ends waits for it, in milliseconds. */
const LAST_WORDS_MS = 1000

interface Line {
  /** What is not written of it yet. */
  bytes: Buffer
  /** How many lines are lost with it: itself, or those whose loss it tells. */
  readonly standsFor: number
}

/**
 * @param to a file's path, or an open descriptor, blocking or not
 * @throws the system's error when the file cannot be opened for another reason than a full disk
 */
export function logSink(
  to: string | number,
  clock: Pick<Clock, 'now' | 'setTimer'>,
  { open, write, atExit, pause }: LogSystem = system,
): LogSink {
  let fd = typeof to === 'number' ? to : opened(to)
  let held: Line[] = []
  let heldBytes = 0
  let retry: Timer | undefined
  let forgetExit: (() => void) | undefined
  let lost = 0
  let why = ''
  /** Whether what was written last is the beginning of a line. */
  let isInLine = false
  /** Whether the end of that line is lost. */
  let isTorn = false

  function opened(path: string): number | undefined {
    try {
      return open(path)
    } catch (error) {
      if (!isNoRoom(error)) throw error
      return undefined
    }
  }

  function lose(lines: number, reason: string): void {
    lost += lines
    why = reason
  }

  function hold(text: string, standsFor: number): void {
    const bytes = Buffer.from(isTorn ? `\n${text}` : text)
    isTorn = false
    held.push({ bytes, standsFor })
    heldBytes += bytes.length
  }

  /** Whether there was a loss to tell. */
  function tellLoss(): boolean {
    if (lost === 0) return false
    const told = { level: 50, time: formatMicroTime(clock.now()), msg: `${lost} lines of this log were lost: ${why}` }
    hold(`${JSON.stringify(told)}\n`, lost)
    lost = 0
    return true
  }

  /** Writes what is held as far as it is taken. What cannot be written is lost, and all behind it. */
  function drain(): void {
    try {
      fd ??= open(to as string)
      do {
        for (let line = held[0]; line !== undefined; line = held[0]) {
          put(line)
          held.shift()
        }
      } while (tellLoss())
    } catch (error) {
      if (!isBehind(error)) {
        isTorn = isInLine
        for (const { standsFor } of held) lose(standsFor, messageOf(error))
        held = []
        heldBytes = 0
      }
    }
    if (held.length > 0) {
      retry ??= clock.setTimer(RETRY_MS, 'log', lookAgain)
      forgetExit ??= atExit(sayLastWords)
    } else {
      retry?.cancel()
      retry = undefined
      forgetExit?.()
      forgetExit = undefined
    }
  }

  /** A file system may take the beginning of a line and refuse its end. */
  function put(line: Line): void {
    while (line.bytes.length > 0) {
      const written = write(fd as number, line.bytes)
      if (written === 0) throw new Error('nothing could be written')
      isInLine = line.bytes[written - 1] !== NEWLINE
      line.bytes = line.bytes.subarray(written)
      heldBytes -= written
    }
  }

  function lookAgain(): void {
    retry = undefined
    drain()
  }

  function sayLastWords(): void {
    for (let waited = 0; held.length > 0 && waited < LAST_WORDS_MS; waited += RETRY_MS) {
      pause(RETRY_MS)
      drain()
    }
  }

  return {
    write(text) {
      if (heldBytes > MOST_HELD) drain()
      if (heldBytes > MOST_HELD) return lose(1, 'its reader is too far behind')
      const waits = held.length > 0
      tellLoss()
      hold(text, 1)
      // One that is behind is not asked again for each line.
      if (!waits) drain()
    },
  }
}

/** What a descriptor that does not block says when its reader has not read on. */
const isBehind = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN'
