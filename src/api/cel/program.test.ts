import assert from 'node:assert/strict'
import { test } from 'node:test'
import { structuralOf } from '../schema/structural/structural.ts'
import { BudgetExceeded } from './eval-within-cost-limit.ts'
import { compileExpression } from './program.ts'
import { typeOfSchema } from './schema-types.ts'
import { DYN, type Type } from './types.ts'
import { CelError, type Value, wrap } from './values.ts'

const schema = structuralOf({
  type: 'object',
  properties: {
    s: { type: 'string', maxLength: 10 },
    i: { type: 'integer' },
    n: { type: 'number' },
    l: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 5 } },
    m: { type: 'object', maxProperties: 5, additionalProperties: { type: 'integer' } },
    long: { type: 'string' },
    many: { type: 'array', items: { type: 'string' } },
    'a-b': { type: 'string' },
    when: { type: 'string', format: 'date-time' },
  },
})
const type = typeOfSchema(schema) as Type
const json = { s: 'abc', i: 3, n: 2, l: ['x', 'y'], m: { a: 1 }, 'a-b': 'dash', when: '2026-01-02T03:04:05Z' }

function run(source: string, limit = 1_000_000): Value {
  const made = compileExpression(source, new Map([['self', type]]))
  if ('error' in made) throw new Error(made.error)
  return made.program.run(new Map([['self', wrap(json, type)]]), { used: 0, limit })
}

const errorOf = (source: string) => {
  const made = compileExpression(source, new Map([['self', type]]))
  return 'error' in made ? made.error : ''
}

for (const source of [
  'self.i == 3 && self.n == 2.0',
  "self.s + 'd' == 'abcd'",
  "self.l.all(x, x.size() == 1) && self.l.exists(x, x == 'y')",
  "self.l.exists_one(x, x == 'x')",
  "self.l.map(x, x + '!') == ['x!', 'y!']",
  "self.l.filter(x, x > 'x').size() == 1",
  "'a' in self.m && self.m['a'] == 1 && self.m.a == 1",
  'has(self.s) && !has(self.long)',
  "self.a__dash__b == 'dash'",
  "self.s.matches('^[a-c]+$') && !self.s.matches('^b')",
  'self.when.getFullYear() == 2026 && self.when.getHours() == 3',
  "duration('1h') > duration('59m')",
  "quantity('1Gi').isGreaterThan(quantity('1000M'))",
  "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
  "url('https://a.b:80/c?d=e').getHost() == 'a.b:80'",
  "sets.contains(['a', 'b'], ['a']) && sets.intersects([1], [1, 2])",
  "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b'",
  "'%d %s'.format([1, 'x']) == '1 x'",
  "self.?long.orValue('none') == 'none'",
  "!format.dns1123Label().validate('ok').hasValue()",
  "semver('1.2.3').isLessThan(semver('1.10.0'))",
  "false && self.m['zz'] == 1 || true",
  "'abc123'.find('[0-9]+') == '123'",
  '[3, 1, 2].max() == 3 && [1, 2].sum() == 3 && [1, 2].isSorted()',
  'lists.range(3) == [0, 1, 2] && [3, 1, 2].sort() == [1, 2, 3] && [1, 2].reverse() == [2, 1]',
  '[1, 1, 2].distinct() == [1, 2] && [1, 2, 3].slice(1, 2) == [2] && [[1], [2, 3]].flatten() == [1, 2, 3]',
  '[1, 2].first().value() == 1 && [1, 2].last() == optional.of(2) && !([1].slice(0, 0).first().hasValue())',
  "['bb', 'a'].sortBy(x, x.size()) == ['a', 'bb'] && {'a': 'b'}.transformMapEntry(k, v, {v: k}) == {'b': 'a'}",
  '[optional.of(1), optional.none()].unwrapOpt() == [1]',
])
  test(`holds: ${source}`, () => assert.equal(run(source), true))

test('an error on one side of a logical operator counts only if the other does not decide', () => {
  assert.equal(run("self.m['zz'] == 1 || true"), true)
  assert.throws(() => run("self.m['zz'] == 1 || false"), CelError)
})

test('what is wrong is told with its place', () => {
  assert.equal(errorOf('self.zz'), "ERROR: <input>:1:5: undefined field 'zz'\n | self.zz\n | ....^")
  assert.match(errorOf('x == 1'), /1:1: undeclared reference to 'x' \(in container ''\)/)
  assert.match(errorOf('self.i > self.s'), /found no matching overload for '_>_' applied to '\(int, string\)'/)
  assert.match(errorOf('Bogus Value!'), /1:7: Syntax error: mismatched input 'Value' expecting <EOF>/)
})

test('the estimate grows with what types allow', () => {
  const costOf = (source: string) => {
    const made = compileExpression(source, new Map([['self', type]]))
    return 'error' in made ? Number.NaN : made.program.maxCost
  }
  assert.ok(costOf('self.l.all(x, self.l.all(y, x == y))') < 10_000)
  assert.ok(costOf('self.many.all(x, self.many.all(y, x == y))') > 10_000_000)
  assert.ok(costOf('self.long.contains(self.long)') > 10_000_000)
})

test('an address and a network become text, and a sign is asked of no method', () => {
  assert.equal(run("string(ip('10.0.0.1')) + string(cidr('10.0.0.0/8')) == '10.0.0.110.0.0.0/8'"), true)
  assert.equal(run("sign(quantity('-3')) == -1"), true)
  assert.match(
    errorOf("quantity('-3').sign() == -1"),
    /found no matching overload for 'sign' applied to 'kubernetes.Quantity.\(\)'/,
  )
})

test('an expression that costs too much ends', () => {
  const list = `[${Array.from({ length: 50 }, (_, i) => i).join(',')}]`
  assert.throws(() => run(`${list}.all(a, ${list}.all(b, ${list}.all(c, a + b + c >= 0)))`, 100_000), BudgetExceeded)
})

/** 2^40 parts, made of forty lists. */
const doubled = (leaf: Value): Value => {
  let value: Value = [leaf]
  for (let i = 0; i < 40; i++) value = [value, value]
  return value
}

for (const source of [
  'a == b',
  'a != b',
  'a in [b]',
  '[a].indexOf(b) == 0',
  '[a, b].distinct() == []',
  'sets.contains([a], [b])',
  'sets.equivalent([a], [b])',
  'a.flatten(100) == []',
  '{"x": a} == {"x": b}',
  'optional.of(a) == optional.of(b)',
])
  test(`what would look at more parts than anything may cost ends: ${source}`, () => {
    const made = compileExpression(
      source,
      new Map([
        ['a', DYN],
        ['b', DYN],
      ]),
    )
    if ('error' in made) throw new Error(made.error)
    const variables = new Map([
      ['a', doubled('x')],
      ['b', doubled('x')],
    ])
    assert.throws(() => made.program.run(variables, { used: 0, limit: 1_000_000 }), BudgetExceeded)
  })

test('a list that a loop asks for at every turn is wrapped once', () => {
  const long = structuralOf({
    type: 'object',
    properties: { list: { type: 'array', items: { type: 'integer' } } },
  })
  const type = typeOfSchema(long) as Type
  let read = 0
  const item = new Proxy(
    Array.from({ length: 1000 }, (_, i) => i),
    {
      get: (list, key, receiver) => {
        if (key === 'map') read++
        return Reflect.get(list, key, receiver)
      },
    },
  )
  const made = compileExpression('self.list.all(x, self.list[0] == 0)', new Map([['self', type]]))
  if ('error' in made) throw new Error(made.error)
  assert.equal(made.program.run(new Map([['self', wrap({ list: item }, type)]]), { used: 0, limit: 1_000_000 }), true)
  assert.equal(read, 1)
})

test('a range longer than anything may cost is not made', () => {
  assert.throws(() => run('lists.range(1000000000000).size() == 0'), CelError)
})

test('what is dynamic is looked at before it is worked on', () => {
  const made = compileExpression("x.startsWith('a')", new Map([['x', DYN]]))
  if ('error' in made) throw new Error(made.error)
  assert.throws(() => made.program.run(new Map([['x', 1n]]), { used: 0, limit: 1000 }), { message: 'no such overload' })
})

test('hostile expressions are refused, not fatal', () => {
  for (const source of [
    '('.repeat(100_000),
    '['.repeat(5000),
    '!'.repeat(90_000),
    'a.'.repeat(40_000),
    `${'1+'.repeat(40_000)}1`,
    '"\\',
    '`',
    '\u0000',
  ])
    assert.notEqual(errorOf(source), '')
  assert.throws(() => run("'a'.matches('(a+)+$(')"), Error)
})

test('a text of a format is to a rule what Kubernetes makes of it', () => {
  const formatted = (format: string, text: unknown, source: string) => {
    const of = typeOfSchema(structuralOf({ type: 'string', format })) as Type
    const made = compileExpression(source, new Map([['self', of]]))
    if ('error' in made) throw new Error(made.error)
    const { program } = made
    return program.run(new Map([['self', wrap(text as string, of)]]), { used: 0, limit: 1_000_000 })
  }
  const seconds = (text: string) => formatted('duration', text, 'self.getSeconds()')
  assert.deepEqual(['1d', '2 days', '-1d', '1.5d', '1w 2d', 'x1s', '1m30', '1H30M', '-5m'].map(seconds), [
    86_400n,
    172_800n,
    86_400n,
    432_000n,
    777_600n,
    1n,
    60n,
    5_400n,
    -300n,
  ])
  assert.equal(formatted('duration', '9223372036854775807w', 'self.getSeconds()'), -604_800n)
  assert.equal(
    formatted('date-time', '2020-01-01T00:00:00,5+01:60', "self == timestamp('2019-12-31T22:00:00.5Z')"),
    true,
  )
  const ahead = '2020-01-01T00:30:00+01:00'
  assert.equal(formatted('date-time', ahead, "string(self + duration('1h'))"), '2020-01-01T01:30:00+01:00')
  assert.equal(formatted('date-time', ahead, 'self.getHours()'), 23n)
  assert.equal(run("string(timestamp('2020-01-01T00:30:00.5-00:30'))"), '2020-01-01T00:30:00.5-00:30')
  assert.equal(formatted('date', '2020-02-29', "self == timestamp('2020-02-29T00:00:00Z')"), true)
  assert.equal(formatted('byte', 'YWJj', "self == b'abc'"), true)
  const either = typeOfSchema(structuralOf({ 'x-kubernetes-int-or-string': true })) as Type
  assert.deepEqual([wrap(3, either), wrap('50%', either)], [3n, '50%'])
  for (const other of [1.5, true, [], {}]) assert.throws(() => wrap(other, either), /expected XIntOrString value/)
  const refused = (format: string, text: unknown, told: string) =>
    assert.throws(() => formatted(format, text, 'self == self'), { message: told })
  refused('byte', '/w==', 'Invalid byte formatted string /w==: illegal base64 data at input byte 0')
  refused('byte', 'YWFhYQ', 'Invalid byte formatted string YWFhYQ: illegal base64 data at input byte 4')
  refused('byte', 'Y===', 'Invalid byte formatted string Y===: illegal base64 data at input byte 1')
  refused('duration', 'x', 'Invalid duration x: unable to parse x as duration')
  refused(
    'date-time',
    '2020-01-01T00:00:00z',
    'Invalid date-time formatted string 2020-01-01T00:00:00z: parsing time "2020-01-01T00:00:00z": extra text: "z"',
  )
  refused('date-time', [], 'invalid data, expected string, got []interface {}')
})

test('a turn of a loop costs what it costs in a v1.37.1', () => {
  const numbers = typeOfSchema(structuralOf({ type: 'array', items: { type: 'integer' } })) as Type
  const costOf = (source: string, length: number) => {
    const made = compileExpression(source, new Map([['self', numbers]]))
    assert.ok('program' in made, source)
    const budget = { used: 0, limit: 1_000_000 }
    made.program.run(new Map([['self', wrap(Array(length).fill(1), numbers)]]), budget)
    return budget.used
  }
  const turns: Readonly<Record<string, number>> = {
    'self.all(x, true)': 3,
    'self.all(i, x, true)': 3,
    'self.all(x, x == 1)': 5,
    'self.all(x, x in [1, 2, 3])': 4,
    'self.all(x, [1, 2].size() > 0)': 5,
    'self.all(x, [x].size() > 0)': 16,
    'self.exists(x, false)': 4,
    'self.exists_one(x, true)': 2,
    'self.filter(x, true)': 13,
    'self.filter(x, x == 1)': 15,
    'self.map(x, 1)': 2,
    'self.map(x, x)': 13,
    'self.map(x, false, 1)': 1,
    'self.transformList(i, x, 1)': 2,
  }
  for (const [source, cost] of Object.entries(turns)) assert.equal(costOf(source, 9) - costOf(source, 8), cost, source)
})
