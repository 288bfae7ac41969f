/** Files of variables that containers write for others of their pod (KEP-3721): `NAME='value'`, a value may have several lines. */

export class EnvFileError extends Error {}

const NAME = /^[ \t]*([^=\s'][^='\n]*?)[ \t]*=[ \t]*/

/** Undefined where no such variable is in it. @throws EnvFileError for what is none of its forms */
export function envFileValue(text: string, key: string): string | undefined {
  let rest = text
  for (let line = 1; rest !== ''; ) {
    const end = rest.indexOf('\n')
    const first = end < 0 ? rest : rest.slice(0, end)
    if (first.trim() === '' || first.trimStart().startsWith('#')) {
      rest = end < 0 ? '' : rest.slice(end + 1)
      line++
      continue
    }
    const name = NAME.exec(first)
    if (name === null) throw new EnvFileError(`line ${line}: no variable`)
    const value = rest.slice(name[0].length)
    const close = value.startsWith("'") ? value.indexOf("'", 1) : -1
    if (close < 0) throw new EnvFileError(`line ${line}: a value must be in single quotes`)
    const after = value.slice(close + 1)
    const next = after.indexOf('\n')
    const trailing = (next < 0 ? after : after.slice(0, next)).trim()
    if (trailing !== '') throw new EnvFileError(`line ${line}: unexpected ${JSON.stringify(trailing)}`)
    const found = value.slice(1, close)
    if (name[1] === key) return found
    line += found.split('\n').length
    rest = next < 0 ? '' : after.slice(next + 1)
  }
  return undefined
}
