/**
 * The one way by which text of others is shown on a terminal or written to a file for people. Names, annotations and messages are data of others: whatever a
 * terminal would take as a command, or would show as something else than it is, is written as its code point.
 */

/** C0, DEL and C1 controls; marks that change the direction of text or are invisible; line and paragraph separators; surrogates alone. */
const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu

const code = (c: string) => {
  const hex = (c.codePointAt(0) as number).toString(16)
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}

/** A text with its line breaks as spaces. */
export const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ')

/** One line of text, cut at `most` characters. */
export function plainLine(text: string, most = 2000): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text
  return oneLine(cut).replace(UNSAFE, code)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** One line of text as content or attribute of XML and HTML. */
export const plainMarkup = (text: string, most = 300): string =>
  plainLine(text, most).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** JSON that means the same, with nothing in it that a terminal would act on. */
export function plainJson(value: unknown): string {
  // JSON.stringify has escaped C0 controls and surrogates that stand alone; line feeds and spaces here are its own.
  return JSON.stringify(value, undefined, 2).replace(UNSAFE, (c) =>
    c === '\n'
      ? c
      : c
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}

/** The longest text within a value; what is longer is cut. */
const LONGEST_WITHIN = 4000

/** A value of JSON that is read by a program and shown by it: each text in it, and each key, as one plain line. */
export function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return plainLine(value, LONGEST_WITHIN)
  if (Array.isArray(value)) return value.map(plainValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [plainLine(key, LONGEST_WITHIN), plainValue(one)]),
  )
}

/** Text as one word of a POSIX shell, for commands that are shown to be copied. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
