import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sliced } from './slices.ts'

const pieces = Array.from({ length: 1000 }, (_, i) => Buffer.from(`${i},`.padEnd(7, '.')))
const whole = Buffer.concat(pieces).toString()

/** What is read of slices by a reader that is done with each, or keeps them. */
function read(size: number, areDone: boolean) {
  const slices = sliced(pieces, size)
  const memory = new Set<ArrayBufferLike>()
  let text = ''
  const kept: Uint8Array[] = []
  for (let next = slices.next(); next.done !== true; next = slices.next(areDone)) {
    memory.add(next.value.buffer)
    text += Buffer.from(next.value).toString()
    kept.push(next.value)
  }
  return { text, memory: memory.size, kept: Buffer.concat(kept).toString(), count: kept.length }
}

test('slices that have left give their memory to the next', () => {
  const { text, memory, count } = read(256, true)
  assert.equal(text, whole)
  assert.ok(count > 20)
  assert.ok(memory <= 2, `${memory} pieces of memory`)
})

test('slices that have not left keep what they hold', () => {
  const { text, kept } = read(256, false)
  assert.equal(text, whole)
  assert.equal(kept, whole)
})

test('what is larger than two slices is cut', () => {
  const large = Buffer.alloc(1000, 'x')
  const slices = [...sliced([Buffer.from('a'), large, Buffer.from('b')], 100)]
  assert.equal(Buffer.concat(slices).toString(), `a${large}b`)
  assert.ok(slices.every(({ length }) => length <= 200))
})
