/** Files that hold secrets or say what a store is. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { syncDirectory } from '../base/sync-directory.ts'

/**
 * Writes a file whole or not at all, on disk when this returns. Only its owner may read it, whatever lay beside it before: a link or a file
 * of others under the name that it has while it is written is not written to.
 *
 * @throws what the file system says
 */
export function writeWhole(file: string, pieces: readonly Uint8Array[]): void {
  const part = `${file}.part`
  rmSync(part, { force: true })
  const descriptor = openSync(part, 'wx', 0o600)
  try {
    try {
      for (const piece of pieces) for (let at = 0; at < piece.length; ) at += writeSync(descriptor, piece, at)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(part, file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  // The bytes are of no use when a power loss takes their name.
  syncDirectory(dirname(resolve(file)))
}
