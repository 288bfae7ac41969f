import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutField } from './skipped-field.ts'

const NAME = Buffer.from('"managedFields":')

function skipped(metadata: object, rest: object = {}) {
  const before = '{"kind":"Pod","metadata":{'
  const text = `${before}${JSON.stringify(metadata).slice(1)}${JSON.stringify({ '': 0, ...rest }).slice('{"":0'.length)}`
  return JSON.parse(withoutField(Buffer.from(text), before.length, NAME))
}

const fields = [{ manager: 'a "]},', fieldsV1: { 'f:spec': { 'k:{"ip":"1"}': {}, '\\"': ['ü', '}'] } } }]

test('a field of metadata is left out wherever it stands among the others', () => {
  const others = { name: 'a', labels: { a: '"managedFields":[1]' }, ownerReferences: [{ uid: '{' }], generation: 7 }
  assert.deepEqual(skipped({ ...others, managedFields: fields }), { kind: 'Pod', metadata: others })
  assert.deepEqual(skipped({ managedFields: fields, ...others }), { kind: 'Pod', metadata: others })
  const { name, ...more } = others
  assert.deepEqual(skipped({ name, managedFields: fields, ...more }), { kind: 'Pod', metadata: { name, ...more } })
  assert.deepEqual(skipped({ managedFields: fields }), { kind: 'Pod', metadata: {} })
})

test('where metadata has no such field everything stays, also a field of that name elsewhere', () => {
  const spec = { template: { metadata: { managedFields: fields } }, managedFields: 'é' }
  assert.deepEqual(skipped({ name: 'a' }, { spec }), { kind: 'Pod', metadata: { name: 'a' }, spec })
  assert.deepEqual(skipped({}, { spec }), { kind: 'Pod', metadata: {}, spec })
  const nested = { annotations: { managedFields: 'x' }, name: 'a' }
  assert.deepEqual(skipped(nested, { spec }), { kind: 'Pod', metadata: nested, spec })
  assert.deepEqual(skipped({ ...nested, managedFields: [] }, { spec }), { kind: 'Pod', metadata: nested, spec })
})
