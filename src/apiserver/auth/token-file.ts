/**
 * Static tokens (API concept: static token file): lines of `token,user,uid,"group1,group2"`, as kube-apiserver's
 * --token-auth-file takes them. Read once, when the server starts.
 */
import type { UserInfo } from '../../api/request.ts'

export class TokenFileError extends Error {}

const LEAST_COLUMNS = 3

/** Users by token. @throws TokenFileError in kube-apiserver's words */
export function parseTokenFile(text: string, file: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const columns of records(text)) {
    const [token = '', name = '', uid = '', groups] = columns
    if (columns.length < LEAST_COLUMNS)
      throw new TokenFileError(
        `token file '${file}' must have at least 3 columns (token, user name, user uid), found ${columns.length}`,
      )
    // Such a line is passed over, and of a token that is there twice the last is taken.
    if (token === '') continue
    // Spaces belong to names, and a column with nothing in it names the group whose name is empty.
    users.set(token, { name, uid, groups: groups?.split(',') ?? [] })
  }
  return users
}

/** RFC 4180, as strictly as Go reads it: quotes stand around whole fields, which may have commas, newlines and doubled quotes in them. */
function* records(text: string): Iterable<readonly string[]> {
  const lines = text.replaceAll('\r\n', '\n').split(/(?<=\n)/)
  for (let at = 0; at < lines.length; at++) {
    const first = at
    if (lines[at] === '\n' || lines[at] === '') continue
    const found: string[] = []
    let rest = lines[at] as string
    const wrong = (left: string, why: string) => {
      const column = Buffer.byteLength(lines[at] as string) - Buffer.byteLength(left) + 1
      const where = `parse error on line ${at + 1}, column ${column}: ${why}`
      return new TokenFileError(first === at ? where : `record on line ${first + 1}; ${where}`)
    }
    for (let isMore = true; isMore; ) {
      if (!rest.startsWith('"')) {
        const field = /^[^,\n]*/.exec(rest)?.[0] ?? ''
        const quote = field.indexOf('"')
        if (quote >= 0) throw wrong(rest.slice(quote), 'bare " in non-quoted-field')
        found.push(field)
        rest = rest.slice(field.length)
      } else {
        rest = rest.slice(1)
        let value = ''
        for (;;) {
          const quote = rest.indexOf('"')
          if (quote < 0) {
            value += rest
            if (at === lines.length - 1) throw wrong('', UNCLOSED)
            rest = lines[++at] as string
          } else {
            value += rest.slice(0, quote)
            rest = rest.slice(quote + 1)
            if (!rest.startsWith('"')) break
            value += '"'
            rest = rest.slice(1)
          }
        }
        found.push(value)
        if (!/^(,|\n|$)/.test(rest)) throw wrong(`"${rest}`, UNCLOSED)
      }
      isMore = rest.startsWith(',')
      rest = rest.slice(1)
    }
    yield found
  }
}

const UNCLOSED = 'extraneous or missing " in quoted-field'
