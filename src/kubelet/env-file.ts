/**
 * Files of variables that containers write for others of their pod (KEP-3721): `NAME='value'`, where a value may have several lines; blank
 * lines and comments. It is read to the variable that is asked for, and what stands behind it is not looked at.
 */

/** What is in the file has none of its forms. */
export class EnvFileError extends Error {
  constructor(options?: ErrorOptions) {
    super("couldn't parse env file", options)
    this.name = 'EnvFileError'
  }
}

/** Undefined where no such variable is in it, or one without a value. @throws EnvFileError */
export function envFileValue(text: string, key: string): string | undefined {
  for (let rest = text; rest !== ''; ) {
    const [line, below] = cut(rest, '\n')
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) {
      rest = below
      continue
    }
    const [before, after] = cut(rest.trimStart(), '=')
    const name = before.trimEnd()
    if (name === '' || name !== before || name.includes('\n')) throw new EnvFileError()
    let value = ''
    if (after.startsWith("'")) {
      const end = after.indexOf("'", 1)
      if (end < 0) throw new EnvFileError()
      value = after.slice(1, end)
      const [beside, next] = cut(after.slice(end + 1), '\n')
      if (!/^\s*(?:#.*)?$/.test(beside)) throw new EnvFileError()
      rest = next
    } else {
      const [beside, next] = cut(after, '\n')
      // Without quotes there is no value; what follows a blank is not looked at.
      if (!/^(?:\s.*)?$/.test(beside)) throw new EnvFileError()
      rest = next
    }
    if (name === key) return value === '' ? undefined : value
  }
  return undefined
}

/** What is before the first `at` and what is after it; nothing where there is none. */
function cut(text: string, at: string): readonly [before: string, after: string] {
  const index = text.indexOf(at)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)]
}
