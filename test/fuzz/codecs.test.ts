/**
 * The codecs under random input: what is valid survives the way there and back, what is broken ends in a StatusError and
 * never in anything else. SKIFF_SEED=N runs one seed alone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { corpusOf } from '../../conformance/generators/mutations.ts'
import { type Chance, chance } from '../../conformance/generators/random.ts'
import { readRecording } from '../../conformance/recording.ts'
import { recordingFile } from '../../conformance/sets.ts'
import { decodeBody } from '../../src/api/codec/decode.ts'
import { decodeProtobuf, encodeProtobuf, hasMessage } from '../../src/api/codec/protobuf.ts'
import type { Json, JsonObject, KubeObject } from '../../src/api/object.ts'
import { parseApiVersion } from '../../src/api/object.ts'
import { applyPatch, type PatchType } from '../../src/api/patch/patch.ts'
import type { ResourceRow } from '../../src/api/scheme/resource.ts'
import { builtinScheme } from '../../src/api/scheme/scheme.ts'
import { StatusError } from '../../src/api/status.ts'
import { encodeJson } from '../../src/api/values/json.ts'

const ROUNDS = 3000

const corpus = corpusOf(readRecording(recordingFile('objects'))).flatMap(({ object }) => {
  const { group, version } = parseApiVersion(object.apiVersion)
  const row = builtinScheme().findKind(group, version, object.kind)
  return row === undefined ? [] : [{ object, row }]
})

function rounds(body: (rand: Chance, seed: number) => void): void {
  const only = process.env['SKIFF_SEED']
  const seeds = only === undefined ? Array.from({ length: ROUNDS }, (_, i) => i + 1) : [Number(only)]
  for (const seed of seeds)
    try {
      body(chance(seed), seed)
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
    }
}

/** A StatusError is an answer; anything else is a mistake of ours. */
function answered<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof StatusError) {
      assert.ok(error.code >= 400 && error.code < 600)
      return undefined
    }
    throw error
  }
}

const decode = (bytes: Uint8Array, contentType: string, row: ResourceRow) =>
  decodeBody({ kind: 'bytes', bytes, contentType }, row, {
    fieldValidation: 'Ignore',
    decodeProtobuf: (body, expected) => decodeProtobuf(body, expected),
  }).object

/** Kubernetes reads YAML 1.1, where `y` is true. */
const yamlOf = (value: unknown): string => stringify(value, { version: '1.1' })

const TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** Some bytes flipped, cut, doubled or replaced by what parsers trip over. */
function broken(bytes: Uint8Array, rand: Chance): Buffer {
  let out = Buffer.from(bytes)
  const many = 1 + Math.floor(rand.float() * 4)
  for (let i = 0; i < many && out.length > 0; i++) {
    const at = Math.floor(rand.float() * out.length)
    const length = Math.floor(rand.float() * 20)
    const insert = Buffer.from(
      rand.pick([
        '',
        '{',
        '}',
        '[',
        '"',
        '\\',
        '\u0000',
        ':',
        ',',
        '&a',
        '*a',
        '\n- ',
        '\xff',
        '1e999',
        'null',
        '__proto__',
      ]),
      'latin1',
    )
    out = Buffer.concat([out.subarray(0, at), insert, out.subarray(Math.min(out.length, at + length))])
    if (out.length > 0 && rand.float() < 0.5) {
      const flip = Math.floor(rand.float() * out.length)
      out[flip] = out[flip]! ^ (1 << Math.floor(rand.float() * 8))
    }
  }
  return out
}

/** Any JSON, with a weakness for names that mean something. */
function anyJson(rand: Chance, depth = 0): Json {
  const roll = rand.float()
  if (depth > 4 || roll < 0.5)
    return rand.pick<Json>([null, true, 0, -1, 1.5, 2 ** 60, '', 'x', '/metadata', '__proto__', [], {}])
  const size = Math.floor(rand.float() * 4)
  if (roll < 0.7) return Array.from({ length: size }, () => anyJson(rand, depth + 1))
  const names = [
    'metadata',
    'name',
    'labels',
    'spec',
    'containers',
    '$patch',
    '$retainKeys',
    '$setElementOrder/containers',
    '__proto__',
    'constructor',
    'op',
    'path',
    'value',
    'from',
  ]
  return Object.fromEntries(Array.from({ length: size }, () => [rand.pick(names), anyJson(rand, depth + 1)]))
}

test('an object survives JSON, YAML and protobuf, and comes back the same', () => {
  for (const { object, row } of corpus) {
    const canonical = decode(encodeJson(object), 'application/json', row)
    assert.deepEqual(decode(encodeJson(canonical), 'application/json', row), canonical, `${object.kind} as JSON`)
    const yaml = Buffer.from(yamlOf(JSON.parse(Buffer.from(encodeJson(canonical)).toString())))
    assert.deepEqual(decode(yaml, 'application/yaml', row), canonical, `${object.kind} as YAML`)
    if (!hasMessage(row.schema)) continue
    const again = decode(encodeProtobuf(canonical as unknown as JsonObject, row.schema), TYPES[2]!, row)
    assert.deepEqual(
      JSON.parse(Buffer.from(encodeJson(again)).toString()),
      JSON.parse(Buffer.from(encodeJson(canonical)).toString()),
      `${object.kind} as protobuf`,
    )
  }
})

test('broken bytes end in an answer, in every encoding', () => {
  rounds((rand) => {
    const { object, row } = rand.pick(corpus)
    const type = rand.pick(TYPES)
    const bytes =
      type === 'application/vnd.kubernetes.protobuf' && hasMessage(row.schema)
        ? encodeProtobuf(decode(encodeJson(object), 'application/json', row) as unknown as JsonObject, row.schema)
        : type === 'application/yaml'
          ? Buffer.from(yamlOf(object))
          : encodeJson(object)
    const decoded = answered(() => decode(broken(bytes, rand), type, row))
    // What was taken after all is canonical: taking it again changes nothing.
    if (decoded) assert.deepEqual(decode(encodeJson(decoded), 'application/json', row), decoded)
  })
})

test('random patches end in an answer and leave the object they were given alone', () => {
  const kinds: readonly PatchType[] = ['json', 'merge', 'strategic']
  rounds((rand) => {
    const { object, row } = rand.pick(corpus)
    const live = decode(encodeJson(object), 'application/json', row)
    const before = Buffer.from(encodeJson(live)).toString()
    const type = rand.pick(kinds)
    const patch =
      type === 'json'
        ? Array.from({ length: Math.floor(rand.float() * 4) }, () => ({
            op: rand.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'bogus']),
            path: rand.pick([
              '',
              '/',
              '/metadata',
              '/metadata/name',
              '/spec/containers/0',
              '/spec/-',
              '/__proto__/x',
              '/a~1b',
              '/~2',
            ]),
            from: rand.pick(['', '/metadata', '/spec', '/nope']),
            value: anyJson(rand),
          }))
        : rand.float() < 0.5
          ? { metadata: anyJson(rand), spec: anyJson(rand) }
          : anyJson(rand)
    answered(() => applyPatch({ type, patch: patch as Json, live: live as KubeObject, schema: row.schema }))
    assert.equal(Buffer.from(encodeJson(live)).toString(), before)
    assert.equal(({} as Record<string, unknown>)['x'], undefined)
  })
})
