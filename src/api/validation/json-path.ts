/**
 * Whether a text can stand in the braces of a JSONPath template, as kubectl's dialect reads it: what an admission policy's type
 * checking refers to. The paths of custom resources are read by api/objects/json-path.ts, which forgives more.
 */

const TERMINATORS = /[\s.,[\]$@{}]/
const SLICE = /^-?\d*(?::-?\d*)?(?::-?\d*)?$/
const KEY = /^'[^']*'$/

/** What is wrong with it, in the words of the API; undefined when nothing is. */
export function jsonPathProblem(path: string): string | undefined {
  let at = 0
  const word = () => {
    while (at < path.length && !TERMINATORS.test(path[at]!)) at += path[at] === '\\' ? 2 : 1
  }
  while (at < path.length) {
    const character = path[at]!
    if (character === '}') {
      // What follows the action is text, up to the next one.
      const next = path.indexOf('{', at)
      if (next < 0) return undefined
      at = next + 1
    } else if (character === '[') {
      const problem = bracket()
      if (problem !== undefined) return problem
    } else if (character === '.') {
      at += path[at + 1] === '.' ? 2 : 1
      word()
    } else if (character === '"' || character === "'") {
      const end = path.indexOf(character, at + 1)
      if (end < 0) return 'unterminated quoted string'
      at = end + 1
    } else if (/[0-9+-]/.test(character)) {
      const start = at
      word()
      const number = path.slice(start, at)
      if (!/^[+-]?\d+(?:\.\d+)?$/.test(number)) return `cannot parse number ${number}`
    } else if (/[\p{L}_]/u.test(character)) word()
    else if (/[\s@$]/.test(character)) at++
    else return `unrecognized character in action: ${codePoint(path, at)}`
  }
  return undefined

  function bracket(): string | undefined {
    if (path.startsWith('[?(', at)) {
      const end = path.indexOf(')]', at)
      if (end < 0) return 'unterminated filter'
      at = end + 2
      return undefined
    }
    const end = path.indexOf(']', at)
    if (end < 0) return 'unterminated array'
    const inside = path.slice(at + 1, end)
    at = end + 1
    const known = inside === '*' || inside.split(',').every((part) => SLICE.test(part) || KEY.test(part.trim()))
    return known ? undefined : `invalid array index ${inside}`
  }
}

/** `U+007B '{'`, as Go's %#U. */
function codePoint(text: string, at: number): string {
  const code = text.codePointAt(at)!
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')} '${String.fromCodePoint(code)}'`
}
