/**
 * The audit log: one JSON document a line, appended in batches to a file that is rotated by size, or to standard output.
 *
 * Guarantee: `append` resolves after its line was handed to the operating system, or rejects: an event is never lost without
 * its request knowing. What arrives while a batch is being written goes with the next one.
 */
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Clock, Timer } from '../../base/clock.ts'

export interface AuditLogOptions {
  /** `-`: standard output, which is never rotated. */
  readonly path: string
  /** Megabytes after which the file is rotated. Default 100. */
  readonly maxSizeMb?: number
  /** Rotated files kept; 0 keeps all. */
  readonly maxBackups?: number
  /** Days a rotated file is kept; 0 keeps all. */
  readonly maxAgeDays?: number
}

export interface AuditLog {
  /** Lines that were given and are not written yet. */
  readonly behind: number
  /** `now`: somebody waits for it. `soon`: within some milliseconds, with what else comes meanwhile. */
  append(line: string, when: 'now' | 'soon'): Promise<void>
  close(): Promise<void>
}

const DAY_MS = 24 * 3600 * 1000
const SOON_MS = 50

/** @throws when the file cannot be opened */
export async function openAuditLog(clock: Clock, options: AuditLogOptions): Promise<AuditLog> {
  const sink = options.path === '-' ? standardOutput() : await rotatedFile(clock, options)
  let behind = 0
  let waiting: { line: string; resolve: () => void; reject: (error: unknown) => void }[] = []
  let writing: Promise<void> | undefined

  const write = async () => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await sink.append(Buffer.from(batch.map(({ line }) => `${line}\n`).join('')))
        behind -= batch.length
        for (const { resolve } of batch) resolve()
      } catch (error) {
        behind -= batch.length
        for (const { reject } of batch) reject(error)
      }
    }
    writing = undefined
  }
  let timer: Timer | undefined
  const begin = () => {
    timer?.cancel()
    timer = undefined
    // A write that is under way may have taken them along already.
    if (waiting.length > 0) writing ??= write()
  }
  return {
    get behind() {
      return behind
    },
    append: (line, when) =>
      new Promise((resolve, reject) => {
        behind++
        waiting.push({ line, resolve, reject })
        if (when === 'now') begin()
        else timer ??= clock.setTimer(SOON_MS, 'audit log', begin)
      }),
    close: async () => {
      begin()
      await writing
      await sink.close()
    },
  }
}

interface Sink {
  append(bytes: Buffer): Promise<void>
  close(): Promise<void>
}

async function rotatedFile(clock: Clock, options: AuditLogOptions): Promise<Sink> {
  const limit = (options.maxSizeMb ?? 100) * 1024 * 1024
  let file: FileHandle = await open(options.path, 'a', 0o600)
  let size = (await file.stat()).size
  const rotate = async () => {
    await file.close()
    const stamp = new Date(clock.now()).toISOString().replace(/:/g, '-')
    const dot = options.path.lastIndexOf('.')
    const cut = dot > options.path.lastIndexOf('/') + 1 ? dot : options.path.length
    renameSync(options.path, `${options.path.slice(0, cut)}-${stamp}${options.path.slice(cut)}`)
    removeOld(clock, options)
    file = await open(options.path, 'a', 0o600)
    size = 0
  }
  return {
    append: async (bytes) => {
      if (size > 0 && size + bytes.length > limit) await rotate()
      await file.appendFile(bytes)
      size += bytes.length
    },
    close: () => file.close(),
  }
}

/** Whoever reads it may go away: then writes fail, and the process lives. */
function standardOutput(): Sink {
  const { stdout } = process
  const ignore = () => {}
  stdout.on('error', ignore)
  return {
    append: (bytes) =>
      new Promise((resolve, reject) => stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
    close: async () => {
      stdout.off('error', ignore)
    },
  }
}

function removeOld(clock: Clock, { path, maxBackups = 0, maxAgeDays = 0 }: AuditLogOptions): void {
  const folder = dirname(path)
  const name = basename(path)
  const stem = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : name
  const rotated = readdirSync(folder)
    .filter((file) => file !== name && file.startsWith(`${stem}-`))
    .sort()
    .reverse()
  for (const [i, file] of rotated.entries()) {
    const tooMany = maxBackups > 0 && i >= maxBackups
    const tooOld = maxAgeDays > 0 && clock.now() - statSync(join(folder, file)).mtimeMs > maxAgeDays * DAY_MS
    if (tooMany || tooOld) rmSync(join(folder, file), { force: true })
  }
}
