import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEntryMemory, createWrittenMemory } from './entry-memory.ts'

test('what is written of a kind lies together, apart from other kinds, and a kind with one small object takes little', () => {
  const memory = createWrittenMemory()
  const buffers = (kind: string, count: number) =>
    Array.from({ length: count }, () => memory(kind)(900)).map(({ buffer }) => buffer)
  assert.equal(buffers('Lease', 1)[0]?.byteLength, 1024)
  const events = new Set(buffers('Event', 10_000))
  const pods = new Set(buffers('Pod', 10_000))
  assert.equal(events.intersection(pods).size, 0)
  const bytes = [...events].reduce((sum, { byteLength }) => sum + byteLength, 0)
  assert.ok(bytes < 900 * 10_000 * 1.1, `${bytes} bytes for ten thousand of 900`)
})

test('slabs of a kind of which there is much are as large as memory that goes back to the machine by itself', () => {
  const { allocate, allocatePassing } = createEntryMemory()
  for (const take of [allocate, allocatePassing]) {
    const buffers = new Set(Array.from({ length: 2000 }, () => take(1000).buffer))
    const small = [...buffers].filter(({ byteLength }) => byteLength < 262_144)
    assert.ok(small.reduce((sum, { byteLength }) => sum + byteLength, 0) < 262_144)
  }
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
