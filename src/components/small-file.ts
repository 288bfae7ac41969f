/** Files of settings that an administrator names: regular ones, links to them too, and not of any size. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { systemReason } from '../base/unread.ts'

const LARGEST = 1024 * 1024

/** A pipe or a device is not waited for. @throws Error in the words of Go's os package, or ours */
export function readSmallFile(path: string): string {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    throw new Error(`open ${path}: ${systemReason(cause)}`, { cause })
  }
  try {
    const found = fstatSync(file)
    if (found.isDirectory()) throw new Error(`read ${path}: is a directory`)
    if (!found.isFile()) throw new Error(`${path} is no regular file`)
    if (found.size > LARGEST) throw new Error(`${path} is larger than ${LARGEST} bytes`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
