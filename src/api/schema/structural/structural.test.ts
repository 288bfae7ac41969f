import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultErrors } from './check-defaults.ts'
import { schemaErrors } from './check-schema.ts'
import { isConvertible, structureErrors } from './check-structure.ts'
import { validateListTypes } from './list-types.ts'
import { applyStructuralDefaults, dropNulls, prune } from './prune-and-default.ts'
import { isSurelyValid } from './quick-validate.ts'
import { type JSONSchemaProps, structuralOf } from './structural.ts'
import { validateValue } from './validate-value.ts'

const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['mode'],
      properties: {
        mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
        size: { type: 'integer', format: 'int32', minimum: 1, maximum: 10 },
        title: { type: 'string', pattern: '^(a+)+$' },
        port: { 'x-kubernetes-int-or-string': true },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        maybe: { type: 'string', nullable: true },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, n: { type: 'integer', default: 1 } },
          },
        },
        one: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'string' } },
          oneOf: [{ required: ['a'] }, { required: ['b'] }],
        },
      },
    },
  },
}
const structural = structuralOf(schema)
const messages = (value: unknown, old?: unknown) =>
  validateValue(value as never, schema, '', old === undefined ? undefined : { value: old as never }).map(
    ({ field, message }) => `${field}: ${message}`,
  )

test('pruning takes away what the schema does not name, and says where it was', () => {
  const unknown = { paths: [] as string[] }
  const object = {
    metadata: { x: 1 },
    spec: { bogus: 1, free: { any: [1] }, parts: [{ name: 'p', z: 1 }] },
    __proto__x: 1,
  }
  const pruned = prune(object, structural, unknown)
  assert.deepEqual(pruned, { metadata: { x: 1 }, spec: { free: { any: [1] }, parts: [{ name: 'p' }] } })
  assert.deepEqual(unknown.paths.sort(), ['__proto__x', 'spec.bogus', 'spec.parts[0].z'])
})

test('pruning keeps the identity of what it does not change', () => {
  const object = { spec: { mode: 'A', free: { x: 1 } } }
  assert.equal(prune(object, structural), object)
})

test('__proto__ is a key like any other', () => {
  const object = JSON.parse('{"spec":{"free":{"__proto__":{"x":1}},"__proto__":{"y":1}}}')
  const pruned = prune(object, structural) as { spec: { free: object } }
  assert.ok(Object.hasOwn(pruned.spec.free, '__proto__'))
  assert.ok(!Object.hasOwn(pruned.spec, '__proto__'))
  assert.equal(({} as { x?: number }).x, undefined)
})

test('defaults fill what is absent or null without leave', () => {
  assert.deepEqual(applyStructuralDefaults({ spec: { mode: null, parts: [{ name: 'p' }] } }, structural), {
    spec: { mode: 'A', parts: [{ name: 'p', n: 1 }] },
  })
  assert.deepEqual(dropNulls({ spec: { size: null, maybe: null } }, structural), { spec: { maybe: null } })
})

test('values are judged in the words of Kubernetes', () => {
  assert.deepEqual(messages({ spec: { mode: 1 } }), [
    'spec.mode: Invalid value: "integer": spec.mode in body must be of type string: "integer"',
    'spec.mode: Unsupported value: 1: supported values: "A", "B"',
  ])
  assert.deepEqual(messages({ spec: {} }), ['spec.mode: Required value'])
  assert.deepEqual(messages({ spec: { mode: 'A', size: 11 } }), [
    'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10',
  ])
  assert.deepEqual(messages({ spec: { mode: 'A', port: [] } }), [
    'spec.port: Invalid value: "array": spec.port in body must be of type integer,string: "array"',
  ])
  assert.deepEqual(messages({ spec: { mode: 'A', one: { a: '', b: '' } } }), [
    ': Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ])
})

test('an update is not held to what it does not change', () => {
  const old = { spec: { mode: 'bad', size: 1 } }
  assert.deepEqual(messages({ spec: { mode: 'bad', size: 2 } }, old), [])
  assert.equal(messages({ spec: { mode: 'worse', size: 1 } }, old).length, 1)
})

test('a keyed list whose items change places is not changed, any other is', () => {
  const item = {
    type: 'object',
    properties: { k: { type: 'string' }, v: { type: 'string', enum: ['ok'] } },
  }
  const list = { type: 'array', maxItems: 1, items: item }
  const keyedList = { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
  const schema = {
    type: 'object',
    required: ['missing'],
    properties: { keyed: keyedList, plain: list, deep: { type: 'object', additionalProperties: keyedList } },
  } as JSONSchemaProps
  const [a, b] = [{ k: 'a', v: 'x' }, { k: 'b' }]
  const old = { keyed: [a, b], plain: [a, b], deep: { d: [a, b] } }
  const problems = (change: object) =>
    validateValue({ ...old, ...change }, schema, '', { value: old }).map(({ field }) => field)
  assert.deepEqual(problems({}), [])
  assert.deepEqual(problems({ keyed: [b, a] }), [])
  assert.deepEqual(problems({ deep: { d: [b, a] } }), [])
  assert.deepEqual(problems({ plain: [b, a] }), ['plain[1].v', 'plain', 'missing'])
  assert.deepEqual(problems({ keyed: [b] }), ['missing'])
  assert.deepEqual(problems({ keyed: [{ ...b, v: 'y' }, a] }), ['keyed[0].v', 'keyed', 'missing'])
  assert.deepEqual(problems({ keyed: [b, a, { k: 'c' }] }), ['keyed', 'missing'])
  assert.deepEqual(problems({ deep: { e: [b, a] } }), ['deep.e[1].v', 'deep.e', 'missing'])
})

test('no enum allows null, not even one that names it', () => {
  for (const allowed of [['a', null], ['a']]) {
    const schema = { type: 'string', nullable: true, enum: allowed } as JSONSchemaProps
    const supported = allowed.map((one) => JSON.stringify(String(one))).join(', ')
    assert.deepEqual(
      validateValue(null, schema).map(({ message }) => message),
      [`Unsupported value: null: supported values: ${supported}`],
    )
    assert.equal(isSurelyValid(null, schema), false)
  }
})

test('a hostile pattern takes linear time', () => {
  assert.equal(messages({ spec: { mode: 'A', title: `${'a'.repeat(50_000)}!` } }).length, 1)
})

test('keyed lists hold no key twice', () => {
  const errors = validateListTypes({ spec: { parts: [{ name: 'p' }, { name: 'p' }] } }, structural)
  assert.deepEqual(
    errors.map(({ field, message }) => `${field}: ${message}`),
    ['spec.parts[1]: Duplicate value: {"name":"p"}'],
  )
})

test('what a set holds twice is told with its keys in order, as Go writes maps', () => {
  const set = structuralOf({
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
  } as JSONSchemaProps)
  const errors = validateListTypes(
    [
      { b: '1', a: '2' },
      { a: '2', b: '1' },
    ],
    set,
    'spec.set',
  )
  assert.deepEqual(
    errors.map(({ field, message }) => `${field}: ${message}`),
    ['spec.set[1]: Duplicate value: {"a":"2","b":"1"}'],
  )
})

test('a schema without types is not structural', () => {
  const errors = structureErrors({ properties: { a: {} } } as JSONSchemaProps, 's')
  assert.deepEqual(
    errors.map(({ field }) => field),
    ['s.properties[a].type', 's.type'],
  )
})

test('what keeps unknown fields needs no type, at the root neither; where it says that it does not, nothing more is judged', () => {
  const preserve = { 'x-kubernetes-preserve-unknown-fields': true }
  assert.deepEqual(structureErrors({ ...preserve, properties: { a: preserve } } as JSONSchemaProps, 's'), [])
  const says = { 'x-kubernetes-preserve-unknown-fields': false }
  assert.equal(isConvertible({ type: 'object', properties: { a: says } } as JSONSchemaProps), false)
})

test('defaults must be valid and known', () => {
  const bad = structuralOf({
    type: 'object',
    properties: { a: { type: 'integer', default: 'x' }, b: { type: 'object', default: { z: 1 } } },
  })
  assert.deepEqual(
    defaultErrors(bad, 's', () => []).map(({ message }) => message),
    [
      'Invalid value: "string":  in body must be of type integer: "string"',
      'Invalid value: {"z":1}: must not have unknown fields',
    ],
  )
})

test('what OpenAPI has and Kubernetes does not is refused', () => {
  const errors = schemaErrors({ type: 'object', $ref: '#/x', uniqueItems: true, pattern: '([' }, 's', undefined)
  assert.deepEqual(
    errors.map(({ field }) => field),
    ['s.$ref', 's.pattern', 's.uniqueItems'],
  )
})

test('of a keyed list with an item that is no object only the first such is told', () => {
  const errors = validateListTypes({ spec: { parts: [{ name: 'p' }, { name: 'p' }, 1, 'x'] } }, structural)
  assert.deepEqual(
    errors.map(({ field, message }) => `${field}: ${message}`),
    ['spec.parts[2]: Invalid value: 1: must be an object for an array of list-type map'],
  )
})

test('what cannot be printed is escaped as Go escapes it', () => {
  const dated: JSONSchemaProps = { type: 'object', properties: { day: { type: 'string', format: 'date' } } }
  assert.deepEqual(
    validateValue({ day: 'a\u0001\u007f' }, dated, '').map(({ message }) => message),
    [String.raw`Invalid value: "a\x01\x7f": day in body must be of type date: "a\x01\x7f"`],
  )
})

test('what several parts of a schema say alike is told once, where it is said first', () => {
  const letters = { enum: ['A', 'B'] }
  const doubled: JSONSchemaProps = {
    type: 'object',
    properties: {
      a: { type: 'string', ...letters, allOf: [letters, letters] },
      b: { type: 'string', allOf: [letters, { enum: ['A'] }] },
    },
  }
  assert.deepEqual(
    validateValue({ a: 'C' }, doubled, '').map(({ field }) => field),
    ['a', ''],
  )
  // Other words are another fault.
  assert.deepEqual(
    validateValue({ b: 'C' }, doubled, '').map(({ field }) => field),
    ['b', 'b', ''],
  )
})
