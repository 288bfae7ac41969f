/** Texts as Go's %q prints them: names and values in messages. */

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** What cannot be printed is escaped. */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`
  let out = '"'
  for (const c of text) {
    const code = c.codePointAt(0)!
    if (ESCAPES[c] !== undefined) out += ESCAPES[c]
    else if (c === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(c)) out += c
    else if (code < 0x80) out += `\\x${code.toString(16).padStart(2, '0')}`
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`
    else out += `\\U${code.toString(16).padStart(8, '0')}`
  }
  return `${out}"`
}
