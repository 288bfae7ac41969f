/**
 * Impersonation (API concept: user impersonation): a request that carries Impersonate-* headers goes on as another user, if
 * its sender may (impersonation-permissions.ts). Stands between authentication and authorization.
 */
import type { UserInfo } from '../../api/request.ts'
import { badRequest, internalError } from '../../api/status.ts'
import { decodeHeader } from '../../http/header-text.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import type { Filter, ServerRequest } from '../request/server-request.ts'
import { createModeFinder, type ImpersonationMode, serviceAccountOf, type Wanted } from './impersonation-permissions.ts'

const EXTRA = 'impersonate-extra-'

/** The user that the headers ask for; undefined when there are none. @throws StatusError 400 when groups or extras are named without a user */
function wantedUser(request: Pick<ServerRequest, 'headers' | 'headerValues'>): Wanted | undefined {
  const { headers } = request
  const [name = ''] = valuesOf(request, 'impersonate-user')
  const [uid = ''] = valuesOf(request, 'impersonate-uid')
  const groups = valuesOf(request, 'impersonate-group')
  const extra: Record<string, readonly string[]> = Object.create(null)
  const extras: string[] = []
  for (const header in headers) if (header.startsWith(EXTRA)) extras.push(header)
  for (const header of extras.sort()) extra[decodeKey(header.slice(EXTRA.length))] = valuesOf(request, header)
  const more = uid !== '' || groups.length > 0 || extras.length > 0
  if (name !== '') return { name, uid, groups, extra }
  if (!more) return undefined
  const error = badRequest(`requested ${goUser({ name, uid, groups, extra })} without impersonating a user name`)
  error.headers = { 'x-content-type-options': 'nosniff' }
  throw error
}

/** Within this process repeated headers are joined by `, `. */
function valuesOf({ headers, headerValues }: Pick<ServerRequest, 'headers' | 'headerValues'>, name: string) {
  const header = headers[name]
  if (header === undefined) return []
  return (headerValues?.get(name) ?? header.split(', ')).map(decodeHeader)
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** As the message prints it. */
function goUser({ name, uid, groups, extra }: Wanted): string {
  const strings = (list: readonly string[]) => `[]string{${list.map((s) => JSON.stringify(s)).join(', ')}}`
  const keys = Object.keys(extra).sort()
  const extras = keys.length
    ? `map[string][]string{${keys.map((key) => `${JSON.stringify(key)}:${strings(extra[key] ?? [])}`).join(', ')}}`
    : 'map[string][]string(nil)'
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${groups.length ? strings(groups) : '[]string(nil)'}, Extra:${extras}}`
}

export function impersonation(authorizer: Authorizer): Filter {
  const findMode = createModeFinder()
  return (next) => (request) => {
    // The usual request has none of the headers: one look per header name, and nothing else.
    const { headers } = request
    if (headers['impersonate-user'] === undefined && !hasOtherHeaders(headers)) return next(request)
    const wanted = wantedUser(request)
    if (wanted === undefined) return next(request)
    const { user, info } = request
    if (user === undefined || info === undefined) throw internalError('the request was not authenticated')
    return findMode({ authorizer, request, user, info, wanted }).then((mode) => next(goingOn(request, wanted, mode)))
  }
}

/** The request as the other user's. */
function goingOn(request: ServerRequest, wanted: Wanted, mode: ImpersonationMode): ServerRequest {
  const remaining = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !name.startsWith('impersonate-')),
  )
  const impersonated = becoming(wanted, mode)
  const audit = request.served?.audit
  if (audit !== undefined) {
    audit.impersonatedUser = impersonated
    if (mode.constraint !== undefined) audit.impersonationConstraint = mode.constraint
  }
  const { headerValues: _, ...passed } = request
  return { ...passed, headers: remaining, user: impersonated }
}

function hasOtherHeaders(headers: ServerRequest['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

function becoming(wanted: Wanted, mode: ImpersonationMode): UserInfo {
  const groups = [...wanted.groups]
  const account = serviceAccountOf(wanted.name)
  if (account && groups.length === 0)
    groups.push('system:serviceaccounts', `system:serviceaccounts:${account.namespace}`)
  groups.push(...mode.groups)
  if (wanted.name === 'system:anonymous') {
    if (!groups.includes('system:unauthenticated')) groups.push('system:unauthenticated')
  } else if (!groups.includes('system:authenticated') && !groups.includes('system:unauthenticated'))
    groups.push('system:authenticated')
  return {
    name: wanted.name,
    groups,
    ...(wanted.uid === '' ? {} : { uid: wanted.uid }),
    ...(Object.keys(wanted.extra).length ? { extra: wanted.extra } : {}),
  }
}
