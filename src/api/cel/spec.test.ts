/** The conformance cases of the CEL specification (spec-cases.json, made by tools/cel-cases.ts): each holds, or is left out by a rule. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { SpecCase, SpecCases } from '../../../tools/cel-cases.ts'
import { typeCheck } from './check.ts'
import { evaluateExpression } from './eval-within-cost-limit.ts'
import { CelSyntaxError } from './issues.ts'
import { allFunctions } from './libraries.ts'
import { parse } from './parse.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapOf,
  NULL,
  printType,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from './types.ts'
import {
  CelDuration,
  CelError,
  isMapLike,
  MapValue,
  mapEntries,
  mapKeyOf,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'

type Row = readonly [type: string, value?: unknown]

const { cases, left } = JSON.parse(readFileSync(new URL('spec-cases.json', import.meta.url), 'utf8')) as SpecCases
const functions = allFunctions()

function typeOf(text: string): Type {
  const inner = /^(list|map)\((.*)\)$/.exec(text)
  if (inner?.[1] === 'list') return listType(typeOf(inner[2] as string))
  if (inner?.[1] === 'map') {
    const [key = '', ...value] = (inner[2] as string).split(', ')
    return mapOf(typeOf(key), typeOf(value.join(', ')))
  }
  const simple: Readonly<Record<string, Type>> = {
    ...{ int: INT, uint: UINT, double: DOUBLE, bool: BOOL, string: STRING, bytes: BYTES, null: NULL, dyn: DYN },
    ...{ timestamp: TIMESTAMP, duration: DURATION },
  }
  const found = simple[text]
  if (found === undefined) throw new Error(`no type ${text}`)
  return found
}

function valueFrom([type, value]: Row): Value {
  switch (type) {
    case 'int':
      return BigInt(value as string)
    case 'uint':
      return new Uint(BigInt(value as string))
    case 'double':
      return Number(value)
    case 'bytes':
      return Buffer.from(value as string, 'hex')
    case 'null_type':
      return null
    case 'type':
      return new TypeValue(value as string)
    case 'list':
      return (value as Row[]).map(valueFrom)
    case 'map':
      return new MapValue(
        new Map(
          (value as [Row, Row][]).map(([k, v]) => {
            const key = valueFrom(k)
            return [mapKeyOf(key), [key, valueFrom(v)]]
          }),
        ),
      )
    case 'duration':
      return new CelDuration(BigInt(value as string))
    case 'timestamp':
      return new Timestamp(BigInt(value as string))
    default:
      return value as string | boolean
  }
}

/** A value as the cases write it, entries of maps in one order. */
function rowOf(value: Value): Row {
  if (value === null) return ['null_type']
  if (typeof value === 'bigint') return ['int', String(value)]
  if (value instanceof Uint) return ['uint', String(value.value)]
  if (typeof value === 'number') return ['double', Object.is(value, -0) ? '0' : String(value)]
  if (typeof value === 'string') return ['string', value]
  if (typeof value === 'boolean') return ['bool', value]
  if (value instanceof Uint8Array) return ['bytes', Buffer.from(value).toString('hex')]
  if (value instanceof TypeValue) return ['type', value.name]
  if (value instanceof CelDuration) return ['duration', String(value.nanos)]
  if (value instanceof Timestamp) return ['timestamp', String(value.nanos)]
  if (value instanceof Optional) return ['optional', value.value === undefined ? undefined : rowOf(value.value)]
  if (Array.isArray(value)) return ['list', value.map(rowOf)]
  if (isMapLike(value))
    return ['map', [...mapEntries(value).values()].map(([k, v]) => [rowOf(k), rowOf(v)]).sort(byText)]
  return ['other', String(value)]
}

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

interface Outcome {
  /** Of an expression that is refused before it runs. */
  readonly refused?: string
  readonly error?: string
  readonly value?: Row
  readonly type?: string
}

function outcomeOf({ expr, variables = [] }: SpecCase): Outcome {
  const types = new Map(variables.map(([name, type]) => [name, typeOf(type)]))
  let checked: ReturnType<typeof typeCheck>
  try {
    checked = typeCheck(parse(expr), { variables: types, functions, mixed: true })
  } catch (error) {
    if (error instanceof CelSyntaxError) return { refused: error.issue.message }
    throw error
  }
  if (checked.issues.length > 0) return { refused: checked.issues.map(({ message }) => message).join('; ') }
  const type = printType(checked.type)
  const values = new Map(
    variables.flatMap(([name, , row]) => (row === undefined ? [] : [[name, valueFrom(row)] as const])),
  )
  try {
    return { type, value: rowOf(evaluateExpression(checked, values, { used: 0, limit: 1_000_000 })) }
  } catch (error) {
    if (error instanceof CelError) return { type, error: error.message }
    throw error
  }
}

function problemOf(one: SpecCase): string | undefined {
  const { refused, error, value, type } = outcomeOf(one)
  if (one.error !== undefined)
    return refused === undefined && error === undefined ? `${JSON.stringify(value)} instead of an error` : undefined
  if (refused !== undefined) return `refused: ${refused}`
  if (one.type !== undefined && type !== one.type) return `of type ${type}, not ${one.type}`
  if (one.value === undefined) return undefined
  if (error !== undefined) return `error: ${error}`
  const wanted = JSON.stringify(rowOf(valueFrom(one.value as Row)))
  return JSON.stringify(value) === wanted ? undefined : `${JSON.stringify(value)}, not ${wanted}`
}
/** What Kubernetes' environment does not have, by a word of the expression: such expressions are refused for it. */
const ABSENT: readonly (readonly [kind: string, word: RegExp, count: number])[] = [
  ['the math extension', /\bmath\./, 199],
  ['the block extension', /\bcel\.(block|index|iterVar)\b/, 25],
  ['the bindings extension', /\bcel\.bind\b/, 5],
  ['the encoders extension', /\bbase64\./, 4],
]

/** What Kubernetes answers otherwise: it was asked for each. Its strings extension is version 2, the cases are of version 4. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'fields/qualified_identifier_resolution/map_value_repeat_key': '["int","3"] instead of an error',
  'fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous': '["int","2"] instead of an error',
  'optionals/optionals/map_null_entry_no_such_key': '["bool",false] instead of an error',
  'optionals/optionals/map_present_key_invalid_field': '["bool",false] instead of an error',
  'string_ext/format/scientific notation formatting clause':
    '["string","1.052033×10⁰³"], not ["string","1.052033e+03"]',
  'string_ext/format/default precision for scientific notation':
    '["string","2.718280×10⁰⁰"], not ["string","2.718280e+00"]',
  'string_ext/format/NaN support for scientific notation': '["string","   NaN"], not ["string","NaN"]',
  'string_ext/format/positive infinity support for scientific notation':
    '["string","     ∞"], not ["string","Infinity"]',
  'string_ext/format/negative infinity support for scientific notation':
    '["string","    -∞"], not ["string","-Infinity"]',
  'string_ext/format/NaN support for decimal':
    'refused: error during formatting: decimal clause can only be used on integers, was given double',
  'string_ext/format/positive infinity support for decimal':
    'refused: error during formatting: decimal clause can only be used on integers, was given double',
  'string_ext/format/negative infinity support for decimal':
    'refused: error during formatting: decimal clause can only be used on integers, was given double',
  'string_ext/format/positive infinity support for fixed-point': '["string","∞"], not ["string","Infinity"]',
  'string_ext/format/negative infinity support for fixed-point': '["string","-∞"], not ["string","-Infinity"]',
  'string_ext/format/list support for string':
    '["string","[\\"abc\\", 3.140000, null, [9, 8, 7, 6], timestamp(\\"2023-02-03T23:31:20Z\\")]"], not ["string","[abc, 3.14, null, [9, 8, 7, 6], 2023-02-03T23:31:20Z]"]',
  'string_ext/format/map support for string':
    '["string","{\\"key1\\":b\\"xyz\\", \\"key2\\":duration(\\"7200s\\"), \\"key3\\":2.718280, \\"key4\\":true, \\"key5\\":null}"], not ["string","{key1: xyz, key2: 7200s, key3: 2.71828, key4: true, key5: null}"]',
  'string_ext/format/map support (all key types)':
    '["string","{1:\\"value1\\", 2:\\"value2\\", true:\\"NaN\\"}"], not ["string","{1: value1, 2: value2, true: NaN}"]',
  'string_ext/format/dyntype support for scientific notation':
    '["string","2.718280×10⁰⁰"], not ["string","2.718280e+00"]',
  'string_ext/format/dyntype NaN/infinity support':
    '["string","[\\"NaN\\", \\"+Inf\\", \\"-Inf\\"]"], not ["string","[NaN, Infinity, -Infinity]"]',
  'string_ext/format/dyntype support for lists':
    '["string","[6, 4.200000, \\"a string\\"]"], not ["string","[6, 4.2, a string]"]',
  'string_ext/format/dyntype support for maps':
    '["string","{\\"strKey\\":\\"x\\", 6:duration(\\"422s\\"), true:42}"], not ["string","{6: 422s, strKey: x, true: 42}"]',
  'string_ext/format/scientific notation formatting clause in a string variable':
    '["string","1.052033×10⁰³"], not ["string","1.052033e+03"]',
  'string_ext/value_errors/indexof_out_of_range': '["bool",true] instead of an error',
  'string_ext/value_errors/lastindexof_out_of_range': '["bool",true] instead of an error',
}

const absent = ({ expr }: SpecCase) => ABSENT.find(([, word]) => word.test(expr))
for (const [kind, , count] of ABSENT)
  test(`without ${kind} expressions that ask for it are refused`, () => {
    const asking = cases.filter((one) => absent(one)?.[0] === kind)
    assert.equal(asking.length, count)
    for (const one of asking) assert.notEqual(outcomeOf(one).refused, undefined, one.name)
  })

for (const file of new Set(cases.map(({ name }) => name.split('/')[0])))
  test(`cases of the specification: ${file}`, () => {
    const asked = cases.filter((one) => one.name.startsWith(`${file}/`) && absent(one) === undefined)
    const problems = asked
      .map((one) => [one.name, problemOf(one)] as const)
      .filter(([name, problem]) => problem !== OTHERWISE[name])
    assert.deepEqual(problems, [])
  })

test('how many cases are asked, and how many are left out', () => {
  const counts = Object.fromEntries(Object.entries(left).map(([kind, names]) => [kind, names.length]))
  const asked = cases.filter((one) => absent(one) === undefined).length - Object.keys(OTHERWISE).length
  assert.deepEqual(
    { asked, ...counts },
    {
      asked: 1281,
      'expressions that are not to be checked': 141,
      'objects of protobuf messages': 167,
      'containers of names': 493,
      'functions that a case declares': 5,
    },
  )
})
