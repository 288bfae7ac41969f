import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory and those above it that are missing, for their owner alone unless another mode is given. Not mkdir's `recursive`: where a file system
 * refuses with ENOENT under a directory that exists (/proc), Node tries for ever.
 * @throws the system's error, with its code
 */
export function makeDirectory(path: string, mode = 0o700): void {
  if (isMade(path, mode)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent, mode)
  // Another process may have made it meanwhile; what still fails tells why.
  if (!isMade(path, mode)) mkdirSync(path, { mode })
}

/** False when only a directory above it is missing. */
function isMade(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return false
    if (code === 'EEXIST' && statSync(path).isDirectory()) return true
    throw error
  }
}
