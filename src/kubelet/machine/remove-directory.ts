/**
 * Removes a directory that containers have written to, and may still be writing to (a pod that was deleted by force is gone before its containers
 * are). Node's own fs.promises.rm goes by paths: where a directory is exchanged for a link meanwhile, it follows it and removes files of the host.
 * Here every name is taken within a directory that is held open, and no link is followed.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rename, rmdir, unlink } from 'node:fs/promises'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/**
 * The directory that `path` lies in must be one that containers cannot write to. What is not there is fine; a link in its place goes, and what it
 * leads to stays. May be repeated after any error.
 *
 * @throws Error when something is left of it
 */
export async function removeDirectory(path: string): Promise<void> {
  let root: FileHandle
  try {
    root = await open(path, DIRECTORY)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return
    if (isCode(error, 'ENOTDIR', 'ELOOP')) return unlink(path)
    throw error
  }
  try {
    await empty(root, path)
  } finally {
    await root.close()
  }
  await rmdir(path)
}

/** Directories further down are moved up here, so that two are open however deep they are, and no path becomes too long. */
async function empty(root: FileHandle, path: string): Promise<void> {
  let moved = 0
  for (;;) {
    const before = moved
    for (const name of await names(root)) {
      const entry = within(root, name)
      if (await unlinked(entry)) continue
      const inner = await open(entry, DIRECTORY)
      try {
        for (const below of await names(inner))
          if (!(await unlinked(within(inner, below))))
            moved = await move(within(inner, below), (count) => within(root, Buffer.from(`moved-${count}`)), moved)
      } finally {
        await inner.close()
      }
      await rmdir(entry)
    }
    if ((await names(root)).length === 0) return
    if (moved === before) throw new Error(`${path} is still written to`)
  }
}

/** To the next name that is free. Gives its number. */
async function move(from: Buffer, to: (count: number) => Buffer, moved: number): Promise<number> {
  for (let count = moved + 1; ; count++) {
    try {
      await rename(from, to(count))
      return count
    } catch (error) {
      if (!isCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw error
    }
  }
}

/** False for a directory. */
async function unlinked(path: Buffer): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (isCode(error, 'ENOENT')) return true
    if (isCode(error, 'EISDIR', 'EPERM')) return false
    throw error
  }
}

/** Names are bytes: those of containers are of any encoding. */
const names = (directory: FileHandle) => readdir(`/proc/self/fd/${directory.fd}`, { encoding: 'buffer' })
const within = (directory: FileHandle, name: Buffer) =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${directory.fd}/`), name])
const isCode = (error: unknown, ...codes: readonly string[]) =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '')
