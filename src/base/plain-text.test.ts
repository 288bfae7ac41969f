import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainJson, plainLine, shellWord } from './plain-text.ts'

const HOSTILE = [
  '\u001b[31mred\u001b[0m',
  '\u009b31mred',
  '\u001b]0;title\u0007',
  'a\rb',
  '\u202egnp.exe',
  'zero\u200bwidth',
  'a\u0000b',
  'line\u2028break',
  '\u{e0041}tag',
  '\ud800alone',
]
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const DANGEROUS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u

test('nothing that a terminal acts on leaves as it is', () => {
  for (const text of HOSTILE) {
    assert.doesNotMatch(plainLine(text), DANGEROUS)
    assert.doesNotMatch(plainJson({ [text]: [text] }), DANGEROUS)
  }
  assert.equal(plainLine('\u001b[2J'), '\\u001b[2J')
  assert.equal(plainLine('one\n  two'), 'one two')
})

test('JSON means the same as before', () => {
  for (const text of HOSTILE) assert.deepEqual(JSON.parse(plainJson({ [text]: text })), { [text]: text })
})

test('what is shown to be copied into a shell is one word there', () => {
  assert.equal(shellWord('pods/web-1'), 'pods/web-1')
  assert.equal(shellWord('$(rm -rf ~)'), "'$(rm -rf ~)'")
  assert.equal(shellWord("a'b"), "'a'\\''b'")
})

test('long texts are cut', () => {
  assert.equal(plainLine('x'.repeat(5000), 100).length, 101)
})
