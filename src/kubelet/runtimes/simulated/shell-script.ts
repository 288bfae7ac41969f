/**
 * The few forms of a shell's script that a simulated container understands: statements of words and quotes, divided by `;`, `&&` or
 * lines, with redirections of what they print. A script that has anything else is not understood at all.
 */

export interface Statement {
  readonly words: readonly string[]
  /** It follows `&&`. */
  readonly ifSucceeded: boolean
  /** Where its standard output goes; undefined: where the script's goes. */
  readonly to?: { readonly file: string; readonly appends: boolean } | 'stdout' | 'stderr'
}

const REDIRECTION = /^([12]?)(>>?)(?:&([12]))?$/
const FILES_OF_STREAMS: Readonly<Record<string, 'stdout' | 'stderr'>> = {
  '/dev/stdout': 'stdout',
  '/proc/1/fd/1': 'stdout',
  '/dev/stderr': 'stderr',
  '/proc/1/fd/2': 'stderr',
}
const TOKEN = /'[^']*'|"(?:[^"$`\\]|\\.)*"|&&|[;\n]|[12]?>>?(?:&[12])?|[\w./:=,+@%^!\p{L}\p{N}-]+|[^\S\n]+|./gsu

export function statementsOf(script: string): Statement[] | undefined {
  const statements: Statement[] = []
  let words: string[] = []
  let to: Statement['to']
  let ifSucceeded = false
  /** A redirection whose file comes next. */
  let wanted: { readonly stream: string; readonly appends: boolean } | undefined
  let isGlued = false
  let ended = true
  const end = () => {
    if (words.length > 0) statements.push({ words, ifSucceeded, ...(to === undefined ? {} : { to }) })
    words = []
    to = undefined
    return wanted === undefined
  }
  const word = (text: string, isNew: boolean) => {
    if (wanted !== undefined) {
      if (wanted.stream !== '2') to = FILES_OF_STREAMS[text] ?? { file: text, appends: wanted.appends }
      wanted = undefined
      // What goes on without a space would be more of the file's name.
      isGlued = false
      return
    }
    if (isNew) words.push(text)
    else words[words.length - 1] += text
    isGlued = true
  }
  for (const [token] of script.matchAll(TOKEN)) {
    if (token === ';' || token === '\n' || token === '&&') {
      if (!end()) return undefined
      ifSucceeded = token === '&&'
      isGlued = false
    } else if (/^['"]./.test(token)) word(unquoted(token), !isGlued)
    else if (REDIRECTION.test(token)) {
      const [, stream = '', sign = '>', duplicate] = REDIRECTION.exec(token) as RegExpExecArray
      if (wanted !== undefined) return undefined
      if (duplicate === undefined) wanted = { stream, appends: sign === '>>' }
      else if (stream !== '2') to = duplicate === '2' ? 'stderr' : 'stdout'
      isGlued = false
    } else if (/^[\w./:=,+@%^!\p{L}\p{N}-]/u.test(token)) word(token, !isGlued)
    else if (token.trim() === '') isGlued = false
    else return undefined
    ended = false
  }
  return ended || end() ? statements : undefined
}

function unquoted(token: string): string {
  const inner = token.slice(1, -1)
  return token.startsWith("'") ? inner : inner.replace(/\\(\n|["$`\\])/g, (_, sign) => (sign === '\n' ? '' : sign))
}
