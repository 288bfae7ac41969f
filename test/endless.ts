/** A server that answers without end, and counts what was taken of it. */
import type { ServerResponse } from 'node:http'

export const MEGABYTE = 1024 * 1024

/** Writes the block again and again; gives how many bytes were taken when the connection was cut, or when `most` were. */
export function endless(response: ServerResponse, most: number, block = Buffer.alloc(64 * 1024, ' ')): Promise<number> {
  let bytes = 0
  return new Promise((resolve) => {
    const done = () => {
      response.destroy()
      resolve(bytes)
    }
    const write = () => {
      while (!response.destroyed && bytes < most) {
        bytes += block.length
        if (!response.write(block)) {
          response.once('drain', write)
          return
        }
      }
      done()
    }
    response.on('close', done)
    write()
  })
}
