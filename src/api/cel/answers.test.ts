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
  'what is no address or network is told in the words of Go': {
    "ip('')": 'IP Address "" parse error during conversion from string: ParseAddr(""): unable to parse IP',
    "ip('1.2.3.4.5')":
      'IP Address "1.2.3.4.5" parse error during conversion from string: ParseAddr("1.2.3.4.5"): IPv4 address too long',
    "ip('1.2..3')":
      'IP Address "1.2..3" parse error during conversion from string: ParseAddr("1.2..3"): IPv4 field must have at least one digit (at ".3")',
    "ip('1.2.3.')":
      'IP Address "1.2.3." parse error during conversion from string: ParseAddr("1.2.3."): IPv4 field must have at least one digit (at ".")',
    "ip('256.1.1.1')":
      'IP Address "256.1.1.1" parse error during conversion from string: ParseAddr("256.1.1.1"): IPv4 field has value >255',
    "ip('01.2.3.4')":
      'IP Address "01.2.3.4" parse error during conversion from string: ParseAddr("01.2.3.4"): IPv4 field has octet with leading zero',
    "ip('1.2.3.a')":
      'IP Address "1.2.3.a" parse error during conversion from string: ParseAddr("1.2.3.a"): unexpected character (at "a")',
    "ip('.1.2.3')":
      'IP Address ".1.2.3" parse error during conversion from string: ParseAddr(".1.2.3"): IPv4 field must have at least one digit (at ".1.2.3")',
    "ip('::1::')":
      'IP Address "::1::" parse error during conversion from string: ParseAddr("::1::"): multiple :: in address (at ":")',
    "ip('1::2::3')":
      'IP Address "1::2::3" parse error during conversion from string: ParseAddr("1::2::3"): multiple :: in address (at ":3")',
    "ip('12345::')":
      'IP Address "12345::" parse error during conversion from string: ParseAddr("12345::"): each group must have 4 or less digits (at "12345::")',
    "ip(':1')":
      'IP Address ":1" parse error during conversion from string: ParseAddr(":1"): each colon-separated field must have at least one digit (at ":1")',
    "ip('1:2:3:4:5:6:7')":
      'IP Address "1:2:3:4:5:6:7" parse error during conversion from string: ParseAddr("1:2:3:4:5:6:7"): address string too short',
    "ip('1:2:3:4:5:6:7:8:9')":
      'IP Address "1:2:3:4:5:6:7:8:9" parse error during conversion from string: ParseAddr("1:2:3:4:5:6:7:8:9"): trailing garbage after address (at "9")',
    "ip('1:2:3:4:5:6:7:')":
      'IP Address "1:2:3:4:5:6:7:" parse error during conversion from string: ParseAddr("1:2:3:4:5:6:7:"): colon must be followed by more characters (at ":")',
    "ip('g::')":
      'IP Address "g::" parse error during conversion from string: ParseAddr("g::"): each colon-separated field must have at least one digit (at "g::")',
    "ip('::1.2.3')":
      'IP Address "::1.2.3" parse error during conversion from string: ParseAddr("::1.2.3"): IPv4 address too short',
    "ip('1:2:3:4:5:6:7:1.2.3.4')":
      'IP Address "1:2:3:4:5:6:7:1.2.3.4" parse error during conversion from string: ParseAddr("1:2:3:4:5:6:7:1.2.3.4"): embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
    "ip('::1.2.3.4.5')":
      'IP Address "::1.2.3.4.5" parse error during conversion from string: ParseAddr("::1.2.3.4.5"): IPv4 address too long',
    "ip('::1.2.3.256')":
      'IP Address "::1.2.3.256" parse error during conversion from string: ParseAddr("::1.2.3.256"): IPv4 field has value >255',
    "ip('fe80::1%eth0')": 'IP address "fe80::1%eth0" with zone value is not allowed',
    "ip('fe80::1%')":
      'IP Address "fe80::1%" parse error during conversion from string: ParseAddr("fe80::1%"): zone must be a non-empty string',
    "ip('::ffff:1.2.3.4')": 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed',
    "ip('1:2:3:4:5:6:7::8')":
      'IP Address "1:2:3:4:5:6:7::8" parse error during conversion from string: ParseAddr("1:2:3:4:5:6:7::8"): the :: must expand to at least one field of zeros',
    "ip('1:2:3:4:5:6:7:8::')":
      'IP Address "1:2:3:4:5:6:7:8::" parse error during conversion from string: ParseAddr("1:2:3:4:5:6:7:8::"): the :: must expand to at least one field of zeros',
    "ip('1:2')":
      'IP Address "1:2" parse error during conversion from string: ParseAddr("1:2"): address string too short',
    "ip('1.2.3.4 ')":
      'IP Address "1.2.3.4 " parse error during conversion from string: ParseAddr("1.2.3.4 "): unexpected character (at " ")',
    "ip('1.2.3.4%eth0')":
      'IP Address "1.2.3.4%eth0" parse error during conversion from string: ParseAddr("1.2.3.4%eth0"): unexpected character (at "%eth0")',
    "ip('::1.2.3.4.')":
      'IP Address "::1.2.3.4." parse error during conversion from string: ParseAddr("::1.2.3.4."): IPv4 field must have at least one digit (at ".")',
    "ip('::1.02.3.4')":
      'IP Address "::1.02.3.4" parse error during conversion from string: ParseAddr("::1.02.3.4"): IPv4 field has octet with leading zero',
    "cidr('10.0.0.0')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0"): no \'/\'',
    "cidr('10.0.0.0/')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/"): bad bits after slash: ""',
    "cidr('10.0.0.0/33')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
    "cidr('10.0.0.0/08')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"',
    "cidr('10.0.0.0/a')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/a"): bad bits after slash: "a"',
    "cidr('10.0.0.0/1000')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/1000"): prefix length out of range',
    "cidr('10.0.0.0/+8')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/+8"): bad bits after slash: "+8"',
    "cidr('x/8')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("x/8"): ParseAddr("x"): unable to parse IP',
    "cidr('')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(""): no \'/\'',
    "cidr('::/129')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("::/129"): prefix length out of range',
    "cidr('fe80::1%eth0/64')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("fe80::1%eth0/64"): IPv6 zones cannot be present in a prefix',
    "cidr('::ffff:1.2.3.4/100')":
      'network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:1.2.3.4/100" is not allowed',
    "cidr('10.0.0.0/8/8')":
      'network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/8/8"): ParseAddr("10.0.0.0/8"): unexpected character (at "/8")',
  },
  'a literal map may have other keys': {
    '{1.5: 1}[1.5]': '1',
    '{1.5: 1, 1.5: 2}.size()': '1',
    '1.5 in {1.5: 1}': 'true',
    '{null: 1}.size()': '1',
    '{1: 2}[dyn(1.5)]': 'no such key: 1.5',
    "'%s'.format([{1.5: 1}])": 'error during formatting: no formatting function for map key of type double',
  },
  'durations and times are made of their parts': {
    'google.protobuf.Duration{}': '0s',
    'google.protobuf.Duration{seconds: 1, nanos: -5}': '0.999999995s',
    "google.protobuf.Duration{} + duration('1s')": '1s',
    'google.protobuf.Timestamp{seconds: 1, nanos: 5}': '1970-01-01T00:00:01.000000005Z',
    'google.protobuf.Duration{zz: 1}': "undefined field 'zz'",
    "google.protobuf.Duration{seconds: 'a'}": "expected type of field 'seconds' is 'int' but provided type is 'string'",
    'google.protobuf.Duration{nanos: 3000000000}':
      'field type conversion error for google.protobuf.Duration.nanos value type: integer overflow',
    "google.protobuf.Duration{seconds: dyn('a')}":
      "field type conversion error for google.protobuf.Duration.seconds value type: unsupported native conversion from string to 'int64'",
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
