/**
 * Writes src/api/cel/spec-cases.json from the conformance cases of the CEL specification: Go module cel.dev/expr, whose folder
 * is the argument (`go mod download -json cel.dev/expr@v0.25.1` tells it). Each case is a row of its name, its expression and
 * what comes of it; what Kubernetes' environment has no word for is left out by a kind, and counted.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

type Field = Buffer | string | Message
type Message = Map<string, Field[]>

/** A value as the rows have it: its type's letter and its text. */
type Row = readonly [type: string, value?: unknown]

export interface SpecCases {
  readonly source: string
  readonly license: string
  readonly cases: readonly SpecCase[]
  /** By kind, names of cases. */
  readonly left: Readonly<Record<string, readonly string[]>>
}

/** Variables: name, type, value. Expected: `value`, `error`, or `type` of an expression that is only checked. */
export interface SpecCase {
  readonly name: string
  readonly expr: string
  readonly variables?: readonly (readonly [name: string, type: string, value: Row | undefined])[]
  readonly value?: Row
  readonly error?: string
  readonly type?: string
}

class LeftOut extends Error {}

// Text format of protocol buffers, as far as the cases use it.

function parseText(text: string): Message {
  const tokens =
    text.match(/#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[[A-Za-z][\w./]*\]|[{}<>[\],:;]|[^\s{}<>[\],:;#"']+/g) ??
    []
  const words = tokens.filter((token) => !token.startsWith('#'))
  let at = 0
  const isText = (token: string | undefined) => token?.startsWith('"') || token?.startsWith("'")

  function value(): Field {
    const token = words[at] ?? ''
    if (token === '{' || token === '<') {
      at++
      return message(token === '{' ? '}' : '>')
    }
    if (!isText(token)) {
      at++
      return token
    }
    const parts: Buffer[] = []
    while (isText(words[at])) parts.push(unquoted(words[at++] as string))
    return Buffer.concat(parts)
  }

  function message(end: string | undefined): Message {
    const fields: Message = new Map()
    while (words[at] !== end) {
      const name = words[at++] as string
      if (words[at] === ':') at++
      const values = fields.get(name) ?? []
      fields.set(name, values)
      if (words[at] === '[') {
        at++
        while (words[at] !== ']') {
          values.push(value())
          if (words[at] === ',') at++
        }
        at++
      } else values.push(value())
      if (words[at] === ',' || words[at] === ';') at++
    }
    at++
    return fields
  }
  return message(undefined)
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b', f: '\f', v: '\v' }

function unquoted(token: string): Buffer {
  const parts: Buffer[] = []
  for (const [part, hex, octal, point, one] of token
    .slice(1, -1)
    .matchAll(/\\x([0-9a-fA-F]{1,2})|\\([0-7]{1,3})|\\(?:u([0-9a-fA-F]{4}|)|U([0-9a-fA-F]{8}))|\\(.)|[^\\]+/gs)) {
    const code = hex !== undefined ? Number.parseInt(hex, 16) : octal !== undefined ? Number.parseInt(octal, 8) : -1
    const unicode = point ?? (part.startsWith('\\U') ? part.slice(2) : undefined)
    if (code >= 0) parts.push(Buffer.from([code]))
    else if (unicode !== undefined) parts.push(Buffer.from(String.fromCodePoint(Number.parseInt(unicode, 16))))
    else if (part.startsWith('\\')) parts.push(Buffer.from(ESCAPES[part[1] as string] ?? (part[1] as string)))
    else parts.push(Buffer.from(part))
    void one
  }
  return Buffer.concat(parts)
}

const all = (message: Message, name: string): readonly Message[] => (message.get(name) ?? []) as Message[]
const one = (message: Message, name: string): Message | undefined => all(message, name)[0]
const text = (message: Message, name: string): string => String(message.get(name)?.[0] ?? '')

// Values and types.

const PROTO = 'objects of protobuf messages'
const nanos = (message: Message) =>
  String(BigInt(text(message, 'seconds') || 0) * 1_000_000_000n + BigInt(text(message, 'nanos') || 0))

function rowOf(value: Message): Row {
  const [[kind, [given]] = ['', []]] = value as Map<string, [Field]>
  switch (kind) {
    case 'int64_value':
      return ['int', String(BigInt(String(given)))]
    case 'uint64_value':
      return ['uint', String(BigInt(String(given)))]
    case 'double_value':
      return ['double', doubleOf(String(given))]
    case 'string_value':
      return ['string', String(given)]
    case 'bytes_value':
      return ['bytes', (given as Buffer).toString('hex')]
    case 'bool_value':
      return ['bool', String(given) === 'true']
    case 'null_value':
      return ['null_type']
    case 'type_value':
      return ['type', String(given)]
    case 'list_value':
      return ['list', all(given as unknown as Message, 'values').map(rowOf)]
    case 'map_value':
      return [
        'map',
        all(given as unknown as Message, 'entries').map((entry) => [
          rowOf(one(entry, 'key') as Message),
          rowOf(one(entry, 'value') as Message),
        ]),
      ]
    case 'object_value': {
      const [[name, [inner]] = ['', []]] = given as unknown as Map<string, [Message]>
      if (name === '[type.googleapis.com/google.protobuf.Duration]') return ['duration', nanos(inner as Message)]
      if (name === '[type.googleapis.com/google.protobuf.Timestamp]') return ['timestamp', nanos(inner as Message)]
      throw new LeftOut(PROTO)
    }
    case 'enum_value':
      throw new LeftOut('values of enumerations')
  }
  throw new Error(`no value: ${kind}`)
}

function doubleOf(given: string): string {
  const named = /^(-?)(inf|infinity|nan)$/i.exec(given)
  if (named === null) return String(Number(given))
  return named[2]?.toLowerCase() === 'nan' ? 'NaN' : `${named[1]}Infinity`
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  INT64: 'int',
  UINT64: 'uint',
  DOUBLE: 'double',
  BOOL: 'bool',
  STRING: 'string',
  BYTES: 'bytes',
}

function typeOf(type: Message): string {
  const [[kind, [given]] = ['', []]] = type as Map<string, [Field]>
  const inner = given as Message
  switch (kind) {
    case 'primitive':
      return PRIMITIVES[String(given)] ?? ''
    case 'dyn':
      return 'dyn'
    case 'null':
      return 'null'
    case 'well_known':
      if (String(given) === 'ANY') throw new LeftOut(PROTO)
      return String(given).toLowerCase()
    case 'list_type':
      return `list(${typeOf(one(inner, 'elem_type') as Message)})`
    case 'map_type':
      return `map(${typeOf(one(inner, 'key_type') as Message)}, ${typeOf(one(inner, 'value_type') as Message)})`
    case 'type': {
      const of = inner.size === 0 ? 'dyn' : typeOf(inner)
      return `type(${of})`
    }
    case 'abstract_type':
      return `${text(inner, 'name')}(${all(inner, 'parameter_types').map(typeOf).join(', ')})`
    case 'message_type':
    case 'wrapper':
      throw new LeftOut(PROTO)
    case 'type_param':
      throw new LeftOut('type parameters')
  }
  throw new Error(`no type: ${kind}`)
}

function caseOf(test: Message, name: string): SpecCase {
  const expr = text(test, 'expr')
  if (text(test, 'disable_check') === 'true') throw new LeftOut('expressions that are not to be checked')
  if (text(test, 'disable_macros') === 'true') throw new LeftOut('macros turned off')
  if (test.has('unknown') || test.has('any_unknowns')) throw new LeftOut('unknown values')
  const given = new Map(all(test, 'bindings').map((entry) => [text(entry, 'key'), one(entry, 'value') as Message]))
  const variables = all(test, 'type_env').map((declared) => {
    if (declared.has('function')) throw new LeftOut('functions that a case declares')
    const variable = text(declared, 'name')
    const bound = given.get(variable)
    const value = bound && one(bound, 'value')
    const type = typeOf(one(one(declared, 'ident') as Message, 'type') as Message)
    return [variable, type, value && rowOf(value)] as const
  })
  const made = { name, expr, ...(variables.length === 0 ? {} : { variables }) }
  const typed = one(test, 'typed_result')
  const deduced = typed && one(typed, 'deduced_type')
  const value = one(test, 'value') ?? (typed && one(typed, 'result'))
  const error = one(test, 'eval_error') ?? one(all(test, 'any_eval_errors')[0] ?? new Map(), 'errors')
  if (text(test, 'container') !== '') throw new LeftOut('containers of names')
  if (/\b(google\.protobuf\.|cel\.expr\.|TestAllTypes|NestedTestAllTypes|GlobalEnum)/.test(expr))
    throw new LeftOut(PROTO)
  return {
    ...made,
    ...(deduced === undefined ? {} : { type: typeOf(deduced) }),
    ...(error === undefined ? {} : { error: text(one(error, 'errors') ?? new Map(), 'message') }),
    ...(value === undefined ? (error || deduced ? {} : { value: ['bool', true] as const }) : { value: rowOf(value) }),
  }
}

const [module] = process.argv.slice(2)
if (module === undefined) throw new Error('the folder of cel.dev/expr is missing')
const folder = join(module, 'tests/simple/testdata')
const cases: SpecCase[] = []
const left: Record<string, string[]> = {}
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith('.textproto')) continue
  for (const section of all(parseText(readFileSync(join(folder, file), 'utf8')), 'section'))
    for (const test of all(section, 'test')) {
      const name = `${basename(file, '.textproto')}/${text(section, 'name')}/${text(test, 'name')}`
      try {
        cases.push(caseOf(test, name))
      } catch (error) {
        if (!(error instanceof LeftOut)) throw new Error(name, { cause: error })
        left[error.message] = [...(left[error.message] ?? []), name]
      }
    }
}
const header = {
  source: `${basename(module)} of cel.dev, tests/simple/testdata: conformance cases of the Common Expression Language`,
  license: 'Apache-2.0, Copyright Google LLC and the CEL specification authors',
}
const lines = (rows: readonly unknown[]) => rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')
const kinds = Object.entries(left).map(([kind, names]) => `    ${JSON.stringify(kind)}: ${JSON.stringify(names)}`)
writeFileSync(
  new URL('../src/api/cel/spec-cases.json', import.meta.url),
  `{\n  "source": ${JSON.stringify(header.source)},\n  "license": ${JSON.stringify(header.license)},\n  "cases": [\n${lines(cases)}\n  ],\n  "left": {\n${kinds.join(',\n')}\n  }\n}\n`,
)
console.log(`${cases.length} cases`)
for (const [kind, names] of Object.entries(left)) console.log(`${names.length} left out: ${kind}`)
