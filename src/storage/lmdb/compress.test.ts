import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { createSlabs } from '../../base/slabs.ts'
import { compress, LONGEST_IN_PLACE } from './compress.ts'
import { OBJECT_DICTIONARY } from './dictionary.ts'
import { mapFile } from './mapped-file.ts'
import { revisionKey } from './records.ts'

const allocate = createSlabs()
const root = mkdtempSync(join(tmpdir(), 'skiff-compress-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Like objects: pieces of the dictionary, of other text and of what came before, and what is like nothing. */
function values(): Buffer[] {
  const { float } = seededRandom(7)
  const below = (bound: number) => Math.floor(float() * bound)
  const noise = (length: number) => Buffer.from(Array.from({ length }, () => below(256)))
  const piece = (before: Buffer): Buffer => {
    const kind = below(4)
    const length = 1 + below(kind === 1 ? 40 : 600)
    if (kind === 0 || before.length === 0) {
      const at = below(OBJECT_DICTIONARY.length)
      return OBJECT_DICTIONARY.subarray(at, at + length)
    }
    if (kind === 1) return noise(length)
    if (kind === 2) return Buffer.alloc(length, 97 + below(3))
    const at = below(before.length)
    return before.subarray(at, at + length)
  }
  const made = [13, 300, 1500, 4096, LONGEST_IN_PLACE].flatMap((length) => [
    Buffer.alloc(length),
    Buffer.alloc(length, 'ab'),
    Buffer.alloc(length, OBJECT_DICTIONARY),
    noise(length),
  ])
  for (let i = 0; i < 400; i++) {
    let value = Buffer.alloc(0)
    for (let pieces = 1 + below(30); pieces > 0; pieces--) value = Buffer.concat([value, piece(value)])
    made.push(value)
  }
  return made
}

test('what is compressed here is read by lmdb, and what gets no shorter is left as it is', async () => {
  const file = mapFile(root, 64 << 20, Number.POSITIVE_INFINITY)
  const all = values()
  const compressed = all.map((value) => compress(value, allocate))
  for (const [at, bytes] of compressed.entries())
    if (bytes !== undefined) {
      assert.ok(bytes.length < (all[at]?.length ?? 0))
      await file.now.changesAsGiven.put(revisionKey(at + 1), bytes)
    }
  file.now.root.resetReadTxn()
  for (const [at, bytes] of compressed.entries())
    if (bytes !== undefined)
      assert.ok(file.now.changes.get(revisionKey(at + 1))?.equals(all[at] ?? Buffer.alloc(0)), `value ${at}`)
  assert.ok(compressed.filter((bytes) => bytes !== undefined).length > 380)
  assert.ok(compressed.some((bytes) => bytes === undefined))
  await file.close()
})

test('an object takes a fraction of its room', () => {
  const object = OBJECT_DICTIONARY.subarray(2000, 6000)
  assert.ok((compress(object, allocate)?.length ?? object.length) < 60)
})

test('what would take as much room as before is left as it is', () => {
  const { float } = seededRandom(3)
  const noise = Buffer.from(Array.from({ length: 140 }, () => Math.floor(float() * 256)))
  for (let known = 4; known < 40; known++)
    for (let other = 5; other < noise.length; other++) {
      const value = Buffer.concat([OBJECT_DICTIONARY.subarray(2000, 2000 + known), noise.subarray(0, other)])
      assert.ok((compress(value, allocate)?.length ?? 0) < value.length, `${known} and ${other} bytes`)
    }
})
