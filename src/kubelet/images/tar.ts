/** Tar files (POSIX ustar with pax and GNU long names): read from an open file without holding more than a header, and written for small ones. */
import type { FileHandle } from 'node:fs/promises'

export interface TarEntry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'link' | 'other'
  /** Where a link leads. */
  readonly link: string
  readonly size: number
  /** Where its bytes begin in the archive. */
  readonly offset: number
}

const BLOCK = 512
const LARGEST_NAME = 64 * 1024

/** @throws Error when the file is no tar archive or ends early */
export async function listTar(file: FileHandle): Promise<readonly TarEntry[]> {
  const { size: total } = await file.stat()
  const entries: TarEntry[] = []
  let longName: string | undefined
  let longLink: string | undefined
  for (let at = 0; at + BLOCK <= total; ) {
    const header = await bytesAt(file, at, BLOCK)
    if (header.every((byte) => byte === 0)) break
    if (!hasChecksum(header)) throw new Error('it is no tar archive')
    const size = numberOf(header.subarray(124, 136))
    if (!Number.isSafeInteger(size) || size < 0 || at + BLOCK + size > total) throw new Error('the archive ends early')
    const kind = String.fromCharCode(header[156]!)
    const offset = at + BLOCK
    at = offset + Math.ceil(size / BLOCK) * BLOCK
    if (kind === 'L' || kind === 'K' || kind === 'x') {
      if (size > LARGEST_NAME) throw new Error('a name in the archive is too long')
      const said = await bytesAt(file, offset, size)
      if (kind === 'L') longName = textOf(said)
      else if (kind === 'K') longLink = textOf(said)
      else {
        longName = paxField(said, 'path') ?? longName
        longLink = paxField(said, 'linkpath') ?? longLink
      }
      continue
    }
    if (kind === 'g') continue
    const prefix = header.subarray(257, 262).toString() === 'ustar' ? textOf(header.subarray(345, 500)) : ''
    const short = textOf(header.subarray(0, 100))
    entries.push({
      name: (longName ?? (prefix === '' ? short : `${prefix}/${short}`)).replace(/^\.\//, ''),
      type:
        kind === '0' || kind === '\0'
          ? 'file'
          : kind === '5'
            ? 'directory'
            : kind === '1' || kind === '2'
              ? 'link'
              : 'other',
      link: longLink ?? textOf(header.subarray(157, 257)),
      size,
      offset,
    })
    longName = undefined
    longLink = undefined
  }
  return entries
}

export async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(buffer, read, length - read, position + read)
    if (bytesRead === 0) throw new Error('the archive ends early')
    read += bytesRead
  }
  return buffer
}

function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).toString()
}

/** Octal text, or a binary number where the first bit is set. */
function numberOf(field: Buffer): number {
  if ((field[0]! & 0x80) !== 0) return Number(field.readBigUInt64BE(4))
  const text = textOf(field).trim()
  return text === '' ? 0 : Number.parseInt(text, 8)
}

function hasChecksum(header: Buffer): boolean {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte
  return sum === numberOf(header.subarray(148, 156))
}

function paxField(bytes: Buffer, name: string): string | undefined {
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at)
    const length = Number(bytes.subarray(at, blank).toString())
    if (blank < 0 || !Number.isInteger(length) || length < 1) return undefined
    const record = bytes.subarray(blank + 1, at + length - 1).toString()
    if (record.startsWith(`${name}=`)) return record.slice(name.length + 1)
    at += length
  }
  return undefined
}

/** An archive of regular files. */
export function writeTar(
  files: readonly { readonly name: string; readonly bytes: Uint8Array; readonly mode: number }[],
): Buffer {
  const parts: Uint8Array[] = []
  for (const { name, bytes, mode } of files) {
    const header = Buffer.alloc(BLOCK)
    const octal = (value: number, at: number, length: number) =>
      header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
    header.write(name, 0)
    octal(mode, 100, 8)
    octal(0, 108, 8)
    octal(0, 116, 8)
    octal(bytes.length, 124, 12)
    octal(0, 136, 12)
    header.write('        ', 148, 'latin1')
    header.write('0', 156, 'latin1')
    header.write('ustar\u000000', 257, 'latin1')
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      148,
      7,
    )
    parts.push(header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK))
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}
