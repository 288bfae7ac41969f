/**
 * YAML answers, letter by letter as Kubernetes writes them (yaml-recorded.json): keys in the order of the numbers in them,
 * sequences no deeper than their key, long texts folded at spaces, and quotes wherever a reader of YAML 1.1, which most
 * clients are, would take a text for something else or refuse it.
 *
 * Characters that YAML allows only as escapes (U+007F to U+009F, U+FFFE, U+FFFF) are written as escapes. Kubernetes answers
 * with code 500 where there is one of them, or, where it is U+0085, with a space in its place.
 */
import type { Json } from '../object.ts'
import { jsonText, parseExactly } from '../values/json.ts'
import { formsOf, readsAsOther } from './yaml-scalars.ts'

/** The column after which a text goes on in the next line. */
const WIDTH = 80
/** Bytes of the longest key that stands before its colon without a question mark. */
const KEY_BYTES = 128

export function encodeYaml(value: Json): string {
  const writer = new Writer()
  writer.node(parseExactly(jsonText(value)), -1)
  return writer.end()
}

type Entries = { readonly [key: string]: unknown }

class Writer {
  private text = ''
  /** Characters (not UTF-16 units) in the line so far. */
  private column = 0
  /** Whether the line has no scalar so far. */
  private bare = true
  /** Whether the last character is a space. */
  private spaced = false

  /** What stands here already is a key and its colon, a dash, or nothing; `indent` is the column of what holds it. */
  node(value: unknown, indent: number, afterKey = false): void {
    if (typeof value === 'string') this.scalar(value, Math.max(indent, 0) + 2, false)
    else if (Array.isArray(value) && value.length > 0) this.sequence(value, afterKey ? indent : Math.max(indent + 2, 0))
    else if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
      this.mapping(value as Entries, indent < 0 ? 0 : indent + 2)
    else {
      this.bare = false
      this.put(`${this.space()}${plainText(value)}`)
    }
  }

  end(): string {
    if (this.column > 0) this.put('\n')
    return this.text
  }

  private sequence(items: readonly unknown[], indent: number): void {
    for (const item of items) {
      this.lineAt(indent)
      this.put('-')
      this.node(item, indent)
    }
  }

  private mapping(entries: Entries, indent: number): void {
    for (const key of Object.keys(entries).sort(byName)) {
      const long = Buffer.byteLength(key) > KEY_BYTES || formsOf(key).lines
      this.lineAt(indent)
      if (long) this.put('?')
      this.scalar(key, indent + 2, !long)
      if (long) this.lineAt(indent)
      this.put(':')
      this.node(entries[key], indent, !long)
    }
  }

  /** To a column: in this line while it holds nothing but dashes, question marks and a colon after one. */
  private lineAt(column: number): void {
    const goesOn = this.bare && this.column < column
    if (this.column > 0 && !goesOn) this.put('\n')
    this.bare = true
    this.put(' '.repeat(column - this.column))
  }

  /** Between an indicator and what follows it. */
  private space(): string {
    return this.column === 0 || this.spaced ? '' : ' '
  }

  private scalar(text: string, indent: number, key: boolean): void {
    const forms = formsOf(text)
    this.bare = false
    if (text.includes('\n')) {
      if (forms.literal) this.literal(text, indent)
      else this.double(text, indent, key)
    } else if (readsAsOther(text)) this.double(text, indent, key)
    else if (forms.plain) this.folded(text, indent, key, '')
    else if (forms.single) this.folded(text, indent, key, "'")
    else this.double(text, indent, key)
  }

  private literal(text: string, indent: number): void {
    const hint = /^[ \n\r\u2028\u2029]/.test(text) ? '2' : ''
    const chomp = !/[\n\u2028\u2029]$/.test(text)
      ? '-'
      : /(?:^|[\n\u2028\u2029])[\n\u2028\u2029]$/.test(text)
        ? '+'
        : ''
    this.put(`${this.space()}|${hint}${chomp}\n`)
    for (const [, line, ending] of text.matchAll(/([^\n\u2028\u2029]*)([\n\u2028\u2029]|$)/g))
      this.put(`${line === '' ? '' : ' '.repeat(indent)}${line}${ending}`)
  }

  /** Plain or in single quotes, where only a space between two characters that are none may become the end of a line. */
  private folded(text: string, indent: number, key: boolean, quote: "'" | ''): void {
    this.put(this.space() + quote)
    const margin = ' '.repeat(indent)
    const parts = (quote === '' ? text : text.replaceAll("'", "''")).split(/(?<=[^ ]) (?=[^ ])/)
    for (const [at, part] of parts.entries()) {
      if (at > 0) this.put(!key && this.column > WIDTH ? `\n${margin}` : ' ')
      // LS and PS are written as they are, and begin a line.
      this.put(part.replace(/[\u2028\u2029]+(?=[^\u2028\u2029])/g, `$&${margin}`))
    }
    this.put(quote)
  }

  private double(text: string, indent: number, key: boolean): void {
    this.put(`${this.space()}"`)
    const all = text.startsWith('\ufeff')
    const characters = [...text]
    // After a fold, the spaces that follow the one that became the end of the line stand as they are.
    let spaces = false
    for (const [at, character] of characters.entries()) {
      if (all || ESCAPED.test(character)) {
        this.put(escaped(character))
        spaces = false
      } else if (character !== ' ') {
        this.put(character)
        spaces = false
      } else {
        const fold = !key && !spaces && this.column > WIDTH && at > 0 && at < characters.length - 1
        if (fold) this.put(`\n${' '.repeat(indent)}${characters[at + 1] === ' ' ? '\\' : ''}`)
        else this.put(' ')
        spaces = true
      }
    }
    this.put('"')
  }

  private put(text: string): void {
    this.text += text
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0x0a || code === 0x2028 || code === 0x2029) this.column = 0
      else if ((code & 0xfc00) !== 0xdc00) this.column++
    }
    if (text !== '') this.spaced = text.endsWith(' ')
  }
}

const ESCAPED = /["\\\p{Cc}\u2028\u2029\ufeff\ufffe\uffff\u{10000}-\u{10ffff}]/u

const SHORT: Readonly<Record<string, string>> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\x85': 'N',
  '\xa0': '_',
  '\u2028': 'L',
  '\u2029': 'P',
}

function escaped(character: string): string {
  const short = SHORT[character]
  if (short !== undefined) return `\\${short}`
  const code = character.codePointAt(0)!
  const [letter, digits] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : (['U', 8] as const)
  return `\\${letter}${code
    .toString(16)
    .toUpperCase()
    .padStart(digits as number, '0')}`
}

function plainText(value: unknown): string {
  if (Array.isArray(value)) return '[]'
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'bigint')
    return value >= -(1n << 63n) && value < 1n << 63n ? `${value}` : numberText(Number(value))
  return typeof value === 'object' && value !== null ? '{}' : String(value)
}

/** Integers of 64 bits with their digits; all else as Go prints a float, with an exponent below 1e-4 and from a million on. */
function numberText(value: number): string {
  if (Number.isInteger(value) && value > -(2 ** 63) && value < 2 ** 64) return `${value + 0}`
  const size = Math.abs(value)
  if (size >= 1e-4 && size < 1e6) return `${value}`
  return value.toExponential().replace(/e([-+])(\d)$/, 'e$10$2')
}

/**
 * Letters come after all else, and digits in a row count as a number. No order of a whole: of 2z, 3é and 2000 each comes
 * before the next, and the first after the last. Kubernetes gives such keys in no fixed order.
 */
function byName(a: string, b: string): number {
  let same = 0
  while (same < a.length && a.charCodeAt(same) === b.charCodeAt(same)) same++
  if (isAsciiLetter(a.charCodeAt(same)) && isAsciiLetter(b.charCodeAt(same)))
    return a.charCodeAt(same) - b.charCodeAt(same)
  const [left, right] = [[...a], [...b]]
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) {
    const [mine, other] = [left[at]!, right[at]!]
    if (mine === other) continue
    const [letter, otherLetter] = [LETTER.test(mine), LETTER.test(other)]
    if (letter !== otherLetter) return letter ? 1 : -1
    const byCode = mine.codePointAt(0)! - other.codePointAt(0)!
    if (letter) return byCode
    // Of 100 and 12 (which part at their second digit) the first is greater, of 012 and 03 the first, too.
    const before = (mine === '0' || other === '0') && digitsBefore(left, at).some((digit) => digit !== '0') ? 1n : 0n
    const [number, otherNumber] = [numberFrom(left, at, before), numberFrom(right, at, before)]
    if (number.value !== otherNumber.value) return number.value < otherNumber.value ? -1 : 1
    return number.end - otherNumber.end || byCode
  }
  return left.length - right.length
}

const isAsciiLetter = (code: number) => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a

const LETTER = /\p{L}/u

const DIGIT = /\p{Nd}/u

function digitsBefore(characters: readonly string[], at: number): readonly string[] {
  let from = at
  while (from > 0 && DIGIT.test(characters[from - 1]!)) from--
  return characters.slice(from, at)
}

/** What the digits from a place on count as, digits of other scripts by how far they stand from 0, in 64 bits that wrap around; and where they end. */
function numberFrom(characters: readonly string[], at: number, before: bigint) {
  let value = before
  let end = at
  for (; end < characters.length && DIGIT.test(characters[end]!); end++)
    value = BigInt.asIntN(64, value * 10n + BigInt(characters[end]!.codePointAt(0)! - 0x30))
  return { value, end }
}
