import { closeSync, fsyncSync, openSync } from 'node:fs'

/** After it a power loss takes no name that was made in the directory, and gives back none that was removed. @throws what the file system says */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
