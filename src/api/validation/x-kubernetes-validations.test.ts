import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../object.ts'
import { defaultErrors } from '../schema/structural/check-defaults.ts'
import { structuralOf } from '../schema/structural/structural.ts'
import { rulesOfDefaults, validateRules } from './x-kubernetes-validations.ts'

const told = (schema: Fields): readonly string[] =>
  defaultErrors(structuralOf(schema), 's', rulesOfDefaults()).map(({ field, message }) => `${field}: ${message}`)

const optional = (rule: string) => ({ rule, optionalOldSelf: true })

/** What a v1.37.1 answered on 2026-11-27. */
test('a default must hold where it follows itself, and where it does, also where nothing was before', () => {
  const of = (...rules: readonly object[]) => told({ type: 'integer', default: 1, 'x-kubernetes-validations': rules })
  const [has, hasNot] = [optional('oldSelf.hasValue()'), optional('!oldSelf.hasValue()')]
  const saying = (rule: string) => `s.default: Invalid value: 1: failed rule: ${rule}`
  assert.deepEqual(of(has), [saying(has.rule)])
  assert.deepEqual(of(hasNot), [saying(hasNot.rule)])
  assert.deepEqual(of(has, hasNot), [saying(hasNot.rule)])
  assert.deepEqual(of(has, { rule: 'self > 5' }), [saying('self > 5')])
  assert.deepEqual(of(optional('oldSelf.orValue(0) > 5')), [saying('oldSelf.orValue(0) > 5')], 'once')
  assert.deepEqual(of({ rule: 'self > oldSelf' }), [saying('self > oldSelf')])
  assert.deepEqual(of({ rule: 'self >= oldSelf' }), [])
})

/** Each costs some 650,000 of the ten million that all defaults have; `where` says in which of the two it is run. */
const dear = (count: number, list: string, where = '') =>
  Array.from({ length: count }, () => optional(`${where}${list}.all(x, ${list}.all(y, x + y >= 0))`))
const PUT = '!oldSelf.hasValue() || '
const POST = 'oldSelf.hasValue() || '
const numbers = Array.from({ length: 330 }, (_, i) => i)
const list = { type: 'array', items: { type: 'integer' } }
const nested = (outer: readonly object[], inner: readonly object[]) =>
  told({ type: 'object', properties: { o: object(outer, inner) } })
const object = (outer: readonly object[], inner: readonly object[]) => ({
  type: 'object',
  default: { l: numbers },
  properties: { l: list, b: { ...list, default: numbers, 'x-kubernetes-validations': inner } },
  'x-kubernetes-validations': outer,
})
const OUT =
  'Invalid value: "X": validation failed due to running out of cost budget, no further validation rules will be run'
const outer = `s.properties[o].default: ${OUT.replace('X', 'object')}`
const inner = `s.properties[o].properties[b].default: ${OUT.replace('X', 'array')}`

test('defaults share one budget, of which each takes what the dearer of its two runs took', () => {
  assert.deepEqual(nested([...dear(12, 'self.l', PUT), ...dear(12, 'self.l', POST)], dear(1, 'self')), [])
  for (const where of [PUT, POST]) assert.deepEqual(nested(dear(10, 'self.l', where), dear(8, 'self', PUT)), [inner])
  assert.deepEqual(nested(dear(20, 'self.l'), [{ rule: 'self.size() > 1000' }]), [outer], 'no others are judged')
})

test('what fails already is borne where a keyed list only changed its order', () => {
  const schema = structuralOf({
    type: 'object',
    properties: {
      list: {
        type: 'array',
        maxItems: 3,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        'x-kubernetes-validations': [{ rule: 'self.size() < 2' }],
        items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
      },
    },
  })
  const object = (...keys: readonly string[]) => ({
    apiVersion: 'a/v1',
    kind: 'A',
    metadata: {},
    list: keys.map((k) => ({ k })),
  })
  const fields = (...keys: readonly string[]) => {
    const { failed, tolerated } = validateRules(object(...keys), object('a', 'b'), schema)
    return [failed.map(({ field }) => field), tolerated.map(({ field }) => field)]
  }
  assert.deepEqual(fields('b', 'a'), [[], ['list']])
  assert.deepEqual(fields('b', 'c'), [['list'], []])
})
