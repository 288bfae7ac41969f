import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsMatch, parseFieldSelector } from './field-selector.ts'
import { formatLabelSelector, labelSelectorOf, parseLabelSelector } from './label-selector.ts'
import { nodeTermMatches } from './node-affinity.ts'

test('label selectors match as their operators say', () => {
  const labels = { n: 'a', odd: '1', size: '12' }
  for (const text of [
    'n=a',
    'n==a',
    'n in (a,b)',
    'n notin (b)',
    'n',
    '!missing',
    'missing!=x',
    'size>11',
    'size<13',
    '',
  ])
    assert.equal(parseLabelSelector(text).matches(labels), true, text)
  for (const text of ['n=b', 'n!=a', 'n notin (a)', '!n', 'missing', 'size>12', 'n=a,odd=2', 'n>1'])
    assert.equal(parseLabelSelector(text).matches(labels), false, text)
})

test('label selectors that cannot be read are refused in the words of Kubernetes', () => {
  const messages: Record<string, string> = {
    '=': "found '=', expected: !, identifier, or 'end of string'",
    'a b': "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    'n in (a': "unable to parse requirement: found '', expected: ',' or ')'",
    'x===': "unable to parse requirement: found '=', expected: identifier",
  }
  for (const [text, message] of Object.entries(messages))
    assert.throws(() => parseLabelSelector(text), { message }, text)
})

test('an absent LabelSelector selects nothing, an empty one everything', () => {
  assert.equal(labelSelectorOf(undefined).matches({ a: 'b' }), false)
  assert.equal(labelSelectorOf({}).matches({ a: 'b' }), true)
})

test('names of Object.prototype are labels like any other', () => {
  assert.equal(parseLabelSelector('constructor').matches({ a: 'b' }), false)
  assert.equal(parseLabelSelector('!toString').matches({ a: 'b' }), true)
})

test('a selector prints as scale shows it', () => {
  const selector = labelSelectorOf({
    matchLabels: { b: '1', a: '2' },
    matchExpressions: [{ key: 'c', operator: 'Exists' }],
  })
  assert.equal(formatLabelSelector(selector), 'a=2,b=1,c')
})

test('the terms of a field selector are taken in the order of their texts', () => {
  const fields = (text: string) => parseFieldSelector(text).map(({ field }) => field)
  assert.deepEqual(fields('z=1,a=2,b!=1,b=1'), ['a', 'b', 'b', 'z'])
  assert.deepEqual(fields('a=b,='), ['a'])
})

test('field selectors compare, negate and unescape', () => {
  const fields = { 'metadata.name': 'a', 'spec.x': 'p,q' }
  assert.equal(fieldsMatch(parseFieldSelector('metadata.name=a,spec.x=p\\,q'), fields), true)
  assert.equal(fieldsMatch(parseFieldSelector('metadata.name!=a'), fields), false)
  assert.throws(() => parseFieldSelector('metadata.name'), {
    message: "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
  })
})

test('a node selector compares integers of 64 bits; what is none, on either side, does not match', () => {
  const matches = (operator: string, value: string, label = '8') =>
    nodeTermMatches(
      { matchExpressions: [{ key: 'size', operator, values: [value] }] },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { size: label } } },
    )
  for (const [operator, value, label] of [
    ['Gt', '7', '8'],
    ['Lt', '9', '8'],
    ['Gt', '-9', '-8'],
    ['Lt', '+9', '8'],
  ] as const)
    assert.equal(matches(operator, value, label), true, `${label} ${operator} ${value}`)
  for (const [operator, value, label] of [
    ['Gt', '8', '8'],
    ['Lt', 'x', '8'],
    ['Gt', '', '8'],
    ['Gt', '1', 'huge'],
    ['Lt', '99999999999999999999', '8'],
  ] as const)
    assert.equal(matches(operator, value, label), false, `${label} ${operator} ${value}`)
})
