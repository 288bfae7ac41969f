/**
 * Impersonation (API concept: user impersonation; KEP-5284 for the constrained forms): a request that carries
 * Impersonate-* headers goes on as somebody else, if its sender may. Stands between authentication and authorization.
 *
 * Two ways lead there. Constrained: the sender may do this very thing in somebody's name (`impersonate-on:MODE:VERB` on what
 * the request is about) and may be that somebody (`impersonate:MODE` in authentication.k8s.io). Unconstrained, the older one:
 * the verb `impersonate` on users, groups, serviceaccounts, uids and userextras.
 */
import type { ApiRequest, Filter, RequestInfo, UserInfo } from '../../api/request.ts'
import { badRequest, internalError, type StatusError } from '../../api/status.ts'
import { type Attributes, type Authorizer, attributesOf } from '../auth/authorizer.ts'
import { refusal } from './authorization.ts'

const AUTHENTICATION = 'authentication.k8s.io'
const EXTRA = 'impersonate-extra-'

interface Wanted {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** Whom the headers ask for; undefined when there are none. @throws StatusError 400 when only part of somebody is named */
function wantedUser(request: Pick<ApiRequest, 'headers' | 'headerValues'>): Wanted | undefined {
  const { headers } = request
  const name = headers['impersonate-user'] ?? ''
  const uid = headers['impersonate-uid'] ?? ''
  const groups = valuesOf(request, 'impersonate-group')
  const extra: Record<string, readonly string[]> = Object.create(null)
  const extras: string[] = []
  for (const header in headers) if (header.startsWith(EXTRA)) extras.push(header)
  for (const header of extras.sort()) extra[decodeKey(header.slice(EXTRA.length))] = valuesOf(request, header)
  const more = uid !== '' || groups.length > 0 || extras.length > 0
  if (name !== '') return { name, uid, groups, extra }
  if (!more) return undefined
  throw badRequest(`requested ${goUser({ name, uid, groups, extra })} without impersonating a user name`)
}

/** Within this process repeated headers are joined by `, `. */
function valuesOf({ headers, headerValues }: Pick<ApiRequest, 'headers' | 'headerValues'>, name: string) {
  const header = headers[name]
  if (header === undefined || header === '') return []
  return headerValues?.get(name) ?? header.split(', ')
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
  return (next) => (request) => {
    // The usual request has none of the headers: one look per header name, and nothing else.
    const { headers } = request
    if (headers['impersonate-user'] === undefined && !hasOtherHeaders(headers)) return next(request)
    const wanted = wantedUser(request)
    if (wanted === undefined) return next(request)
    const { user, info } = request
    if (user === undefined || info === undefined) throw internalError('the request was not authenticated')
    return asSomebodyElse(authorizer, request, user, info, wanted).then(next)
  }
}

/** The request as it goes on. @throws StatusError 403 when its sender may not */
async function asSomebodyElse(
  authorizer: Authorizer,
  request: ApiRequest,
  user: UserInfo,
  info: RequestInfo,
  wanted: Wanted,
): Promise<ApiRequest> {
  const refused = await constrained(authorizer, request, user, info, wanted)
  const problem = refused === undefined ? undefined : await unconstrained(authorizer, user, wanted)
  if (problem !== undefined) throw modeOf(wanted) === undefined ? problem : (refused ?? problem)
  const remaining = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !name.startsWith('impersonate-')),
  )
  const impersonated = becoming(wanted, refused === undefined)
  if (request.audit !== undefined) {
    const mode = modeOf(wanted)
    request.audit.impersonatedUser = impersonated
    if (refused === undefined && mode !== undefined) request.audit.impersonationConstraint = `impersonate:${mode}`
  }
  const { headerValues: _, ...passed } = request
  return { ...passed, headers: remaining, user: impersonated }
}

function hasOtherHeaders(headers: ApiRequest['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

type Mode = 'user-info' | 'serviceaccount' | 'arbitrary-node'

function serviceAccountOf(name: string): { namespace: string; name: string } | undefined {
  const parts = name.split(':')
  if (parts.length !== 4 || parts[0] !== 'system' || parts[1] !== 'serviceaccount') return undefined
  return parts[2] && parts[3] ? { namespace: parts[2], name: parts[3] } : undefined
}

/** The constrained form that fits; undefined when none does. */
function modeOf({ name, uid, groups, extra }: Wanted): Mode | undefined {
  const nameOnly = uid === '' && groups.length === 0 && Object.keys(extra).length === 0
  if (serviceAccountOf(name)) return nameOnly ? 'serviceaccount' : undefined
  if (name.startsWith('system:node:')) return nameOnly ? 'arbitrary-node' : undefined
  return 'user-info'
}

interface Check {
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name: string
}

async function ask(
  authorizer: Authorizer,
  user: UserInfo,
  verb: string,
  check: Check,
): Promise<StatusError | undefined> {
  const attributes: Attributes = {
    user,
    verb,
    isResource: true,
    group: check.group,
    version: 'v1',
    resource: check.resource,
    subresource: check.subresource ?? '',
    namespace: check.namespace ?? '',
    name: check.name,
    path: '',
  }
  const decision = await authorizer.authorize(attributes)
  return decision.verdict === 'allow' ? undefined : refusal(user, attributes, decision.reason)
}

type Answer = StatusError | undefined | Promise<StatusError | undefined>

async function firstRefusal(checks: readonly (() => Answer)[]): Promise<StatusError | undefined> {
  for (const check of checks) {
    const refused = await check()
    if (refused) return refused
  }
  return undefined
}

function constrained(
  authorizer: Authorizer,
  request: ApiRequest,
  user: UserInfo,
  info: RequestInfo,
  wanted: Wanted,
): Promise<StatusError | undefined> {
  const mode = modeOf(wanted)
  if (mode === undefined) return unconstrained(authorizer, user, wanted)
  const on: RequestInfo = { ...info, verb: `impersonate-on:${mode}:${info.verb}` }
  const may = (resource: string, name: string, more: Partial<Check> = {}) =>
    ask(authorizer, user, `impersonate:${mode}`, { group: AUTHENTICATION, resource, name, ...more })
  const account = serviceAccountOf(wanted.name)
  return firstRefusal([
    async () => {
      const decision = await authorizer.authorize(attributesOf(user, on, request.query))
      return decision.verdict === 'allow' ? undefined : refusal(user, on, decision.reason)
    },
    () => {
      if (mode === 'serviceaccount' && account)
        return may('serviceaccounts', account.name, { namespace: account.namespace })
      if (mode === 'arbitrary-node') return may('nodes', wanted.name.slice('system:node:'.length))
      return may('users', wanted.name)
    },
    ...wanted.groups.map((group) => () => may('groups', group)),
    ...(wanted.uid === '' ? [] : [() => may('uids', wanted.uid)]),
    ...Object.entries(wanted.extra).flatMap(([key, values]) => [
      () => invalidExtraKey(user, mode, key),
      ...values.map((value) => () => may('userextras', value, { subresource: key })),
    ]),
  ])
}

/** Constrained impersonation takes only domain-prefixed keys. */
function invalidExtraKey(user: UserInfo, mode: Mode, key: string): StatusError | undefined {
  const slash = key.indexOf('/')
  if (slash > 0 && slash < key.length - 1) return undefined
  const verb = `impersonate:${mode}`
  const about = { verb, isResource: true, path: '', version: 'v1', group: AUTHENTICATION, resource: 'userextras' }
  const why = `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`
  return refusal(user, { ...about, subresource: '', namespace: '', name: '' }, why)
}

function unconstrained(authorizer: Authorizer, user: UserInfo, wanted: Wanted): Promise<StatusError | undefined> {
  const may = (check: Check) => ask(authorizer, user, 'impersonate', check)
  const account = serviceAccountOf(wanted.name)
  return firstRefusal([
    () =>
      account
        ? may({ group: '', resource: 'serviceaccounts', namespace: account.namespace, name: account.name })
        : may({ group: '', resource: 'users', name: wanted.name }),
    ...wanted.groups.map((name) => () => may({ group: '', resource: 'groups', name })),
    ...(wanted.uid === '' ? [] : [() => may({ group: AUTHENTICATION, resource: 'uids', name: wanted.uid })]),
    ...Object.entries(wanted.extra).flatMap(([key, values]) =>
      values.map((name) => () => may({ group: AUTHENTICATION, resource: 'userextras', subresource: key, name })),
    ),
  ])
}

function becoming(wanted: Wanted, byConstraint: boolean): UserInfo {
  const groups = [...wanted.groups]
  const account = serviceAccountOf(wanted.name)
  if (account && groups.length === 0)
    groups.push('system:serviceaccounts', `system:serviceaccounts:${account.namespace}`)
  if (byConstraint && modeOf(wanted) === 'arbitrary-node') groups.push('system:nodes')
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
