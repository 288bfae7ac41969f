import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory and those above it that are missing, only for their owner. Not mkdir's `recursive`: where a file system
 * refuses with ENOENT under a directory that exists (/proc), Node tries for ever.
 * @throws the system's error, with its code
 */
export function makeDirectory(path: string): void {
  if (isMade(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent)
  mkdirSync(path, { mode: 0o700 })
}

/** False when only a directory above it is missing. */
function isMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return false
    if (code === 'EEXIST' && statSync(path).isDirectory()) return true
    throw error
  }
}
