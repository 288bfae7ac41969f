/** What kube-apiserver's answers say of expressions whose types are known only when they run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typeCheck } from './check.ts'
import { evaluateExpression } from './eval-within-cost-limit.ts'
import { show } from './functions.ts'
import { allFunctions } from './libraries.ts'
import { parse } from './parse.ts'
import { DYN } from './types.ts'
import { CelError, type Value, wrap } from './values.ts'

const variables = new Map<string, Value>([
  ['object', wrap({ metadata: { name: 'n', managedFields: [{}] }, data: { a: 'b' } }, DYN)],
  ['nothing', null],
])
const types = new Map([...variables.keys()].map((name) => [name, DYN]))
const functions = allFunctions()

function answer(source: string): string {
  const checked = typeCheck(parse(source), { variables: types, functions, mixed: true })
  if (checked.issues[0] !== undefined) return checked.issues[0].message
  try {
    return show(evaluateExpression(checked, variables, { used: 0, limit: 1_000_000 }))
  } catch (error) {
    if (error instanceof CelError) return error.message
    throw error
  }
}

const ANSWERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'what is no map has no fields': {
    'has(nothing.x)': 'false',
    'has(dyn(1).x)': 'false',
    "has(dyn('a').x)": 'false',
    'has(dyn([1]).x)': "unsupported index type 'string' in list",
    'dyn([1]).x': "unsupported index type 'string' in list",
    "has(dyn({'a': null}).a.b.c)": 'no such key: b',
    'nothing.x': 'no such key: x',
  },
  'what is no container has no elements': {
    "dyn('abc')[0]": 'no such key: 0',
    'object.metadata.name[0]': 'no such key: 0',
    "dyn('abc')['x']": 'no such key: x',
    'dyn(true)[0]': 'no such key: 0',
    "dyn(ip('::1'))[0]": 'no such key: 0',
    "dyn('abc')[?0].hasValue()": 'false',
    "nothing[?'x'].hasValue()": 'false',
    'object.metadata[0]': 'unsupported map key type: types.Int',
    'object.data[dyn(1.5)]': 'unsupported map key type: types.Double',
    '1 in object.data': 'unsupported map key type: types.Int',
  },
  'what comes from outside is compared only with its own kind': {
    "ip('1.2.3.4') == dyn('x')": 'no such overload',
    "dyn(ip('1.2.3.4')) == dyn(cidr('1.2.3.4/8'))": 'no such overload',
    "dyn('x') == ip('1.2.3.4')": 'false',
    "dyn(ip('1.2.3.4')) != dyn(1)": 'true',
    "dyn(cidr('1.2.3.4/8')) == null": 'false',
    "dyn(quantity('1')) == dyn(1)": 'no such overload',
    "dyn(semver('1.2.3')) == dyn('x')": 'no such overload',
    'object.metadata == dyn(1)': 'no such overload',
    'dyn(1) == object.metadata': 'false',
    'object.metadata != dyn(1)': 'true',
    'object == null': 'false',
    'object == object.metadata': 'false',
    "object.data == {'a': 'b'}": 'true',
    'object.metadata.managedFields == dyn(1)': 'no such overload',
    "dyn({'a': 1}) == dyn('x')": 'false',
    'dyn([object.metadata]) == dyn([1])': 'true',
    "dyn({'a': ip('::1')}) == dyn({'a': 1})": 'true',
    "dyn(ip('::1')) in [dyn(1)]": 'false',
    "[dyn(ip('::1'))].indexOf(dyn(1))": '-1',
    "optional.of(dyn(ip('::1'))) == optional.of(dyn(1))": 'no such overload',
  },
  'values of the libraries are equal by what they stand for': {
    "quantity('200M') == quantity('0.2G')": 'true',
    "quantity('1') in [quantity('1000m')]": 'true',
    "semver('1.2.3+a') == semver('1.2.3+b')": 'true',
    "url('https://a/') == url('https://a')": 'false',
    "cidr('10.0.0.1/8') == cidr('10.0.0.2/8')": 'false',
  },
  'a literal map may have other keys': {
    '{1.5: 1}[1.5]': '1',
    '{1.5: 1, 1.5: 2}.size()': '1',
    '1.5 in {1.5: 1}': 'true',
    '{null: 1}.size()': '1',
    '{1: 2}[dyn(1.5)]': 'no such key: 1.5',
    "'%s'.format([{1.5: 1}])": 'error during formatting: no formatting function for map key of type double',
  },
  'a duration is told whole': {
    "duration('1h').getMilliseconds()": '3600000',
    "duration('-1500ms').getMilliseconds()": '-1500',
    "duration('1500us').getMilliseconds()": '1',
  },
  'a template': {
    "'%.3e'.format([1234.5678])": '1.234568×10⁰³',
    "'%.10e'.format([1234.5678])": '1.234568×10⁰³',
    "'%.3f'.format([1234.5678])": '1,234.568',
    "'%s'.format([b'\\xff'])":
      'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
    "'%x'.format([b'\\xff'])": 'ff',
  },
  'named formats': {
    "format.uuid().validate('x').value()": '[does not match the UUID format]',
    "format.byte().validate('YWFhYQ').value()": '[invalid base64]',
    "format.date().validate('!').value()": '[invalid date]',
    "format.datetime().validate('!').value()": '[invalid datetime]',
    "format.uri().validate('').value()": '[parse "": empty url]',
    "format.uri().validate('http://a b/').value()": '[parse "http://a b/": invalid character " " in host name]',
  },
  'a pattern that is made of others': {
    "'abc'.find('a' + '[')": 'Illegal regex: error parsing regexp: missing closing ]: `[`',
  },
}

for (const [rule, cases] of Object.entries(ANSWERS))
  test(rule, () => {
    const given = Object.fromEntries(Object.keys(cases).map((source) => [source, answer(source)]))
    assert.deepEqual(given, cases)
  })
