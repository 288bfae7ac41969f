/**
 * Static tokens (API concept: static token file): lines of `token,user,uid,"group1,group2"`, as kube-apiserver's
 * --token-auth-file takes them. Read once, when the server starts.
 */
import type { UserInfo } from '../../api/request.ts'

export class TokenFileError extends Error {}

const LEAST_COLUMNS = 3

/** Users by token. @throws TokenFileError naming the line that is wrong */
export function parseTokenFile(text: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const columns = fields(line, i + 1)
    const [token = '', name = '', uid = '', groups = ''] = columns
    if (columns.length < LEAST_COLUMNS)
      throw new TokenFileError(`must have at least 3 columns (token, user name, user uid), found ${columns.length}`)
    // Such a line is passed over, and of a token that is there twice the last is taken.
    if (token === '') continue
    const list = groups === '' ? [] : groups.split(',').map((group) => group.trim())
    users.set(token, { name, uid, groups: list })
  }
  return users
}

/** RFC 4180: fields between commas, quoted where they contain some. */
function fields(line: string, number: number): readonly string[] {
  const found: string[] = []
  let at = 0
  while (at <= line.length) {
    if (line[at] !== '"') {
      const comma = line.indexOf(',', at)
      const end = comma < 0 ? line.length : comma
      found.push(line.slice(at, end).trim())
      at = end + 1
      continue
    }
    let value = ''
    at++
    for (;;) {
      const quote = line.indexOf('"', at)
      if (quote < 0) throw new TokenFileError(`line ${number}: a quote is not closed`)
      value += line.slice(at, quote)
      at = quote + 1
      if (line[at] !== '"') break
      value += '"'
      at++
    }
    found.push(value)
    at = line.indexOf(',', at)
    if (at < 0) break
    at++
  }
  return found
}
