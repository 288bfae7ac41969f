import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warningHeaders } from './respond.ts'

const sent = (warnings: readonly string[]) => [warningHeaders(warnings).headers?.['warning'] ?? []].flat()

test('each warning is sent once, quoted', () => {
  assert.deepEqual(sent(['a "b"', 'c', 'a "b"']), ['299 - "a \\"b\\""', '299 - "c"'])
})

test('of more than 4096 characters of warnings each is cut at 256, and what comes after them is left out', () => {
  assert.deepEqual(sent(['x'.repeat(4096)]), [`299 - "${'x'.repeat(4096)}"`])
  assert.deepEqual(sent(['x'.repeat(4097)]), [`299 - "${'x'.repeat(256)}"`])
  const many = Array.from({ length: 60 }, (_, i) => String(i).padStart(70, '0'))
  assert.equal(sent(many).length, 59)
  assert.equal(sent(many.map((text) => text.padEnd(500, 'é'))).length, 17)
})
