/**
 * What a Kubernetes v1.37.1 takes rules to cost at most (estimated-costs.json): by the factor that it told of each, in the items of an
 * array as long as it takes for a definition to be refused.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type JSONSchemaProps, structuralOf } from '../schema/structural/structural.ts'
import { compileExpression } from './program.ts'
import { typeOfSchema } from './schema-types.ts'
import type { Type } from './types.ts'

interface Recorded {
  readonly schema: JSONSchemaProps
  /** `more`: than is ever told. */
  readonly costs: Readonly<Record<string, number | 'more'>>
}

const { schema, costs } = JSON.parse(readFileSync(new URL('estimated-costs.json', import.meta.url), 'utf8')) as Recorded
const self = typeOfSchema(structuralOf(schema)) as Type

const UNTOLD = 1e9
/** A factor is told with seven digits. */
const SHARE = 1e-5

function estimated(rule: string): number {
  const made = compileExpression(rule, new Map([...['self', 'oldSelf'].map((name): [string, Type] => [name, self])]))
  assert.ok('program' in made, 'error' in made ? made.error : '')
  return made.program.maxCost
}

test('rules are estimated as Kubernetes estimates them', () => {
  const wrong = Object.entries(costs).flatMap(([rule, theirs]) => {
    const ours = estimated(rule)
    const alike = theirs === 'more' ? ours > UNTOLD : Math.abs(ours - theirs) <= 0.5 + theirs * SHARE
    return alike ? [] : [`${rule}: ${ours} instead of ${theirs}`]
  })
  assert.deepEqual(wrong, [])
})

test('a part of a text that is `self` is no longer than that', () => {
  const text = typeOfSchema(structuralOf({ type: 'string', maxLength: 510 })) as Type
  const made = compileExpression(`self.split('/', 2)[0].matches('a.b')`, new Map([['self', text]]))
  assert.ok('program' in made && made.program.maxCost < 1000)
})

test('literals in literals are looked at once each', () => {
  const deep = (depth: number): string => (depth === 0 ? '1' : `[${deep(depth - 1)}]`)
  assert.equal(estimated(`${deep(24)}.size() > 0`), 24 * 10 + 2)
})
