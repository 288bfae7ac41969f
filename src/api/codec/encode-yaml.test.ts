import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import type { Json } from '../object.ts'
import { parseExactly } from '../values/json.ts'
import { encodeYaml } from './encode-yaml.ts'

/** What a v1.37.1 answered to the creation of an object with this `spec` (as JSON): the lines below `spec:`. */
const recorded: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('yaml-recorded.json', import.meta.url), 'utf8'),
)
const written = (spec: string) => encodeYaml({ spec: parseExactly(spec) as Json }).slice('spec:\n'.length)

test('texts, keys and numbers are written letter by letter as Kubernetes writes them', () => {
  const differ = Object.entries(recorded).filter(([spec, text]) => written(spec) !== text)
  assert.ok(Object.keys(recorded).length > 1000)
  assert.deepEqual(
    differ.map(([spec, want]) => ({ spec, want, got: written(spec) })),
    [],
  )
})

test('what YAML cannot hold is escaped, so that its reader gets it whole', () => {
  for (const text of ['\x7f', 'a\x85b', 'a\n\x85', '\x9f', '\ufffe', '\uffff'])
    assert.deepEqual(parse(encodeYaml({ [text]: text })), { [text]: text }, JSON.stringify(text))
  assert.equal(encodeYaml({ a: 'b\x85\x7f' }), 'a: "b\\N\\x7F"\n')
})

test('numbers in keys are of 64 bits and wrap around, so that long ones cost no more than their length', () => {
  assert.equal(encodeYaml({ a1: '', a9223372036854775808: '' }), 'a9223372036854775808: ""\na1: ""\n')
  const long = (digit: string) => digit.repeat(300_000)
  assert.ok(encodeYaml({ [long('7')]: 'x', [long('8')]: 'y' }).length > 600_000)
})

test('half a character is the one that stands for what is unknown', () => {
  assert.equal(encodeYaml({ a: '\ud83d' }), 'a: \ufffd\n')
})
