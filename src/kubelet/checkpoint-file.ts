/**
 * A kubelet's checkpoints of what its managers have given out, in the form that a real one writes and reads: JSON with a checksum, which is
 * the FNV hash of how Go prints the value; and, since v1.37, the same once more as text, with a checksum of that.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'

export interface Checkpoint {
  readonly policyName: string
  readonly checksum: number
  readonly data?: string
  readonly dataChecksum?: number
}

/** FNV-1a of 32 bits. */
export function checksumOf(printed: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(printed)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}

/** A map as Go prints it. */
export const printedMap = (entries: Iterable<readonly [key: string, printed: string]>): string =>
  `map[${[...entries]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, printed]) => `${key}:${printed}`)
    .join(' ')}]`

const dataChecksumOf = (data: string) => checksumOf(`(string)${data}`)

/** `contents`: all but the checksums. */
export const checkpointOf = <T extends { readonly policyName: string }>(
  contents: T,
  checksum: number,
): T & Checkpoint => {
  const data = JSON.stringify(contents)
  return { ...contents, checksum, data, dataChecksum: dataChecksumOf(data) }
}

/** `checksum`: of the contents, where they are not there as text. Undefined where there is no file. @throws Error */
export function readCheckpoint<T extends { readonly policyName: string }>(
  file: string,
  checksum: (contents: T) => number,
): T | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const checkpoint = JSON.parse(text) as T & Checkpoint
  const { data } = checkpoint
  const isWhole =
    data === undefined ? checksum(checkpoint) === checkpoint.checksum : dataChecksumOf(data) === checkpoint.dataChecksum
  if (!isWhole) throw new Error('checkpoint is corrupted')
  return data === undefined ? checkpoint : (JSON.parse(data) as T)
}

export function writeCheckpoint(file: string, checkpoint: Checkpoint): void {
  writeFileSync(`${file}.new`, JSON.stringify(checkpoint), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** What a manager does at its start with what was kept. @throws Error */
export function startManager<T>(manager: string, start: () => T): T {
  try {
    return start()
  } catch (cause) {
    throw new Error(`start ${manager} manager error: ${messageOf(cause)}`, { cause })
  }
}
