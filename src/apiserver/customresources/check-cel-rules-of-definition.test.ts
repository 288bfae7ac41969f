import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Json, KubeObject } from '../../api/object.ts'
import { type JSONSchemaProps, structuralOf } from '../../api/schema/structural/structural.ts'
import { validateRules } from '../../api/validation/x-kubernetes-validations.ts'

const LIST = { type: 'array', items: { type: 'string' } }
const object = (spec: Json): KubeObject =>
  ({ apiVersion: 't.org/v1', kind: 'A', metadata: { name: 'a' }, spec }) as KubeObject
const ruled = (spec: Fields, ...rules: readonly Fields[]) =>
  structuralOf({
    type: 'object',
    properties: { spec: { ...spec, 'x-kubernetes-validations': rules } },
  } as JSONSchemaProps)
const number = { type: 'object', properties: { n: { type: 'integer' }, s: { type: 'string' }, l: LIST } }
const told = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`)

interface Case {
  readonly schema?: Fields
  readonly rule: Fields
  readonly value: Json
  readonly old?: Json
  readonly failed?: readonly string[]
  readonly tolerated?: readonly string[]
}
const positive = { rule: 'self.n > 0' }
const FAILED = 'spec: Invalid value: failed rule: self.n > 0'
const cases: Readonly<Record<string, Case>> = {
  'one that holds': { rule: positive, value: { n: 1 } },
  'one that does not': { rule: positive, value: { n: 0 }, failed: [FAILED] },
  'its own message, trimmed': {
    rule: { ...positive, message: ' more! ' },
    value: { n: 0 },
    failed: ['spec: Invalid value: more!'],
  },
  'a message that is worked out': {
    rule: { ...positive, message: 'no', messageExpression: '"n is " + string(self.n)' },
    value: { n: -2 },
    failed: ['spec: Invalid value: n is -2'],
  },
  'a message that cannot be worked out, or has lines': {
    rule: { ...positive, message: 'no', messageExpression: '"a\\n" + string(self.n)' },
    value: { n: -2 },
    failed: ['spec: Invalid value: no'],
  },
  'a field and a reason': {
    rule: { ...positive, fieldPath: '.n', reason: 'FieldValueForbidden', message: 'no' },
    value: { n: 0 },
    failed: ['spec.n: Forbidden: no'],
  },
  'a required one': {
    rule: { ...positive, reason: 'FieldValueRequired', message: 'no' },
    value: { n: 0 },
    failed: ['spec: Required value: no'],
  },
  'a text is shown, objects are not': {
    schema: { type: 'string' },
    rule: { rule: 'self.size() > 3' },
    value: 'abc',
    failed: ['spec: Invalid value: "abc": failed rule: self.size() > 3'],
  },
  'a field that is not there': {
    rule: positive,
    value: {},
    failed: ['spec: Invalid value: "object": no such key: n evaluating rule: self.n > 0'],
  },
  'wrong already, and as it was': { rule: positive, value: { n: 0 }, old: { n: 0 }, tolerated: [FAILED] },
  'wrong already, and changed': { rule: positive, value: { n: 0 }, old: { n: -1 }, failed: [FAILED] },
  'a transition has nothing to say of what is new': { rule: { rule: 'self.n >= oldSelf.n' }, value: { n: 1 } },
  'a transition': {
    rule: { rule: 'self.n >= oldSelf.n' },
    value: { n: 1 },
    old: { n: 2 },
    failed: ['spec: Invalid value: failed rule: self.n >= oldSelf.n'],
  },
  'a transition is not excused': {
    rule: { rule: 'self.n > oldSelf.n' },
    value: { n: 1 },
    old: { n: 1 },
    failed: ['spec: Invalid value: failed rule: self.n > oldSelf.n'],
  },
  'an old value that need not be there': {
    rule: { rule: 'oldSelf.hasValue()', optionalOldSelf: true },
    value: { n: 1 },
    failed: ['spec: Invalid value: failed rule: oldSelf.hasValue()'],
  },
  'what costs too much ends it': {
    rule: { rule: 'self.l.all(a, self.l.all(b, self.l.all(c, a + b + c != "x")))' },
    value: { l: Array.from({ length: 120 }, (_, i) => `${i}`) },
    failed: [
      'spec: Invalid value: "object": no further validation rules will be run due to call cost exceeds limit for rule: self.l.all(a, self.l.all(b, self.l.all(c, a + b + c != "x")))',
    ],
  },
}
for (const [what, { schema = number, rule, value, old, failed = [], tolerated = [] }] of Object.entries(cases))
  test(`a rule: ${what}`, () => {
    const found = validateRules(object(value), old === undefined ? undefined : object(old), ruled(schema, rule))
    assert.deepEqual([told(found.failed), told(found.tolerated)], [failed, tolerated])
  })

test('rules are found at each place of lists and maps, and an item of a keyed list is compared with its own former self', () => {
  const item = {
    type: 'object',
    properties: { k: { type: 'string' }, n: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n' }],
  }
  const schema = structuralOf({
    type: 'object',
    properties: {
      spec: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: item },
      map: {
        type: 'object',
        additionalProperties: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != "x"' }] },
      },
    },
  } as JSONSchemaProps)
  const old = object([
    { k: 'a', n: 2 },
    { k: 'b', n: 1 },
  ])
  const next = {
    ...object([
      { k: 'b', n: 1 },
      { k: 'a', n: 1 },
      { k: 'c', n: 0 },
    ]),
    map: { y: 'x' },
  }
  assert.deepEqual(told(validateRules(next, old, schema).failed), [
    'spec[1]: Invalid value: failed rule: self.n >= oldSelf.n',
    'map[y]: Invalid value: "x": failed rule: self != "x"',
  ])
})
