/** What a real node measures of itself, for what decides by it: the collection of images. */
import { statfsSync } from 'node:fs'

/** Bytes and inodes of a file system. */
export interface FileSystem {
  readonly capacityBytes: number
  readonly availableBytes: number
  readonly inodes: number
  readonly inodesFree: number
}

/** @throws Error */
export function fileSystemAt(path: string): FileSystem {
  const { blocks, bavail, bsize, files, ffree } = statfsSync(path)
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, inodesFree: ffree }
}
