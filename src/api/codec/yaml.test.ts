import assert from 'node:assert/strict'
import { test } from 'node:test'
import { strictWarnings } from '../schema/strict-problem.ts'
import { builtinScheme } from '../scheme/scheme.ts'
import { decodeBody } from './decode.ts'

const configMaps = builtinScheme().find('', 'v1', 'configmaps')!
const decode = (text: string, fieldValidation: 'Strict' | 'Warn' = 'Strict') =>
  decodeBody({ kind: 'bytes', bytes: Buffer.from(text), contentType: 'application/yaml' }, configMaps, {
    fieldValidation,
  })
const data = (text: string) => decode(`metadata: {name: a}\ndata: ${text}\n`).object['data']
const message = (text: string): string => {
  try {
    decode(text)
  } catch (error) {
    return (error as Error).message
      .replace(/^the object provided is unrecognized \(must be of type ConfigMap\): /, '')
      .replace(/ \([0-9a-f]+( \.\.\.)?\)$/, '')
  }
  return 'accepted'
}

test('strings, times, tags, merges and anchors', () => {
  assert.deepEqual(data('{a: 2001-01-01, b: "yes", c: 12:30:45, d: !!binary aGk=, e: !!str 5, f: !foo x}'), {
    a: '2001-01-01',
    b: 'yes',
    c: '12:30:45',
    d: 'hi',
    e: '5',
    f: 'x',
  })
  assert.deepEqual(data('{<<: {a: "1", b: "0"}, b: "2"}'), { a: '1', b: '2' })
  assert.deepEqual(data('{a: &x "1", b: *x}'), { a: '1', b: '1' })
  assert.deepEqual(data('{1: a, true: b, 0x10: c}'), { '1': 'a', true: 'b', '16': 'c' })
})

test('scalars are resolved as in YAML 1.1', () => {
  for (const text of ['yes', 'y', 'on', 'True'])
    assert.match(message(`data: {a: ${text}}`), /cannot unmarshal bool /, text)
  for (const text of ['0x1F', '010', '1_000', '1.5', '1e3'])
    assert.match(message(`data: {a: ${text}}`), /cannot unmarshal number /, text)
  for (const [text, value] of [
    ['1.0', 1],
    ['1e3', 1000],
    ['1_000', 1000],
    ['010', 8],
  ] as const)
    assert.equal(decode(`metadata: {generation: ${text}}`).object.metadata.generation, value)
})

test('only the first document counts, and none is an empty object', () => {
  assert.equal(decode('---\nmetadata: {name: a}\n---\nkind: Pod\n').object.metadata.name, 'a')
  for (const text of ['', '# only a comment', '---\n']) assert.deepEqual(decode(text).object.metadata, {})
})

test('errors are in the words of Kubernetes', () => {
  assert.equal(message('a: ['), 'yaml: line 1: did not find expected node content')
  assert.equal(message('data: {a: *x}'), "yaml: unknown anchor 'x' referenced")
  assert.equal(
    message('apiVersion: v1\n\tkind: ConfigMap'),
    'yaml: line 2: found a tab character that violates indentation',
  )
  assert.equal(
    message('apiVersion: v1\nkind: ConfigMap\n  bad: x'),
    'yaml: line 3: mapping values are not allowed in this context',
  )
  assert.equal(message('apiVersion: v1\nkind: "ConfigMap'), 'yaml: line 2: found unexpected end of stream')
  assert.equal(message('data: {~: "c"}'), 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "c"')
  assert.equal(message('data: {[a]: "1"}'), 'yaml: invalid map key: []interface {}{"a"}')
  assert.equal(message('metadata: {generation: .inf}'), 'json: unsupported value: +Inf')
})

test('keys set twice are strict errors', () => {
  assert.equal(
    message('data:\n  a: "1"\n  a: "2"\n'),
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 3: key "a" already set in map',
  )
  const { strict } = decode('data:\n  a: "1"\n  a: "2"\n  a: "3"\n', 'Warn')
  assert.deepEqual(
    strict.flatMap(strictWarnings),
    [3, 4].map((line) => `line ${line}: key "a" already set in map`),
  )
})

test('a bomb is refused soon', () => {
  let text = 'a: &a [1,1,1,1,1,1,1,1,1]\n'
  for (const [name, before] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf'])
    text += `${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]\n`
  assert.equal(message(text), 'yaml: document contains excessive aliasing')
  assert.match(message(`a: ${'['.repeat(5000)}${']'.repeat(5000)}`), /depth|Maximum|yaml/)
})
