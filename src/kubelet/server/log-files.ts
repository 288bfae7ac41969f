/**
 * GET logs/: the files of the machine's directory of logs, and what they hold (a kubelet's /logs). Pods may write there by a hostPath: what a link
 * leads to outside of it is not there.
 */
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiResponse } from '../../api/request.ts'
import { noSuchPage } from './paths.ts'
import { Refused, textAnswer } from './refused.ts'

export const LOG_DIRECTORY = '/var/log'

const CHUNK_BYTES = 65_536
/** How much of a file tells what it is. */
const TOLD_BY_BYTES = 512

/**
 * `path`: below the directory, as it was sent; '' is the directory itself. `signal`: the request's, by which a file that is not read to its end
 * is closed. @throws Refused
 */
export async function logFiles(directory: string, path: string, signal: AbortSignal): Promise<ApiResponse> {
  const file = await openBelow(directory, path)
  if (file === undefined) return noSuchPage()
  let keeps = false
  try {
    const stat = await file.stat()
    const modified = { 'last-modified': new Date(stat.mtimeMs).toUTCString() }
    const isNamedAsDirectory = path === '' || path.endsWith('/')
    const name = path.replace(/\/$/, '').split('/').at(-1) ?? ''
    if (stat.isDirectory()) {
      if (!isNamedAsDirectory) return moved(`${name}/`)
      return textAnswer(200, await listing(file), 'text/html; charset=utf-8', modified)
    }
    if (isNamedAsDirectory) return moved(`../${name}`)
    const contentType = await typeOf(file, name)
    keeps = !signal.aborted
    signal.addEventListener('abort', () => void file.close().catch(() => {}), { once: true })
    return {
      kind: 'stream',
      status: 200,
      contentType,
      headers: { ...modified, 'content-length': String(stat.size) },
      chunks: contentOf(file, stat.size),
    }
  } finally {
    if (!keeps) await file.close()
  }
}

const moved = (location: string): ApiResponse => ({
  kind: 'bytes',
  status: 301,
  contentType: '',
  bytes: [],
  headers: { location },
})

/** A regular file or a directory. Nothing outside is opened, and links are followed as long as they stay below. @throws Refused */
async function openBelow(directory: string, path: string): Promise<FileHandle | undefined> {
  const name = decoded(path)
  if (name.includes('\0') || name.split('/').includes('..')) return undefined
  let file: FileHandle | undefined
  try {
    const root = await realpath(directory)
    const isBelow = (real: string) => real === root || real.startsWith(`${root}/`)
    const real = await realpath(join(root, name))
    if (!isBelow(real)) return undefined
    const kind = await lstat(real)
    if (!kind.isFile() && !kind.isDirectory()) return undefined
    file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    // A directory on the way may have become a link since: the kernel says where it is, also of a file that is deleted by now.
    const stat = await file.stat()
    if (isBelow(await readlink(pathOf(file))) && (stat.isFile() || stat.isDirectory())) return file
  } catch {
    // Not there, or not to be read.
  }
  await file?.close()
  return undefined
}

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`

/** @throws Refused */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (error) {
    throw new Refused(400, 'the path cannot be read\n', undefined, error)
  }
}

/** @throws Refused */
async function listing(directory: FileHandle): Promise<string> {
  const entries = await readdir(pathOf(directory), { withFileTypes: true }).catch((error) => {
    throw new Refused(500, 'Error reading directory\n', undefined, error)
  })
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  const lines = names.map((name) => {
    const link = name.split('/').map(encodeURIComponent).join('/')
    return `<a href="${link.includes(':') ? './' : ''}${link}">${escaped(name)}</a>\n`
  })
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

async function typeOf(file: FileHandle, name: string): Promise<string> {
  if (name.endsWith('.log')) return 'text/x-log; charset=utf-8'
  const { buffer, bytesRead } = await file.read(Buffer.alloc(TOLD_BY_BYTES), 0, TOLD_BY_BYTES, 0)
  return buffer.subarray(0, bytesRead).includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8'
}

/** As much as the file had when it was asked for. */
async function* contentOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < size; ) {
      const length = Math.min(CHUNK_BYTES, size - at)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
      if (bytesRead === 0) return
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
