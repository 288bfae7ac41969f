import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type JsonObject, parseApiVersion } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import { builtinKind } from '../scheme/scheme.ts'
import { decodeBody } from './decode.ts'
import { decodeProtobuf, encodeProtobuf, encodeProtobufWatchEvent } from './protobuf.ts'
import { ProtobufError } from './protobuf-wire.ts'

interface Recorded {
  readonly json: JsonObject & { readonly apiVersion: string; readonly kind: string }
  readonly protobuf: string
}
interface RecordedEvent {
  readonly type: string
  readonly object: Recorded['json']
}

/** Objects and a watch as a real API server encoded them. */
const recorded = JSON.parse(readFileSync(new URL('./protobuf-recorded.json', import.meta.url), 'utf8')) as {
  readonly objects: readonly Recorded[]
  readonly watch: { readonly json: readonly RecordedEvent[]; readonly protobuf: string }
}

function expectedOf({ apiVersion, kind }: Recorded['json']) {
  const { group, version } = parseApiVersion(apiVersion)
  const known = builtinKind(group, version, kind) ?? builtinKind('meta.k8s.io', 'v1', kind)
  if (known === undefined || known === 'unserved') throw new Error(`no schema for ${kind}`)
  return { group, version, kind, schema: known.schema }
}

test('objects are encoded byte for byte as Kubernetes does', () => {
  for (const { json, protobuf } of recorded.objects) {
    assert.equal(Buffer.from(encodeProtobuf(json, expectedOf(json).schema)).toString('base64'), protobuf, json.kind)
  }
})

test('what Kubernetes encoded is decoded to the same object', () => {
  for (const { json, protobuf } of recorded.objects) {
    const expected = expectedOf(json)
    const body = {
      kind: 'bytes',
      bytes: Buffer.from(protobuf, 'base64'),
      contentType: 'application/vnd.kubernetes.protobuf',
    } as const
    const { object } = decodeBody(body, expected, { fieldValidation: 'Strict', decodeProtobuf })
    assert.deepEqual(object, json)
  }
})

test('a watch is a row of frames', () => {
  const frames = recorded.watch.json.map(({ type, object }) =>
    encodeProtobufWatchEvent(type, object, expectedOf(object).schema),
  )
  assert.equal(Buffer.concat(frames).toString('base64'), recorded.watch.protobuf)
})

test('broken messages are refused, whatever they are', () => {
  const expected = expectedOf(recorded.objects[0]!.json)
  const whole = Buffer.from(recorded.objects[0]!.protobuf, 'base64')
  assert.throws(() => decodeProtobuf(Buffer.from('nonsense'), expected), ProtobufError)
  for (let at = 0; at < whole.length; at++) {
    for (const broken of [whole.subarray(0, at), Buffer.from(whole).fill(0xff, at, at + 1)]) {
      try {
        decodeProtobuf(broken, expected)
      } catch (error) {
        assert.ok(error instanceof ProtobufError, String(error))
      }
    }
  }
})

test('a message nested without end is refused', () => {
  const schema = schemaOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition')
  const expected = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', schema }
  const nested = (bytes: Buffer, number: number) => {
    const length: number[] = []
    for (let rest = bytes.length; ; rest >>= 7) {
      length.push(rest < 128 ? rest : (rest & 127) | 128)
      if (rest < 128) break
    }
    const tag = number * 8 + 2
    return Buffer.concat([Buffer.from(tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7]), Buffer.from(length), bytes])
  }
  let not = Buffer.alloc(0)
  for (let i = 0; i < 3000; i++) not = nested(not, 28)
  const version = nested(nested(not, 1), 4)
  const message = nested(nested(version, 7), 2)
  const bytes = Buffer.concat([Buffer.from('k8s\0'), nested(message, 2)])
  assert.throws(() => decodeProtobuf(bytes, expected), ProtobufError)
})

test('keys of maps are data, and come sorted by their bytes', () => {
  const { json } = recorded.objects[0]!
  const expected = expectedOf(json)
  const data = JSON.parse('{"z":"1","__proto__":"2","\\ud83d\\ude00":"3","\\uffff":"4"}') as JsonObject
  const decoded = decodeProtobuf(encodeProtobuf({ ...json, data }, expected.schema), expected)
  assert.deepEqual(Object.keys(decoded['data'] as object), ['__proto__', 'z', '\uffff', '\u{1f600}'])
})
