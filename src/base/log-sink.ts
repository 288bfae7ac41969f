/**
 * Where log lines go: a file, or a descriptor that is open already. A line that cannot be written (a full disk, a reader that
 * went away) is lost and counted, never thrown: what runs is worth more than what is said about it. The next line that can be
 * written again follows one that tells how many were lost, and why.
 */
import { mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isNoRoom, messageOf } from './errors.ts'

export interface LogSink {
  write(line: string): void
}

/** The system's calls, for tests that let them fail. */
export interface LogSystem {
  open(path: string): number
  write(fd: number, bytes: Uint8Array): number
}

const system: LogSystem = {
  open(path) {
    mkdirSync(dirname(path), { recursive: true })
    return openSync(path, 'a', 0o600)
  },
  write: (fd, bytes) => writeSync(fd, bytes),
}

const NEWLINE = 0x0a

/**
 * @param to a file's path, or an open descriptor
 * @throws the system's error when the file cannot be opened for another reason than a full disk
 */
export function logSink(to: string | number, { open, write }: LogSystem = system): LogSink {
  let fd = typeof to === 'number' ? to : opened(to)
  let lost = 0
  let why = ''
  /** Whether the last write ended in the middle of a line. */
  let isTorn = false

  function opened(path: string): number | undefined {
    try {
      return open(path)
    } catch (error) {
      if (!isNoRoom(error)) throw error
      return undefined
    }
  }

  function put(text: string): void {
    const bytes = Buffer.from(isTorn ? `\n${text}` : text)
    for (let at = 0; at < bytes.length; ) {
      // A file system may take the beginning of a line and refuse its end.
      const written = write(fd as number, bytes.subarray(at))
      if (written === 0) throw new Error('nothing could be written')
      at += written
      isTorn = bytes[at - 1] !== NEWLINE
    }
  }

  return {
    write(line) {
      try {
        fd ??= open(to as string)
        if (lost > 0) {
          const told = { level: 50, time: new Date().toISOString(), msg: `${lost} lines of this log were lost: ${why}` }
          put(`${JSON.stringify(told)}\n`)
          lost = 0
        }
        put(line)
      } catch (error) {
        lost++
        why = messageOf(error)
      }
    },
  }
}
