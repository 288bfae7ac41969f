/**
 * The audit log: one JSON document a line, appended in batches to a file that is rotated by size, or to standard output.
 *
 * Guarantee: `append` resolves after its line was handed to the operating system, or rejects, and the writer of a line that could
 * not be written is told: no event is lost silently. What arrives while a batch is being written goes with the next one.
 */
import { createReadStream, createWriteStream, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Clock, Timer } from '../../base/clock.ts'
import { createPatience } from '../../base/patience.ts'
import type { Runtime } from '../../base/runtime.ts'

export interface AuditLogOptions {
  /** `-`: standard output, which is never rotated. */
  readonly path: string
  /** Megabytes after which the file is rotated. Default, and what 0 means: 100. */
  readonly maxSizeMb?: number
  /** Rotated files kept; 0 keeps all. */
  readonly maxBackups?: number
  /** Days a rotated file is kept; 0 keeps all. */
  readonly maxAgeDays?: number
  /** Rotated files are compressed with gzip, as they are rotated. Default: false. */
  readonly compress?: boolean
}

export interface AuditLog {
  /** Events that were given and are not written yet. */
  readonly behind: number
  /** Resolves when the event is written. */
  append(event: Pick<Noted, 'text' | 'write'>): Promise<void>
  /** Writes the event within some milliseconds, with what else comes meanwhile. */
  note(event: Noted): void
  close(): Promise<void>
}

/** An event becomes text when it is written: many one after the other cost less than each for itself. */
export interface Noted {
  /** A line without its end. */
  text(): string
  /** Writes the line with its end there, where that is quicker than by way of its text; the bytes written, otherwise 0. */
  write?(into: Buffer, at: number): number
  lost(error: unknown): void
}

/** An event whose request waits until it is written. */
interface Appended extends Noted {
  written?(): void
}

const NEWLINE = Buffer.from('\n')
const DAY_MS = 24 * 3600 * 1000
const SOON_MS = 50
/** Events noted that are not kept waiting for more. */
const ENOUGH = 256
/** What handing bytes to the operating system may take on the average, to be done in place. */
const QUICK_MS = 5
/** Bytes written at once. */
const CHUNK = 512 * 1024

/** @throws when the file cannot be opened */
export async function openAuditLog(
  { machineClock: clock, scheduler }: Pick<Runtime, 'machineClock' | 'scheduler'>,
  options: AuditLogOptions,
): Promise<AuditLog> {
  const sink = options.path === '-' ? standardOutput() : await rotatedFile(clock, options)
  const nextTurn = () => new Promise<void>((resolve) => scheduler.later('audit log', resolve))
  const encoder = createEncoder(sink, nextTurn)
  /** Those that wrote themselves into the buffer at once: what they tell of is still at hand then. */
  let ready: Noted[] = []
  let waiting: Appended[] = []
  let underWay = 0
  /** Whether some request is answered only after one of the waiting lines is written. */
  let isUrgent = false
  let writing: Promise<void> | undefined
  let timer: Timer | undefined

  const writeBatch = async () => {
    const first = ready
    const batch = waiting
    ready = []
    waiting = []
    isUrgent = false
    underWay = first.length + batch.length
    const told: Appended[] = []
    const failure = await encoder.write(batch, told).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    underWay = 0
    if (failure !== undefined) for (const one of first) one.lost(failure.error)
    for (const one of told) failure === undefined ? one.written?.() : one.lost(failure.error)
  }
  const write = async () => {
    await writeBatch()
    while (isUrgent || waiting.length >= ENOUGH) {
      await nextTurn()
      await writeBatch()
    }
    writing = undefined
    soon()
  }
  const begin = () => {
    timer?.cancel()
    timer = undefined
    // A write that is under way may have taken them along already.
    if (waiting.length + ready.length > 0) writing ??= write()
  }
  const soon = () => {
    if (waiting.length + ready.length > 0) timer ??= clock.setTimer(SOON_MS, 'audit log', begin)
  }
  return {
    get behind() {
      return ready.length + waiting.length + underWay
    },
    append: (event) =>
      new Promise((written, lost) => {
        waiting.push({ text: () => event.text(), write: (into, at) => event.write?.(into, at) ?? 0, written, lost })
        if (isUrgent) return
        isUrgent = true
        // Writes that share a commit are answered in one turn: so their events are written together.
        if (writing === undefined) scheduler.later('audit log', begin)
      }),
    note: (event) => {
      // The buffer is its writer's while it writes, and no line goes before those that wait.
      const isReady = writing === undefined && waiting.length === 0 && encoder.add(event)
      const events = isReady ? ready : waiting
      if (events.push(event) >= ENOUGH) begin()
      else soon()
    },
    close: async () => {
      while (waiting.length + ready.length > 0 || writing !== undefined) {
        begin()
        await writing
      }
      timer?.cancel()
      await sink.close()
    },
  }
}

interface Encoder {
  /** Whether the event could write itself behind those that did before. To be called only while nothing is written. */
  add(event: Noted): boolean
  /**
   * Writes what was added, and the events behind it. An event that has no text is lost by itself, and with no other; those that
   * have one are added to `told`. More than the buffer holds takes several turns.
   */
  write<T extends Noted>(events: readonly T[], told: T[]): Promise<void>
}

/** Writes lines by way of one buffer: new ones all the time would make the collector mark the whole heap over and over. */
function createEncoder(sink: Sink, nextTurn: () => Promise<void>): Encoder {
  const chunk = Buffer.allocUnsafeSlow(CHUNK)
  let used = 0

  async function flush(): Promise<void> {
    const bytes = chunk.subarray(0, used)
    used = 0
    if (bytes.length > 0) await sink.append(bytes)
  }

  function add(event: Noted): boolean {
    let written = 0
    try {
      written = event.write?.(chunk, used) ?? 0
    } catch {
      // Its text is asked for, and says what is wrong with it.
    }
    used += written
    return written > 0
  }

  async function write<T extends Noted>(events: readonly T[], told: T[]): Promise<void> {
    // One that cannot be written is no reason not to say so to those after it.
    let failure: { readonly error: unknown } | undefined
    for (const event of events) {
      let text: string
      try {
        if (failure === undefined && add(event)) {
          told.push(event)
          continue
        }
        text = event.text()
      } catch (error) {
        event.lost(error)
        continue
      }
      told.push(event)
      if (failure !== undefined) continue
      const most = 3 * text.length + 1
      try {
        if (used + most > chunk.length) {
          await flush()
          await nextTurn()
        }
        if (most > chunk.length) await sink.append(Buffer.from(`${text}\n`))
        else {
          used += chunk.write(text, used)
          chunk[used++] = 0x0a
        }
      } catch (error) {
        failure = { error }
      }
    }
    if (failure !== undefined) throw failure.error
    await flush()
  }

  return { add, write }
}

interface Sink {
  append(bytes: Buffer): Promise<void>
  close(): Promise<void>
}

async function rotatedFile(clock: Clock, options: AuditLogOptions): Promise<Sink> {
  const limit = (options.maxSizeMb || 100) * 1024 * 1024
  let size = 0
  let isRegular = false
  /** Whether the last write ended in the middle of a line. */
  let isTorn = false
  const patience = createPatience(QUICK_MS)
  const opened = async () => {
    const file = await open(options.path, 'a', 0o600)
    const found = await file.stat()
    size = found.size
    isRegular = found.isFile()
    return file
  }
  /** What is rotated is compressed beside what is written, one file after the other. */
  let compressing: Promise<void> = Promise.resolve()
  const compress = (rotated: string) => {
    compressing = compressing.then(() => compressed(rotated))
  }
  // An earlier process may have ended in the midst of one.
  if (options.compress === true)
    for (const { plain } of rotatedFiles(options.path)) if (plain !== undefined) compress(plain)
  /** undefined after a rotation that failed half way: the next write goes on with it. */
  let file: FileHandle | undefined = await opened()
  const rotate = async (full: FileHandle) => {
    file = undefined
    await full.close()
    const stamp = new Date(clock.now()).toISOString().replace(/:/g, '-')
    const dot = options.path.lastIndexOf('.')
    const cut = dot > options.path.lastIndexOf('/') + 1 ? dot : options.path.length
    const rotated = `${options.path.slice(0, cut)}-${stamp}${options.path.slice(cut)}`
    renameSync(options.path, rotated)
    isTorn = false
    if (options.compress === true) compress(rotated)
    removeOld(clock, options)
  }
  const write = async (to: FileHandle, bytes: Buffer) => {
    const began = clock.monotonic()
    const isHere = isRegular && patience.isQuick
    for (let at = 0; at < bytes.length; ) {
      const rest = bytes.subarray(at)
      const written = isHere ? writeSync(to.fd, rest) : (await to.write(rest)).bytesWritten
      at += written
      size += written
      isTorn = at < bytes.length
    }
    patience.took(clock.monotonic() - began)
  }
  return {
    append: async (bytes) => {
      if (file !== undefined && size > 0 && size + bytes.length > limit) await rotate(file)
      file ??= await opened()
      // The rest of that line was refused, and its writer told: the next one is not to be lost with it.
      if (isTorn) await write(file, NEWLINE)
      await write(file, bytes)
    },
    close: async () => {
      await file?.close()
      await compressing
    },
  }
}

/** One that cannot be compressed stays as it is. */
async function compressed(file: string): Promise<void> {
  const made = `${file}.gz`
  try {
    await pipeline(createReadStream(file), createGzip(), createWriteStream(made, { mode: 0o600 }))
    rmSync(file, { force: true })
  } catch {
    rmSync(made, { force: true })
  }
}

/** The reader of a pipe may go away: then writes fail, and the process lives. */
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

interface RotatedFile {
  /** Its paths, one of which is compressed, or both for as long as that takes. */
  readonly paths: readonly string[]
  readonly plain: string | undefined
}

/** The newest first. */
function rotatedFiles(path: string): readonly RotatedFile[] {
  const folder = dirname(path)
  const name = basename(path)
  const stem = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : name
  const byName = new Map<string, string[]>()
  for (const file of readdirSync(folder).sort().reverse()) {
    if (file === name || !file.startsWith(`${stem}-`)) continue
    const own = file.replace(/\.gz$/, '')
    byName.set(own, [...(byName.get(own) ?? []), join(folder, file)])
  }
  return [...byName].map(([own, paths]) => ({ paths, plain: paths.find((one) => basename(one) === own) }))
}

function removeOld(clock: Clock, { path, maxBackups = 0, maxAgeDays = 0 }: AuditLogOptions): void {
  for (const [i, { paths }] of rotatedFiles(path).entries()) {
    const tooMany = maxBackups > 0 && i >= maxBackups
    const isOld = (file: string) => clock.now() - statSync(file).mtimeMs > maxAgeDays * DAY_MS
    if (tooMany || (maxAgeDays > 0 && paths.every(isOld))) for (const file of paths) rmSync(file, { force: true })
  }
}
