/** What a real node measures of itself, for what decides by it: the collection of images. */
import { statfsSync } from 'node:fs'

/** Bytes and inodes of a file system. */
export interface FileSystem {
  readonly capacityBytes: number
  /** To those without privileges. */
  readonly availableBytes: number
  readonly freeBytes: number
  readonly inodes: number
  readonly inodesFree: number
}

/** @throws Error */
export function fileSystemAt(path: string): FileSystem {
  const { blocks, bavail, bfree, bsize, files, ffree } = statfsSync(path)
  const bytes = (count: number) => count * bsize
  const [capacityBytes, availableBytes, freeBytes] = [bytes(blocks), bytes(bavail), bytes(bfree)]
  return { capacityBytes, availableBytes, freeBytes, inodes: files, inodesFree: ffree }
}
