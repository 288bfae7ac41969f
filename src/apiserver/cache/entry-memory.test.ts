import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWrittenMemory } from './entry-memory.ts'

test('what is written of a kind lies together, apart from other kinds, and a kind with one small object takes little', () => {
  const memory = createWrittenMemory()
  const buffers = (kind: string, count: number) =>
    Array.from({ length: count }, () => memory(kind)(900)).map(({ buffer }) => buffer)
  assert.equal(buffers('Lease', 1)[0]?.byteLength, 1024)
  const events = new Set(buffers('Event', 1000))
  const pods = new Set(buffers('Pod', 1000))
  assert.equal(events.intersection(pods).size, 0)
  const bytes = [...events].reduce((sum, { byteLength }) => sum + byteLength, 0)
  assert.ok(bytes < 900 * 1000 * 1.1, `${bytes} bytes for a thousand of 900`)
})

test('pieces never overlap, whatever their size', () => {
  const memory = createWrittenMemory()('A')
  const pieces = [1, 4000, 1023, 1024, 1025, 4096, 4097, 16_000, 3].map((size, i) => memory(size).fill(i))
  for (const [i, piece] of pieces.entries()) assert.ok(piece.every((byte) => byte === i))
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [1, 4000, 1023, 1024, 1025, 4096, 4097, 16_000, 3],
  )
})
