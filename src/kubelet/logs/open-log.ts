/**
 * A container's log is a file of its own in its pod's directory. A pod that may write below the directory of logs on the node (by a hostPath) must
 * not make the kubelet read other files by a link in their place, nor wait for a pipe.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** `path`: `…/POD/CONTAINER/0.log`. @throws Error when the file, or one of these two directories, is a link */
export async function openLog(path: string): Promise<FileHandle> {
  const container = dirname(path)
  const pod = dirname(container)
  const file = await open(path, FLAGS)
  try {
    // Where the open file lies, as the kernel tells it, whatever its directories have become since.
    const [real, root] = await Promise.all([realpath(`/proc/self/fd/${file.fd}`), realpath(dirname(pod))])
    if (real !== join(root, basename(pod), basename(container), basename(path)))
      throw new Error(`the log ${path} is not where it should be: it leads to another place`)
    if (!(await file.stat()).isFile()) throw new Error(`the log ${path} is no file`)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}
