/** Bytes by the gigabyte that are nowhere whole: each block has its number in it, so a block lost, doubled or moved changes the sum. */
import { createHash, randomBytes } from 'node:crypto'

const BLOCK = 64 * 1024

export interface NumberedBytes extends AsyncIterable<Buffer> {
  /** Bytes that have been taken. */
  bytes(): number
  /** SHA-256 of all of them, once they have been taken. */
  sum(): string
}

/** `count` bytes, for one reader. */
export function numberedBytes(count: number): NumberedBytes {
  const pattern = randomBytes(BLOCK)
  const hash = createHash('sha256')
  let taken = 0
  async function* blocks(): AsyncGenerator<Buffer> {
    while (taken < count) {
      const block = Buffer.from(pattern.subarray(0, Math.min(BLOCK, count - taken)))
      if (block.length >= 8) block.writeDoubleBE(taken)
      hash.update(block)
      taken += block.length
      yield block
    }
  }
  let sum: string | undefined
  return {
    [Symbol.asyncIterator]: blocks,
    bytes: () => taken,
    sum: () => {
      sum ??= hash.digest('hex')
      return sum
    },
  }
}

/** Reads a stream to its end. */
export async function countedHash(stream: AsyncIterable<Buffer>): Promise<{ bytes: number; sum: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    hash.update(chunk)
  }
  return { bytes, sum: hash.digest('hex') }
}
