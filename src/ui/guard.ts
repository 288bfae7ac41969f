/**
 * Whether a request may be answered: what keeps other pages of the same browser, other names for this address (DNS rebinding) and
 * other programs of this machine out. The server shows a link with a token that opens it once; it is exchanged for a session, which is a
 * cookie that no script reads and no other site sends, and a second token that the page sends with each question. A browser gives a
 * cookie to all ports of an address, so all that is served stands below a folder of a random name, and the cookie is for it alone: a
 * visit to another server of this machine does not hand it the cookie.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiRequest } from '../api/request.ts'
import { createLruMap } from '../base/lru.ts'
import type { Random } from '../base/random.ts'

export interface Session {
  /** What the page's own requests carry in the header `x-skiff-csrf`. */
  readonly csrf: string
}

interface Refusal {
  readonly status: 401 | 403 | 421
  readonly message: string
}

export interface PathGuard {
  /** What all paths of this server begin with: a folder of a random name, with slashes around it. */
  readonly folder: string
  /** A path as it is within the folder, with its slash; undefined: it is not in it. */
  within(path: string): string | undefined
  /** A token for a link; it opens one session. */
  newToken(): string
  /** The cookie of a new session for a token; undefined: it is none, or was used. */
  exchange(token: string): string | undefined
  /** Before anything of the request is looked at. Undefined: it is addressed to this server, by its own page or by nothing. */
  refuse(request: ApiRequest): Refusal | undefined
  session(request: ApiRequest): Session | undefined
  /** Whether the request carries the session's own token. */
  isOfPage(request: ApiRequest, session: Session): boolean
}

export const CSRF_HEADER = 'x-skiff-csrf'

/** Of one server; the oldest goes first. */
const MOST_SESSIONS = 32
const MOST_TOKENS = 32
const SECRET_BYTES = 32

const digest = (text: string) => createHash('sha256').update(text).digest()
const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))

/** @param port of the server; it is in the name of the cookie too */
export function createGuard(random: Random, port: number): PathGuard {
  const cookie = `skiff-ui-${port}`
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`])
  /** By the digest of their secrets, so that finding one tells nothing by its time. */
  const sessions = createLruMap<string, Session>(MOST_SESSIONS)
  const tokens = createLruMap<string, true>(MOST_TOKENS)
  const secret = () => Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')
  const keyOf = (text: string) => digest(text).toString('base64')
  const folder = `/${secret()}/`

  return {
    folder,
    within: (path) => (isSame(path.slice(0, folder.length), folder) ? path.slice(folder.length - 1) : undefined),
    newToken() {
      const token = secret()
      tokens.set(keyOf(token), true)
      return token
    },
    exchange(token) {
      if (!tokens.delete(keyOf(token))) return undefined
      const value = secret()
      sessions.set(keyOf(value), { csrf: secret() })
      return `${cookie}=${value}; HttpOnly; SameSite=Strict; Path=${folder}`
    },
    refuse({ headers, method }) {
      const { host = '', origin } = headers
      if (!hosts.has(host.toLowerCase()))
        return { status: 421, message: 'this server answers to the address that skiff ui has shown, and to no other' }
      if (origin !== undefined && origin !== `http://${host.toLowerCase()}`)
        return { status: 403, message: 'another page may not ask this server' }
      const site = headers['sec-fetch-site']
      const isNavigation = method === 'GET' && headers['sec-fetch-mode'] === 'navigate'
      if (site !== undefined && site !== 'same-origin' && !isNavigation)
        return { status: 403, message: 'another page may not ask this server' }
      return undefined
    },
    session({ headers }) {
      const given = (headers['cookie'] ?? '').split(';').map((part) => part.trim())
      for (const part of given) {
        if (!part.startsWith(`${cookie}=`)) continue
        const found = sessions.get(keyOf(part.slice(cookie.length + 1)))
        if (found !== undefined) return found
      }
      return undefined
    },
    isOfPage: ({ headers }, { csrf }) => isSame(headers[CSRF_HEADER] ?? '', csrf),
  }
}
