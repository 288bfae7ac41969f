/** Which texts a YAML 1.1 reader takes for something else, and how a text may be written so that it stays what it is. */

const WORDS = new Set(
  (
    'y Y yes Yes YES on On ON n N no No NO off Off OFF true True TRUE false False FALSE ~ null Null NULL ' +
    '.nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF'
  ).split(' '),
)
const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)$/
const BITS_WITH_SIGN = /^0b[-+][01]+$/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
/** After a point, single underscores may stand between digits; elsewhere anywhere. */
const AFTER_POINT = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/
const TIME =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt](\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?(?:Z|[-+](\d\d):(\d\d)))|(?: +(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?))?$/

/** Whether a plain scalar of this text is no text to a YAML 1.1 reader: a boolean, null, a number or a time. */
export function readsAsOther(text: string): boolean {
  if (text === '' || WORDS.has(text)) return true
  const first = text.charCodeAt(0)
  if (first === 0x2e) return AFTER_POINT.test(text) && Number.isFinite(Number(text.replaceAll('_', '')))
  if (first !== 0x2b && first !== 0x2d && !(first >= 0x30 && first <= 0x39)) return false
  const digits = text.replaceAll('_', '')
  return isInteger(digits) || isFloat(digits) || BITS_WITH_SIGN.test(digits) || SEXAGESIMAL.test(text) || isTime(text)
}

const isFloat = (text: string) => FLOAT.test(text) && Number.isFinite(Number(text))

/** Of 64 bits, with a sign or, unless a sign is written, without. */
function isInteger(text: string): boolean {
  const [, sign, digits] = INTEGER.exec(text) ?? []
  if (digits === undefined) return false
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits
  if (/^0[oO]$/.test(octal)) return false
  const value = BigInt(octal.toLowerCase())
  return value < (sign === '' ? 1n << 64n : sign === '-' ? (1n << 63n) + 1n : 1n << 63n)
}

function isTime(text: string): boolean {
  const found = TIME.exec(text)
  if (!found) return false
  const [year, month, day] = found.slice(1, 4).map(Number) as [number, number, number]
  const [hour, minute, second] = (found[4] === undefined ? found.slice(9, 12) : found.slice(4, 7)).map((part) =>
    Number(part ?? 0),
  ) as [number, number, number]
  const [zoneHour, zoneMinute] = [Number(found[7] ?? 0), Number(found[8] ?? 0)]
  const days = [31, (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28, 31, 30, 31, 30]
  const last = [...days, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  // Of the distance to UTC, a whole day and a whole hour are taken, too.
  const zone = zoneHour <= 24 && zoneMinute <= 60
  return day >= 1 && day <= last && hour < 24 && minute < 60 && second < 60 && zone
}

/** The forms that say a text as it is, besides double quotes, which say every text. */
export interface Forms {
  readonly plain: boolean
  readonly single: boolean
  readonly literal: boolean
  /** It has a line break, and so is no key of one line. */
  readonly lines: boolean
}

/** Neither printable to a YAML 1.1 reader (tabs are, but Kubernetes escapes them), nor one of its line breaks but CR and NEL. */
const SPECIAL = /(?!\n)[\p{Cc}\ufeff\ufffe\uffff\u{10000}-\u{10ffff}]/u
const BREAK = /[\n\r\x85\u2028\u2029]/
const BREAK_AT_EDGE = /^[\n\r\x85\u2028\u2029]|[\n\r\x85\u2028\u2029]$/
const INDICATOR =
  /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[-?:](?:[ \n\u2028\u2029]|$))|:(?:[ \n\u2028\u2029]|$)|[ \n\u2028\u2029]#/
/** What most texts are. */
const SIMPLE = /^[A-Za-z0-9/_.$()+;<=^~\\][A-Za-z0-9/_.$()+;<=^~\\,'"{}@-]*$/

export function formsOf(text: string): Forms {
  if (SIMPLE.test(text) && !text.startsWith('...')) return { plain: true, single: true, literal: true, lines: false }
  const lines = BREAK.test(text)
  if (SPECIAL.test(text) || / [\n\r\x85\u2028\u2029]/.test(text))
    return { plain: false, single: false, literal: false, lines }
  const spaceAfterBreak = /[\n\r\x85\u2028\u2029] /.test(text)
  return {
    plain: !lines && !/^ | $/.test(text) && !BREAK_AT_EDGE.test(text) && !INDICATOR.test(text),
    single: !spaceAfterBreak,
    literal: text !== '' && !text.endsWith(' '),
    lines,
  }
}
