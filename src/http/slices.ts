/** Pieces of an answer, and pieces gathered into slices of a size worth writing. */
import type { ApiResponse } from '../api/request.ts'

type ListAnswer = Pick<Extract<ApiResponse, { kind: 'list' }>, 'list' | 'items' | 'whole'>

const COMMA = Buffer.from(',')
const FIRST_ITEM = Buffer.from('{')
const NEXT_ITEM = Buffer.from(',{')
const END = Buffer.from(']}\n')

/** `{"kind":…,"apiVersion":…,"metadata":…,"items":[` the items' bytes as they are kept, `]}`. */
export function* listPieces({ list, items, whole = false }: ListAnswer): Generator<Uint8Array> {
  const { kind, apiVersion, metadata } = list
  yield Buffer.from(`${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[`)
  let first = true
  for (const item of items) {
    const tail = whole ? undefined : item.tail?.()
    if (tail !== undefined) {
      yield first ? FIRST_ITEM : NEXT_ITEM
      yield tail
    } else {
      if (!first) yield COMMA
      yield item.json(whole ? 'full' : 'item')
    }
    first = false
  }
  yield END
}

/** Their reader tells, by `next(true)`, that a slice has left: then the next one may be in its place. */
export type Slices = Generator<Uint8Array, void, boolean | undefined>

/**
 * Gathers pieces until `size` bytes are together; cuts what is larger than twice that. Slices that have left give their memory to
 * the next: each of its own would be outside of V8's heap, which collects garbage for a share of every such allocation.
 */
export function* sliced(pieces: Iterable<Uint8Array>, size: number): Slices {
  let gathered: Uint8Array[] = []
  let bytes = 0
  let free: Buffer | undefined
  for (const piece of pieces) {
    gathered.push(piece)
    bytes += piece.length
    if (bytes < size) continue
    if (bytes <= size * 2 && gathered.length > 1) {
      const slice: Buffer = free ?? Buffer.allocUnsafeSlow(size * 2)
      let at = 0
      for (const part of gathered) {
        slice.set(part, at)
        at += part.length
      }
      free = (yield slice.subarray(0, bytes)) === true ? slice : undefined
    } else {
      const whole = gathered.length === 1 ? piece : Buffer.concat(gathered, bytes)
      for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size)
    }
    gathered = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes)
}
