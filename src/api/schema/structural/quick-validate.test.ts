/** The quick ways say yes only where the slow ones find nothing: thousands of schemas and values, drawn from one seed each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../base/random.ts'
import { misfitsOf, surelyFits } from '../../fields/validate.ts'
import type { Json, JsonObject } from '../../object.ts'
import { jsonText } from '../../values/json.ts'
import { applyStructuralDefaults, dropNulls, isSettled, prune } from './prune-and-default.ts'
import { isSurelyValid } from './quick-validate.ts'
import { type JSONSchemaProps, structuralOf } from './structural.ts'
import { customResourceSchema } from './to-schema.ts'
import { validateValue } from './validate-value.ts'

const NAMES = ['a', 'b', 'c', 'metadata']
const SEEDS = 2500

function drawing(seed: number) {
  const random = seededRandom(seed)
  const below = (count: number) => Math.floor(random.float() * count)
  const chance = (share: number) => random.float() < share
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const sometimes = (share: number, more: () => object): object => (chance(share) ? more() : {})

  const scalar = (): Json =>
    pick<Json>(['', 'x', 'xyz', 'ü😀', 0, 1, 7, -3, 1.5, 9007199254740993n as never, true, false])
  const value = (depth: number): Json => {
    if (chance(0.05)) return null
    if (depth === 0 || chance(0.3)) return scalar()
    if (chance(0.4)) return Array.from({ length: below(4) }, () => value(depth - 1))
    return Object.fromEntries(NAMES.filter(() => chance(0.5)).map((name) => [name, value(depth - 1)]))
  }

  const schema = (depth: number): JSONSchemaProps => {
    const type =
      depth === 0
        ? pick(['string', 'integer', 'number', 'boolean', ''])
        : pick(['object', 'object', 'array', 'string', 'integer', ''])
    return {
      ...(type === '' ? sometimes(0.5, () => ({ 'x-kubernetes-int-or-string': true })) : { type }),
      ...sometimes(0.15, () => ({ nullable: true })),
      ...sometimes(0.15, () => ({ default: scalar() })),
      ...sometimes(0.1, () => ({ enum: [scalar(), scalar(), 'x', 1] })),
      ...sometimes(0.1, () => ({ format: pick(['int32', 'int64', 'date', 'byte', 'double', 'unheard']) })),
      ...sometimes(0.1, () => ({ 'x-kubernetes-preserve-unknown-fields': true })),
      ...sometimes(0.1, () => ({ anyOf: [{ type: 'integer' }, { type: 'string', maxLength: 2 }] })),
      ...sometimes(0.05, () => ({ oneOf: [{ minimum: 1 }, { enum: ['x', 7] }, { type: 'object' }] })),
      ...sometimes(0.05, () => ({ allOf: [{ maximum: 5 }, { maxLength: 2 }] })),
      ...sometimes(0.05, () => ({ not: { enum: ['x', 0] } })),
      ...sometimes(0.3, () => ({ minLength: below(3), maxLength: below(4), pattern: pick(['', '^x', 'z$']) })),
      ...sometimes(0.3, () => ({
        minimum: below(3),
        exclusiveMinimum: chance(0.5),
        maximum: 7,
        exclusiveMaximum: chance(0.5),
      })),
      ...sometimes(0.1, () => ({ multipleOf: pick([1, 2, 1.5]) })),
      ...(type === 'array'
        ? {
            items: schema(depth - 1),
            ...sometimes(0.2, () => ({ minItems: below(2), maxItems: 1 + below(4), uniqueItems: chance(0.5) })),
            ...sometimes(0.4, () => ({
              'x-kubernetes-list-type': pick(['set', 'map', 'atomic']),
              'x-kubernetes-list-map-keys': ['a'],
            })),
          }
        : {}),
      ...(type === 'object'
        ? {
            ...sometimes(0.8, () => ({
              properties: Object.fromEntries(NAMES.filter(() => chance(0.6)).map((name) => [name, schema(depth - 1)])),
            })),
            ...sometimes(0.3, () => ({
              additionalProperties: pick<JSONSchemaProps | boolean>([true, false, schema(depth - 1)]),
            })),
            ...sometimes(0.2, () => ({ required: [pick(NAMES)] })),
            ...sometimes(0.1, () => ({ minProperties: below(3), maxProperties: below(4) })),
          }
        : {}),
    } as JSONSchemaProps
  }
  const object = (): JSONSchemaProps => ({ ...schema(1 + (seed % 3)), type: 'object' })
  /** Mostly of the types that the schema names. */
  const near = (props: JSONSchemaProps | boolean | undefined): Json => {
    if (typeof props !== 'object' || chance(0.08)) return value(1)
    switch (props.type) {
      case 'object': {
        const named = Object.entries(props.properties ?? {}).filter(() => chance(0.7))
        const others =
          typeof props.additionalProperties === 'object' && chance(0.5)
            ? [['d', props.additionalProperties] as const]
            : []
        return Object.fromEntries([...named, ...others].map(([name, inner]) => [name, near(inner)]))
      }
      case 'array':
        return Array.from({ length: below(6) }, () => near(props.items as JSONSchemaProps))
      case 'string':
        return pick(['', 'x', 'xyz', '😀'])
      case 'boolean':
        return chance(0.5)
      default:
        return pick([0, 1, 3, 7, 6, 1.5])
    }
  }
  return { object, near }
}

test('what is quickly found valid has no errors, and nearly all that has none is quickly found', () => {
  let valid = 0
  let quick = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const draw = drawing(seed)
    const schema = draw.object()
    for (const value of [draw.near(schema), draw.near(schema), {}, null]) {
      const errors = validateValue(value, schema)
      const surely = isSurelyValid(value, schema)
      if (surely) assert.deepEqual(errors, [], `seed ${seed}: ${jsonText(schema)}`)
      if (value === null || errors.length > 0) continue
      valid++
      if (surely) quick++
    }
  }
  assert.ok(valid > SEEDS / 4, `${valid} valid ones are few`)
  assert.ok(quick > valid * 0.95, `of ${valid} valid ones ${quick} are found quickly`)
})

test('what is settled stays the very same when nulls are dropped, defaults filled in and unknown fields pruned', () => {
  let settled = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const draw = drawing(seed)
    const props = draw.object()
    const schema = structuralOf(props)
    const drawn = draw.near(props)
    if (typeof drawn !== 'object' || drawn === null || Array.isArray(drawn)) continue
    const { metadata: _, ...fields } = drawn as JsonObject
    const made = prune(applyStructuralDefaults(dropNulls(fields, schema), schema) as JsonObject, schema)
    for (const object of [fields, made]) {
      if (!isSettled(object, schema)) continue
      settled++
      const again = prune(applyStructuralDefaults(dropNulls(object, schema), schema) as JsonObject, schema)
      assert.equal(again, object, `seed ${seed}`)
    }
  }
  assert.ok(settled > SEEDS / 4, `${settled} settled ones are few`)
})

test('what surely fits a schema has no errors of configuration', () => {
  let fitting = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const draw = drawing(seed)
    const props = draw.object()
    const value = draw.near(props)
    const schema = customResourceSchema(structuralOf(props))
    if (!surelyFits(value, schema)) continue
    fitting++
    assert.deepEqual(
      misfitsOf(value, schema).filter(({ kind }) => kind !== 'duplicate'),
      [],
      `seed ${seed}: ${jsonText(props)}`,
    )
  }
  assert.ok(fitting > SEEDS / 4, `${fitting} fitting ones are few`)
})
