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

/** Gathers pieces until `size` bytes are together; cuts what is larger than twice that. */
export function* sliced(pieces: Iterable<Uint8Array>, size: number): Generator<Uint8Array> {
  let gathered: Uint8Array[] = []
  let bytes = 0
  for (const piece of pieces) {
    gathered.push(piece)
    bytes += piece.length
    if (bytes < size) continue
    const slice = gathered.length === 1 ? piece : Buffer.concat(gathered, bytes)
    if (slice.length <= size * 2) yield slice
    else for (let at = 0; at < slice.length; at += size) yield slice.subarray(at, at + size)
    gathered = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes)
}
