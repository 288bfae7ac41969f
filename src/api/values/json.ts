/**
 * values: the values that fields have, as texts and as what they mean: JSON, quantities, addresses, Go's names of types. Knows
 * no schema and no kind. This file is JSON itself, exact where JSON.parse is not: 64-bit integers, duplicate keys, the order
 * of keys, and the words in which Go reports a syntax error.
 *
 * Two ways lead through it. `scanJson` tells cheaply whether JSON.parse loses nothing; if it does (or an error must be
 * reported), `parseJson` reads the text into nodes that keep everything.
 */

import { messageOf } from '../../base/errors.ts'
import type { Json } from '../object.ts'

/** A number as it is written. */
export class NumberNode {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** An object with every key as written, in order, duplicates included. */
export class ObjectNode {
  readonly entries: [key: string, value: JsonNode][] = []
}

export type JsonNode = null | boolean | string | NumberNode | ObjectNode | JsonNode[]

/** A syntax error in the words of Go's encoding/json. */
export class JsonSyntaxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'JsonSyntaxError'
  }
}

/** As deep as Go's encoding/json goes. */
const MAX_DEPTH = 10_000

export interface JsonScan {
  /** Keys in the whole text: when as many were seen after JSON.parse, none was written twice. */
  readonly keys: number
  /** Whether every number is an integer that a double holds, written without fraction or exponent. */
  readonly plainNumbers: boolean
  /** The value of the first `spec` of the top level. */
  readonly spec: Span | undefined
}

/** Bytes `start` to `end` (exclusive), and the keys in them. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly keys: number
}

const SPEC = Buffer.from('"spec"')

/** What must be known of a JSON text before JSON.parse may be trusted with it. Says nothing of its syntax. */
export function scanJson(bytes: Uint8Array): JsonScan {
  let keys = 0
  let plainNumbers = true
  const end = bytes.length
  let depth = 0
  let lastText = 0
  // Of spec's value: where it begins, how many keys came before it, and once it has ended where.
  let start = -1
  let before = 0
  let spec: Span | undefined
  for (let at = 0; at < end; at++) {
    const byte = bytes[at]!
    if (byte === 0x22) {
      lastText = at
      for (at++; at < end && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++
    } else if (byte === 0x3a) {
      keys++
      if (depth === 1 && start < 0 && isAt(bytes, lastText, SPEC)) {
        start = at + 1
        before = keys
      }
    } else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d || byte === 0x2c) {
      if (byte !== 0x2c) depth--
      if (start >= 0 && spec === undefined && depth === (byte === 0x2c ? 1 : 0))
        spec = { start, end: at, keys: keys - before }
    } else if (byte === 0x2e) plainNumbers = false
    else if (byte >= 0x30 && byte <= 0x39) {
      const start = at
      while (at + 1 < end && bytes[at + 1]! >= 0x30 && bytes[at + 1]! <= 0x39) at++
      if (at - start >= 15) plainNumbers = false
      const next = at + 1 < end ? bytes[at + 1]! | 0x20 : 0
      if (next === 0x65) plainNumbers = false
    } else if (byte === 0x2d && bytes[at + 1] === 0x30) plainNumbers = false
  }
  return { keys, plainNumbers, spec }
}

function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}

/** An integer exactly: a bigint where a number would lose digits. */
export function exactInteger(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value + 0 : BigInt(text)
}

const literals: Readonly<Record<string, { word: string; value: boolean | null }>> = {
  t: { word: 'true', value: true },
  f: { word: 'false', value: false },
  n: { word: 'null', value: null },
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings, so they must be found
const plainString = /[^"\\\u0000-\u001f]*/y
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/**
 * Reads a JSON text into nodes, without recursion.
 *
 * @throws JsonSyntaxError with Go's message
 */
export function parseJson(text: string): JsonNode {
  let at = 0
  const open: (ObjectNode | JsonNode[])[] = []
  let key = ''

  const skipSpace = () => {
    for (;;) {
      const c = text.charCodeAt(at)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
      at++
    }
  }
  const fail = (where: string): never => {
    // Go's scanner ends a text with a space, which may stand between values and in a string, and nowhere else.
    if (at >= text.length)
      throw new JsonSyntaxError(
        NO_SPACE.test(where) ? `invalid character ' ' ${where}` : 'unexpected end of JSON input',
      )
    throw new JsonSyntaxError(`invalid character ${quoteByte(text, at)} ${where}`)
  }

  const readString = (): string => {
    const start = at++
    for (;;) {
      plainString.lastIndex = at
      plainString.test(text)
      at = plainString.lastIndex
      const c = text[at]
      if (c === '"') break
      if (c !== '\\') fail('in string literal')
      at++
      const escaped = text[at]
      if (escaped === 'u') {
        for (let digit = 0; digit < 4; digit++) {
          at++
          if (!/[0-9a-fA-F]/.test(text[at] ?? '')) fail('in \\u hexadecimal character escape')
        }
      } else if (escaped === undefined || !'bfnrt\\/"'.includes(escaped)) fail('in string escape code')
      at++
    }
    at++
    // Half a character becomes the one that stands for what is unknown, as in Go.
    return (JSON.parse(text.slice(start, at)) as string).toWellFormed()
  }

  const readNumber = (): NumberNode => {
    number.lastIndex = at
    const found = number.exec(text)?.[0]
    if (found === undefined) {
      at++
      fail('in numeric literal')
    }
    const start = at
    at += found!.length
    if (text[at] === '.') {
      if (!/[.eE]/.test(found!)) {
        at++
        fail('after decimal point in numeric literal')
      }
    } else if ((text[at] === 'e' || text[at] === 'E') && !/[eE]/.test(found!)) {
      at++
      if (text[at] === '+' || text[at] === '-') at++
      fail('in exponent of numeric literal')
    }
    return new NumberNode(text.slice(start, at))
  }

  const readLiteral = (first: string): boolean | null => {
    const { word, value } = literals[first]!
    for (let i = 1; i < word.length; i++) {
      at++
      if (text[at] !== word[i]) fail(`in literal ${word} (expecting '${word[i]}')`)
    }
    at++
    return value
  }

  const readKey = () => {
    skipSpace()
    if (text[at] !== '"') fail('looking for beginning of object key string')
    key = readString()
    skipSpace()
    if (text[at] !== ':') fail('after object key')
    at++
  }

  let root: JsonNode | undefined
  const keys: string[] = []
  const place = (value: JsonNode) => {
    const container = open.at(-1)
    if (container === undefined) root = value
    else if (Array.isArray(container)) container.push(value)
    else {
      heedKey(key)
      container.entries.push([key, value])
    }
  }

  for (;;) {
    // A value begins here.
    skipSpace()
    const c = text[at] ?? ''
    if (c === '{' || c === '[') {
      const container = c === '{' ? new ObjectNode() : []
      place(container)
      if (open.length >= MAX_DEPTH) throw new JsonSyntaxError(`invalid character '${c}' exceeded max depth`)
      open.push(container)
      keys.push(key)
      at++
      skipSpace()
      if (text[at] !== (c === '{' ? '}' : ']')) {
        if (c === '{') readKey()
        continue
      }
    } else if (c === '"') place(readString())
    else if (c === '-' || (c >= '0' && c <= '9')) place(readNumber())
    else if (c in literals) place(readLiteral(c))
    else fail('looking for beginning of value')

    // A value has ended: close what ends with it, up to the next one.
    for (;;) {
      skipSpace()
      const container = open.at(-1)
      if (container === undefined) {
        if (at < text.length) fail('after top-level value')
        return root!
      }
      const isList = Array.isArray(container)
      if (text[at] === ',') {
        at++
        if (!isList) readKey()
        break
      }
      if (text[at] !== (isList ? ']' : '}')) fail(isList ? 'after array element' : 'after object key:value pair')
      at++
      open.pop()
      key = keys.pop() ?? ''
    }
  }
}

/** Where no space may stand. */
const NO_SPACE = /numeric literal|escape|in literal/

/** Go's scanner sees bytes: of a character beyond ASCII it names the first byte. */
const quoteByte = (text: string, at: number) => quotedByte(Buffer.from(String.fromCodePoint(text.codePointAt(at)!))[0]!)

/** A byte as Go's %q shows it. */
function quotedByte(byte: number): string {
  if (byte === 0x27) return `'\\''`
  if (byte === 0x22) return `'"'`
  const named: Readonly<Record<number, string>> = {
    7: '\\a',
    8: '\\b',
    9: '\\t',
    10: '\\n',
    11: '\\v',
    12: '\\f',
    13: '\\r',
    92: '\\\\',
  }
  const short = named[byte]
  if (short !== undefined) return `'${short}'`
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`
  if ((byte >= 0x80 && byte < 0xa1) || byte === 0xad) return `'\\u${byte.toString(16).padStart(4, '0')}'`
  return `'${String.fromCharCode(byte)}'`
}

/** JSON.parse, with integers that a double cannot hold as bigints. @throws SyntaxError */
export function parseExactly(text: string): unknown {
  // Half a character becomes the one that stands for what is unknown, as in Go.
  return exactly(/\\u[dD][89a-fA-F]/.test(text) ? text.replace(ESCAPE, wellFormed) : text)
}

/** Any escape of a JSON text: of a whole character of two parts, of half of one, or another. */
const ESCAPE = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)/gs

const wellFormed = (found: string, half: string | undefined) => (half === undefined ? found : '\\ufffd')

function exactly(text: string): unknown {
  if (!/[:,[\s]-?\d{16}/.test(text)) return parseWithKeys(text)
  const reviver = (_key: string, value: unknown, context: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source ?? '')
      ? BigInt(context.source as string)
      : value
  return parseWithKeys(text, reviver as (key: string, value: unknown) => unknown)
}

/** Whether a key with a backslash in it has been read in this process. */
const backslashKeys = { seen: false }

/** To be told of every key of foreign objects that does not come through `parseWithKeys`. */
export function heedKey(key: string): void {
  if (!backslashKeys.seen && key.includes('\\')) backslashKeys.seen = true
}

/**
 * JSON.parse, with the keys that the text has. V8's own (from 12.8 on, nodejs/node#63785) compares a key as it is written, escapes and all, with
 * the next key of an earlier object that began alike: after `{"a":1,"\\\\":2}` it reads `{"a":1,"\\n":2}` with the key `\\`. What it then gives has
 * a backslash in it, as has the earlier object's; an object with such a key is therefore read by `parseJson`.
 *
 * @throws SyntaxError
 */
export function parseWithKeys(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  const value: unknown = JSON.parse(text, reviver)
  if (!text.includes('\\') || !(backslashKeys.seen || mayEscapeBackslash(text)) || !hasBackslashKey(value)) return value
  return exactOf(parseJson(text))
}

/** Of a text that JSON.parse takes: whether a key in it is written with an escaped backslash. */
function mayEscapeBackslash(text: string): boolean {
  if (text.includes('\\u005c') || text.includes('\\u005C')) return true
  // The first of several backslashes begins an escape.
  for (let at = text.indexOf('\\\\'); at >= 0; at = text.indexOf('\\\\', at)) {
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    do at++
    while (/\s/.test(text[at] ?? ''))
    if (text[at] === ':') return true
  }
  return false
}

function hasBackslashKey(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next)) for (const item of next) open.push(item)
    else
      for (const [key, inner] of Object.entries(next)) {
        if (key.includes('\\')) return true
        open.push(inner)
      }
  }
  return false
}

/** As plainOf, with integers that a double cannot hold as bigints, and without recursion: as deep as parseJson goes. */
function exactOf(root: JsonNode): unknown {
  const open: (() => void)[] = []
  const begun = (node: JsonNode): unknown => {
    if (node instanceof NumberNode) {
      const number = Number(node.text)
      return Number.isSafeInteger(number) || !/^-?\d+$/.test(node.text) ? number : BigInt(node.text)
    }
    if (Array.isArray(node)) {
      const list: unknown[] = []
      open.push(() => {
        for (const item of node) list.push(begun(item))
      })
      return list
    }
    if (!(node instanceof ObjectNode)) return node
    const object = {}
    open.push(() => {
      for (const [key, value] of node.entries)
        Object.defineProperty(object, key, {
          value: begun(value),
          enumerable: true,
          writable: true,
          configurable: true,
        })
    })
    return object
  }
  const value = begun(root)
  for (let fill = open.pop(); fill !== undefined; fill = open.pop()) fill()
  return value
}

/** A value as JSON text. Differs from JSON.stringify only in writing bigints, digit by digit. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return exactText(value) ?? 'null'
  }
}

/** Go's json.Marshal, which also escapes what HTML would read. Objects keep the order they are given in. */
export const goJson = (value: unknown): string => escapedForHtml(jsonText(value))

export function escapedForHtml(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(jsonText(value))
}

/** The same for people to read: a line for each value. */
export const prettyJson = (value: unknown): string =>
  JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? rawJSON(inner.toString()) : inner), 2)

/** Of ECMAScript 2025's JSON, which TypeScript does not know yet. */
const rawJSON: (text: string) => unknown = Reflect.get(JSON, 'rawJSON')

function exactText(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map((item) => exactText(item) ?? 'null').join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts: string[] = []
  for (const [key, inner] of Object.entries(value)) {
    const text = exactText(inner)
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`)
  }
  return `{${parts.join(',')}}`
}

/** An in-process object as nodes, for the exact walk. */
export function jsonNodeOf(value: unknown): JsonNode {
  if (typeof value === 'number' || typeof value === 'bigint') return new NumberNode(String(value))
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return value.map(jsonNodeOf)
  const node = new ObjectNode()
  for (const [key, inner] of Object.entries(value)) if (inner !== undefined) node.entries.push([key, jsonNodeOf(inner)])
  return node
}

/** Of a key that is there twice the last value counts. */
export function plainOf(node: JsonNode): Json {
  if (node instanceof NumberNode) return Number(node.text)
  if (Array.isArray(node)) return node.map(plainOf)
  if (node instanceof ObjectNode) return Object.fromEntries(node.entries.map(([key, value]) => [key, plainOf(value)]))
  return node
}

/**
 * What bytes hold that need not be text at all, as a continue token or a Secret's data.
 * @throws JsonSyntaxError with Go's message
 */
export function parseJsonBytes(bytes: Buffer): JsonNode {
  const text = bytes.toString()
  const first = bytes[/^[ \t\r\n]*/.exec(text)![0].length] ?? 0
  if (first >= 0x80) throw new JsonSyntaxError(`invalid character ${quotedByte(first)} looking for beginning of value`)
  return parseJson(text)
}

/** The kind of a value as Go's JSON decoder names it in errors. */
export function jsonWordFor(node: JsonNode): string {
  if (typeof node === 'string') return 'string'
  if (typeof node === 'boolean') return 'bool'
  if (node instanceof NumberNode) return 'number'
  return Array.isArray(node) ? 'array' : 'object'
}

/** Why a text is no JSON in the words of Go's decoder; those of `error` where the text can be parsed. */
export function jsonSyntaxWords(text: string, error: unknown): string {
  try {
    parseJson(text)
    return messageOf(error)
  } catch (syntaxError) {
    return messageOf(syntaxError)
  }
}
