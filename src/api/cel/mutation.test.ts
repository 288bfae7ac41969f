import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ForeignValue } from '../values/not-json.ts'
import { typeCheck } from './check.ts'
import { wrongPreparation } from './constants.ts'
import { evaluateExpression } from './eval-within-cost-limit.ts'
import { CelSyntaxError, printIssues } from './issues.ts'
import { allFunctions } from './libraries.ts'
import { misnamed, mutationTypes, withMutationFunctions } from './mutation.ts'
import { configurationOf, jsonOf } from './native.ts'
import { parse } from './parse.ts'
import { DYN, printType } from './types.ts'
import { type MessageValue, type Value, wrap } from './values.ts'

const functions = withMutationFunctions(allFunctions())
const object = { metadata: { name: 'a' }, data: { k: 'v' }, list: [{ deep: [1] }] }

const checked = (source: string) =>
  typeCheck(parse(source), { variables: new Map([['object', DYN]]), functions, messages: mutationTypes })

function run(source: string): Value {
  const { issues, ...rest } = checked(source)
  assert.deepEqual(issues, [])
  return evaluateExpression({ issues, ...rest }, new Map([['object', wrap(object, DYN)]]), {
    used: 0,
    limit: 1_000_000,
  })
}

function errors(source: string): string {
  try {
    return printIssues(source, checked(source).issues)
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return printIssues(source, [...error.before, error.issue])
  }
}

const typeOf = (source: string) => printType(checked(source).type)

test('objects are made of fields, some of them only if they are there', () => {
  const made = run(
    'Object{data: {"a": object.metadata.name, ?"z": object.?zz}, ?spec: object.?zz, ?`x-y`: optional.of(1)}',
  )
  assert.deepEqual(configurationOf(made as MessageValue), { data: { a: 'a' }, 'x-y': 1 })
})

test('every object has its own type, and fields of any', () => {
  assert.equal(typeOf('Object{spec: Object.spec{replicas: 3}}'), 'Object')
  assert.equal(typeOf('Object.spec.template{}'), 'Object.spec.template')
  assert.equal(typeOf('Object{}.spec.whatever'), 'dyn')
  assert.equal(typeOf('[] + [JSONPatch{}]'), 'list(JSONPatch)')
  assert.equal(typeOf('true ? [] : [JSONPatch{}]'), 'list(JSONPatch)')
  assert.equal(typeOf('true ? Object{} : object'), 'dyn')
})

test('operations of a patch have four fields, of known types', () => {
  assert.match(errors('JSONPatch{op: 1}'), /1:13: expected type of field 'op' is 'string' but provided type is 'int'/)
  assert.match(errors('JSONPatch{foo: 1}'), /1:14: expected type of field 'foo' is '' but provided type is 'int'/)
  assert.throws(() => run('JSONPatch{op: dyn(1)}'), { message: "unexpected type int64 for JSONPatchType 'op' field" })
  assert.equal(run('JSONPatch{}.op + "|"'), '|')
  assert.equal(run('JSONPatch{}.value'), null)
  assert.equal(run('has(JSONPatch{op: "x"}.op) && !has(JSONPatch{}.op)'), true)
})

test('types stand only where objects are made', () => {
  assert.match(errors('Foo{a: 1}'), /1:4: undeclared reference to 'Foo'/)
  assert.match(errors('int{}'), /1:4: 'int' is not a message type/)
  assert.deepEqual([...checked('Object == Object').typesRead], ['Object'])
})

test('a mistake in an object is told as the parser goes on behind it', () => {
  assert.match(errors('Object{data}'), /1:12: Syntax error: mismatched input '}' expecting ':'/)
  assert.match(errors('Object{1: 2}'), /1:8: .* expecting {'}', ',', '\?', IDENTIFIER, ESC_IDENTIFIER}/)
  assert.match(errors('Object{a: 1 b: 2}'), /1:13: Syntax error: mismatched input 'b' expecting {'}', ','}/)
  assert.match(errors('Object{a b: 2}'), /1:10: Syntax error: extraneous input 'b' expecting ':'$/m)
  assert.equal(errors('Object{a.b: 2}').match(/ERROR/g)?.length, 2)
  assert.match(errors('f(1, 2'), /missing '\)' at '<EOF>'/)
  assert.match(errors('[1 2]'), /extraneous input '2' expecting {'\]', ','}/)
  assert.equal(errors('Object{a: 1,}'), '')
})

test('constants that cannot be what they are taken for are told beforehand', () => {
  assert.match(errors('timestamp("x")'), /1:11: invalid timestamp argument/)
  assert.match(errors('duration("x")'), /1:10: invalid duration argument/)
  assert.match(errors('"%s %s".format(["x"])'), /1:15: index 1 out of range/)
  assert.match(errors('"%d".format(["x"])'), /1:14: .*decimal clause can only be used on integers, was given string/)
  assert.equal(wrongPreparation(checked('int("x")')), "type conversion error from 'string' to 'int'")
  assert.equal(wrongPreparation(checked('int("1") + int(object.x)')), undefined)
  for (const [source, told] of Object.entries({
    'string(null)': 'no such overload: string(null_type)',
    'string(dyn(dyn(null)))': 'no such overload: string(null_type)',
    'int(null)': 'no such overload: int(null_type)',
    'bytes(dyn(1))': 'no such overload: bytes(int)',
    'int(dyn([1]))': 'no such overload: int(list)',
    "int(int('x'))": "type conversion error from 'string' to 'int'",
    "true || int('x') == 1": "type conversion error from 'string' to 'int'",
    "string(b'\\xff')": 'invalid UTF-8 in bytes, cannot convert to string',
    'uint(-1)': 'unsigned integer overflow',
    "duration(dyn('x'))": "type conversion error from 'string' to 'google.protobuf.Duration'",
    "'abc'.find('[')": 'error parsing regexp: missing closing ]: `[`',
    "object.x.findAll('*', 1)": 'error parsing regexp: missing argument to repetition operator: `*`',
    "'a'.matches(dyn('['))": 'error parsing regexp: missing closing ]: `[`',
    "'abc'.find('a' + '[')": undefined,
    "int('1' + 'x')": undefined,
    "quantity('x')": undefined,
  }))
    assert.equal(wrongPreparation(checked(source)), told, source)
})

test('deep and long literals end', () => {
  assert.match(errors(`${'Object{a: '.repeat(5000)}1${'}'.repeat(5000)}`), /recursion limit exceeded/)
  assert.match(errors(`Object${'.a'.repeat(40_000)}{}`), /^$|limit/)
})

test('keys are escaped as JSON pointers need it', () => {
  assert.equal(run('jsonpatch.escapeKey("a/b~c")'), 'a~1b~0c')
})

test('objects are named after where they stand', () => {
  const wrong = (source: string) => misnamed(run(source), 'Object')
  assert.equal(wrong('Object{spec: Object.spec{list: [Object.spec.list{}]}}'), undefined)
  assert.match(
    wrong('Object{spec: Object.status{}}') ?? '',
    /unexpected type name "Object.status", expected "Object.spec"/,
  )
  assert.match(wrong('Object{spec: [Object{}]}') ?? '', /unexpected type name "Object", expected "Object.spec"/)
})

test('JSON of a value: numbers too big for it are texts, what has none is refused', () => {
  assert.deepEqual(jsonOf(run('{"a": [1, 2], "b": [9007199254740993]}')), { a: [1, 2], b: ['9007199254740993'] })
  assert.deepEqual(jsonOf(run('[timestamp("2026-01-02T03:04:05Z")]')), ['2026-01-02T03:04:05Z'])
  assert.equal(jsonOf(run('b"xyz"')), 'eHl6')
  assert.equal(jsonOf(run('object')), object)
  assert.throws(() => jsonOf(run('{1: "a"}')), { message: "unsupported type conversion from 'int' to string" })
  assert.throws(() => jsonOf(run('quantity("1")')), {
    message: "type conversion error from 'Quantity' to '*structpb.Value'",
  })
})

test('a configuration keeps what came from the object, and what the merge does not know as it is', () => {
  const made = configurationOf(run('Object{list: object.list, spec: {"a": [1]}, none: {"b": null}}') as MessageValue)
  assert.equal(made['list'], object.list)
  assert.ok((made['spec'] as { a: unknown }).a instanceof ForeignValue)
  assert.equal((made['none'] as unknown as { b: ForeignValue }).b.text, 'NULL_VALUE')
})

test('hostile names are fields like any other', () => {
  const made = configurationOf(run('Object{__proto__: {"__proto__": "x"}, constructor: "y"}') as MessageValue)
  assert.deepEqual(Object.keys(made), ['__proto__', 'constructor'])
  assert.equal(({} as { x?: string }).x, undefined)
})
