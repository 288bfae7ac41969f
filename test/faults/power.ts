/**
 * Power loss, from a process's own system calls: a trace by strace tells which bytes were certainly on disk at any moment,
 * namely those of a write that a later fdatasync or fsync of the file has finished, or of a finished write to a file opened
 * with O_DSYNC or O_SYNC. All other bytes may be there or not.
 */
import { spawnSync } from 'node:child_process'
import { getOrInsertComputed } from '../../src/base/get-or-insert.ts'

/** The options of strace under which `readTrace` understands its output. */
export const STRACE_OPTIONS = [
  '-f',
  '-y',
  '-xx',
  '-s',
  '16777216',
  '-e',
  'trace=openat,write,pwrite64,pwritev,writev,lseek,fdatasync,fsync,msync,ftruncate,close',
]

/** undefined when strace works here, otherwise the reason why not. */
export function straceMissing(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux'
  const result = spawnSync('strace', ['-o', '/dev/null', 'true'])
  if (result.error) return 'strace is not installed'
  return result.status === 0 ? undefined : 'strace may not trace processes here'
}

/** undefined when strace may attach to a process that this one has started, otherwise the reason why not. */
export function attachRefused(): string | undefined {
  // Its first line tells; then what it is to trace ends, and strace with it.
  const script = 'sleep 60 & s=$!; strace -o /dev/null -p $s 2>&1 | { read -r said; echo "$said"; kill $s; }'
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  return /attached/.test(stdout) ? undefined : 'strace may not attach to processes here'
}

export interface Chunk {
  readonly offset: number
  readonly bytes: Buffer
}

export type TraceStep =
  | (FileStep & { readonly file: string })
  /** Said on standard output. */
  | { readonly type: 'said'; readonly text: string }

export type FileStep =
  /** The bytes are in the file, but only a sync makes them durable. */
  | { readonly type: 'written'; readonly chunks: readonly Chunk[] }
  /** Everything written before is durable. */
  | { readonly type: 'synced'; readonly upTo: number }
  | { readonly type: 'durable'; readonly chunks: readonly Chunk[] }

/** What happened to some files, given by the ends of their paths, and what was said, in the order in which calls ended. */
export function* readTrace(lines: Iterable<string>, ...files: readonly string[]): Generator<TraceStep> {
  const unfinished = new Map<string, { readonly text: string; readonly written: number }>()
  const syncing = new Set<string>()
  const positions = new Map<string, number>()
  const fileOf = (path: string) => files.find((file) => plain(path).endsWith(file))
  /** Write calls on the files that have ended. */
  let written = 0
  for (const line of lines) {
    const match = /^(\d+) +(.*)$/s.exec(line)
    if (!match) continue
    const [, pid, rest] = match as unknown as [string, string, string]
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(pid, { text: rest.slice(0, -'<unfinished ...>'.length), written })
      continue
    }
    let call = rest
    let before = written
    if (rest.startsWith('<... ')) {
      const begun = unfinished.get(pid)
      unfinished.delete(pid)
      if (!begun) continue
      call = begun.text + rest.slice(rest.indexOf('resumed>') + 'resumed>'.length)
      before = begun.written
    }
    const parts = /^(\w+)\((?:AT_FDCWD(?:<[^>]*>)?|(\d+)(?:<([^>]*)>)?)?(.*)\) += (-?\d+)/s.exec(call)
    if (!parts) continue
    const [, name, fd, path = '', args, result] = parts as unknown as [string, string, string, string, string, string]
    if (Number(result) < 0) continue
    if (name === 'openat') {
      if (/O_D?SYNC/.test(args) && files.some((file) => plain(args).includes(file))) syncing.add(result)
      else syncing.delete(result)
    } else if (name === 'close') syncing.delete(fd)
    else if (fd === '1' && name === 'write') yield { type: 'said', text: strings(args)[0]?.toString('utf8') ?? '' }
    else if (fileOf(path) === undefined) continue
    else if (name === 'fdatasync' || name === 'fsync') yield { type: 'synced', upTo: before, file: fileOf(path) ?? '' }
    else if (name === 'lseek') positions.set(fd, Number(result))
    else if (name === 'pwrite64' || name === 'pwritev' || name === 'write' || name === 'writev') {
      const offset = name.startsWith('p') ? Number(/, (\d+) *$/.exec(args)?.[1]) : (positions.get(fd) ?? 0)
      if (!name.startsWith('p')) positions.set(fd, offset + Number(result))
      const chunks = chunksOf(args, offset, Number(result))
      if (syncing.has(fd)) yield { type: 'durable', chunks, file: fileOf(path) ?? '' }
      else {
        written++
        yield { type: 'written', chunks, file: fileOf(path) ?? '' }
      }
    } else throw new Error(`the trace has ${name} on ${path}, which this reader cannot place`)
  }
}

function chunksOf(args: string, offset: number, length: number): Chunk[] {
  const chunks: Chunk[] = []
  let at = offset
  let left = length
  for (const bytes of strings(args)) {
    const part = bytes.subarray(0, left)
    chunks.push({ offset: at, bytes: part })
    at += part.length
    left -= part.length
  }
  if (left !== 0 || !Number.isInteger(offset)) throw new Error(`a write of ${length} bytes could not be read`)
  return chunks
}

/** strace -xx writes every byte of a string as \xNN. */
function strings(args: string): Buffer[] {
  return [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => Buffer.from(hex!.replaceAll('\\x', ''), 'hex'))
}

function plain(text: string): string {
  return text.replace(/(?:\\x[0-9a-f]{2})+/g, (hex) => Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString('utf8'))
}

/** Files as the disk holds them, in the order in which they were first written to. */
export function createDisk() {
  const files = new Map<string, ReturnType<typeof createFile>>()
  let written = 0
  return {
    apply(step: FileStep & { readonly file: string }): void {
      const file = getOrInsertComputed(files, step.file, createFile)
      if (step.type === 'written') written++
      file.apply(step, written)
    },
    /**
     * The files after a power loss now; `survives` tells which of the bytes that were not yet synced made it. Good until the next
     * images are asked for.
     */
    images: (survives: () => boolean) => [...files].map(([name, file]) => [name, file.image(survives)] as const),
  }
}

function createFile() {
  let durable = Buffer.alloc(0)
  let pending: { readonly sequence: number; readonly chunks: readonly Chunk[] }[] = []
  let scratch = Buffer.alloc(0)

  /** What a disk writes whole or not at all. */
  const SECTOR = 512

  function* sectorsOf({ offset, bytes }: Chunk): Generator<Chunk> {
    for (let at = 0; at < bytes.length; ) {
      const length = SECTOR - ((offset + at) % SECTOR)
      yield { offset: offset + at, bytes: bytes.subarray(at, at + length) }
      at += length
    }
  }

  function put(target: Buffer<ArrayBuffer>, { offset, bytes }: Chunk): Buffer<ArrayBuffer> {
    const end = offset + bytes.length
    const grown = end > target.length ? Buffer.concat([target, Buffer.alloc(end - target.length)]) : target
    bytes.copy(grown, offset)
    return grown
  }

  return {
    /** @param sequence of the newest write to any file */
    apply(step: FileStep, sequence: number): void {
      if (step.type === 'written') pending.push({ sequence, chunks: step.chunks })
      else if (step.type === 'durable') for (const chunk of step.chunks) durable = put(durable, chunk)
      else if (step.type === 'synced') {
        for (const write of pending) {
          if (write.sequence <= step.upTo) for (const chunk of write.chunks) durable = put(durable, chunk)
        }
        pending = pending.filter((write) => write.sequence > step.upTo)
      }
    },
    image(survives: () => boolean): Buffer {
      if (scratch.length < durable.length) scratch = Buffer.allocUnsafe(2 * durable.length)
      durable.copy(scratch)
      let image = scratch.subarray(0, durable.length)
      for (const { chunks } of pending)
        for (const chunk of chunks) for (const sector of sectorsOf(chunk)) if (survives()) image = put(image, sector)
      return image
    },
  }
}
