/** What a container left for people when it ended: its termination message file, or the end of its log (API concept: termination messages). */
import { close, constants, fstat, open, read } from 'node:fs'
import { promisify } from 'node:util'
import { parseLine } from '../logs/log-line.ts'
import type { ContainerStatus } from '../runtimes/cri/messages.ts'

export const MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath'
export const MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy'

const MOST_BYTES = 4096
const MOST_LOG_BYTES = 2048
const MOST_LOG_LINES = 80

export async function terminationMessage(status: ContainerStatus): Promise<string> {
  const path = status.annotations[MESSAGE_PATH]
  if (path === undefined || path === '') return ''
  const file = status.mounts.find(({ container_path }) => container_path === path)?.host_path
  const left = file === undefined ? '' : (await endOf(file, MOST_BYTES, 'start')).toString()
  if (left !== '' || status.exit_code === 0) return left
  if (status.annotations[MESSAGE_POLICY] !== 'FallbackToLogsOnError' || status.log_path === '') return ''
  // Each line of a log begins with a time and more, which does not count.
  const lines = (await endOf(status.log_path, MOST_LOG_BYTES * 8, 'end'))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  const said = lines.slice(-MOST_LOG_LINES).map((line) => {
    const parsed = parseLine(line)
    return parsed === undefined ? '' : parsed.partial ? parsed.text : `${parsed.text}\n`
  })
  return Buffer.from(said.join('')).subarray(-MOST_LOG_BYTES).toString()
}

/** A container may have put anything there, a link or a pipe too: only a file is read, and no link followed. */
async function endOf(file: string, bytes: number, which: 'start' | 'end'): Promise<Buffer> {
  let fd: number
  try {
    fd = await promisify(open)(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return Buffer.alloc(0)
  }
  try {
    const stat = await promisify(fstat)(fd)
    if (!stat.isFile()) return Buffer.alloc(0)
    const from = which === 'end' ? Math.max(0, stat.size - bytes) : 0
    const { bytesRead, buffer } = await promisify(read)(fd, Buffer.alloc(bytes), 0, bytes, from)
    return buffer.subarray(0, bytesRead)
  } finally {
    close(fd)
  }
}
