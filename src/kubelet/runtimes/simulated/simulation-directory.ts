/** Files below the one folder that an administrator gives simulated containers to read from (`--sim-dir`). */
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrintedPlace } from '../../logs/printed-log.ts'
import { RuntimeError } from '../runtime.ts'
import type { LogText } from './text-log.ts'

/** Of a longer file, or of more that came to it, the end is read. */
export const LARGEST_FILE = 10 * 1024 * 1024

/** What stands in it behind `from`; all, once it is another file or shorter. No path that leads elsewhere: no `..`, no link. @throws RuntimeError with what is wrong, in words that tell nothing of other folders */
export async function readBelow(
  directory: string | undefined,
  path: string,
  from?: Pick<PrintedPlace, 'offset' | 'file'>,
): Promise<LogText> {
  const problem = (why: string) => new RuntimeError(`file ${JSON.stringify(path)} cannot be read: ${why}`)
  if (directory === undefined) throw problem('no folder is given for simulated containers (--sim-dir)')
  const parts = path.split('/')
  if (path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..'))
    throw problem('it must be a path below the folder of --sim-dir, without . and ..')
  let file: Awaited<ReturnType<typeof open>>
  try {
    const whole = join(await realpath(directory), ...parts)
    if ((await realpath(whole)) !== whole) throw problem('links are not followed')
    // A pipe would wait for its writer.
    file = await open(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (error instanceof RuntimeError) throw error
    throw problem((error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is none' : 'it is not readable')
  }
  try {
    const found = await file.stat()
    if (!found.isFile()) throw problem('it is no plain file')
    const { size, ino } = found
    const wanted = from !== undefined && from.file === ino && from.offset <= size ? from.offset : 0
    const begin = Math.max(wanted, size - LARGEST_FILE)
    const buffer = Buffer.alloc(size - begin)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, begin)
    const bytes = buffer.subarray(0, bytesRead)
    // What is left of a line whose beginning is not read.
    const partial = begin > wanted ? bytes.indexOf('\n') + 1 : 0
    return { bytes: bytes.subarray(partial), offset: begin + partial, file: ino, whole: false }
  } finally {
    await file.close()
  }
}
