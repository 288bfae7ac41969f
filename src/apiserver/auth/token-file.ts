/**
 * Static tokens (API concept: static token file): lines of `token,user,uid,"group1,group2"`, as kube-apiserver's
 * --token-auth-file takes them. Read once, when the server starts.
 */
import type { UserInfo } from '../../api/request.ts'

export class TokenFileError extends Error {}

/** Users by token. @throws TokenFileError naming the line that is wrong */
export function parseTokenFile(text: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [token = '', name = '', uid = '', groups = ''] = fields(line, i + 1)
    if (token === '') throw new TokenFileError(`line ${i + 1}: the token is empty`)
    if (name === '' || uid === '') throw new TokenFileError(`line ${i + 1}: a token needs a user name and a uid`)
    if (users.has(token)) throw new TokenFileError(`line ${i + 1}: the token was there before`)
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
