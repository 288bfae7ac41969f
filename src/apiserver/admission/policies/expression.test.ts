import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DYN } from '../../../api/cel/types.ts'
import { wrap } from '../../../api/cel/values.ts'
import { evaluateConditions, matchConditionsOf } from './conditions.ts'
import { compile, ExpressionError, lazyVariables } from './expression.ts'

const budget = () => ({ used: 0, limit: 1_000_000 })
const about = (object: object) => new Map([['object', wrap(object as never, DYN)]])

test('variables are evaluated when they are read, and once', () => {
  const spent = budget()
  const list = [
    { name: 'size', expression: compile('object.items.size()') },
    { name: 'broken', expression: compile('object.missing') },
    { name: 'twice', expression: compile('variables.size * 2') },
  ]
  const variables = about({ items: [1, 2, 3] })
  variables.set('variables', lazyVariables(list, variables, spent))
  assert.equal(compile('variables.twice == 6 && variables.size == 3').run(variables, spent), true)
  assert.throws(() => compile('variables.broken').run(variables, spent), {
    message: 'composited variable "broken" fails to evaluate: no such key: missing',
  })
})

test('an expression that costs too much ends', () => {
  const all = Array.from({ length: 200 }, (_, i) => i)
  const costly = compile('object.items.all(a, object.items.all(b, object.items.all(c, a + b + c >= 0)))')
  assert.throws(() => costly.run(about({ items: all }), { used: 0, limit: 10_000 }), ExpressionError)
})

test('a condition that is false decides, whatever goes wrong in another', () => {
  const conditions = (...sources: string[]) =>
    matchConditionsOf({ matchConditions: sources.map((expression, i) => ({ name: `c${i}`, expression })) })
  const run = (...sources: string[]) => evaluateConditions(conditions(...sources), about({ a: 1 }), budget())
  assert.deepEqual(run('object.b == 1', 'object.a == 2'), { matches: false })
  assert.deepEqual(run('object.a == 1'), { matches: true })
  assert.deepEqual(run('object.b == 1', 'true'), {
    error: "expression 'object.b == 1' resulted in error: no such key: b",
  })
})
