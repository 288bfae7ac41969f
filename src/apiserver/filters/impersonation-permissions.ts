/**
 * The modes of impersonation, and what each asks of the user. Constrained ones (KEP-5284): the user may do this
 * very thing in the other's name (`impersonate-on:MODE:VERB` on what the request is about), and may be the other
 * (`impersonate:MODE` in authentication.k8s.io). The older one: the verb `impersonate` on users, groups, serviceaccounts, uids
 * and userextras.
 */

import { dns1123Label, dns1123Subdomain } from '../../api/names/name-formats.ts'
import type { ApiRequest, RequestInfo, UserInfo } from '../../api/request.ts'
import type { StatusError } from '../../api/status.ts'
import { createLruMap } from '../../base/lru.ts'
import { type Attributes, type Authorizer, attributesOf } from '../auth/authorizer.ts'
import { refusal } from './authorization.ts'

/** The user that the headers of a request ask for. */
export interface Wanted {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export interface ImpersonationAsked {
  readonly authorizer: Authorizer
  readonly request: ApiRequest
  readonly user: UserInfo
  readonly info: RequestInfo
  readonly wanted: Wanted
}

export interface ImpersonationMode {
  /** The name of the constrained permission; absent for the older `impersonate`. */
  readonly constraint?: string
  readonly fits: (wanted: Wanted, sender: UserInfo) => boolean
  /** undefined: the impersonation is allowed. */
  readonly refusal: (asked: ImpersonationAsked) => Promise<StatusError | undefined>
  /** Groups that the impersonated user has by its kind, such as system:serviceaccounts. */
  readonly groups: readonly string[]
}

const AUTHENTICATION = 'authentication.k8s.io'
const NODE = 'system:node:'
const NODES = ['system:nodes']
/** The node of the pod that the sender's token is bound to. */
const NODE_OF_POD = 'authentication.kubernetes.io/node-name'

const isNode = ({ name }: Wanted): boolean => name.startsWith(NODE) && name.length > NODE.length
const nameOnly = ({ uid, groups, extra }: Wanted): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

/** The service account that a user's name names, where its parts are names. */
export function serviceAccountOf(user: string): { namespace: string; name: string } | undefined {
  const parts = user.split(':')
  const [system, kind, namespace = '', name = ''] = parts
  if (parts.length !== 4 || system !== 'system' || kind !== 'serviceaccount') return undefined
  return dns1123Label(namespace).length === 0 && dns1123Subdomain(name).length === 0 ? { namespace, name } : undefined
}

interface Check {
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name: string
}

async function ask(
  { authorizer, user }: ImpersonationAsked,
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

/** `be`: what is asked of the right to be the other user, beside the deed. */
function constrained(
  mode: string,
  fits: ImpersonationMode['fits'],
  be: (wanted: Wanted, may: (check: Omit<Check, 'group'>) => Answer, user: UserInfo) => readonly (() => Answer)[],
  groups: readonly string[] = [],
): ImpersonationMode {
  const verb = `impersonate:${mode}`
  return {
    constraint: verb,
    fits,
    groups,
    refusal: (asked) => {
      const { authorizer, request, user, info, wanted } = asked
      const on: RequestInfo = { ...info, verb: `impersonate-on:${mode}:${info.verb}` }
      const deed = async () => {
        const decision = await authorizer.authorize(attributesOf(user, on, request.query))
        return decision.verdict === 'allow' ? undefined : refusal(user, on, decision.reason)
      }
      const may = (check: Omit<Check, 'group'>) => ask(asked, verb, { group: AUTHENTICATION, ...check })
      return firstRefusal([deed, ...be(wanted, may, user)])
    },
  }
}

const associatedNode = constrained(
  'associated-node',
  (wanted, sender) => isNode(wanted) && nameOnly(wanted) && wanted.name === NODE + sender.extra?.[NODE_OF_POD]?.[0],
  (_, may) => [() => may({ resource: 'nodes', name: '*' })],
  NODES,
)

const arbitraryNode = constrained(
  'arbitrary-node',
  (wanted) => isNode(wanted) && nameOnly(wanted),
  ({ name }, may) => [() => may({ resource: 'nodes', name: name.slice(NODE.length) })],
  NODES,
)

const serviceAccount = constrained(
  'serviceaccount',
  (wanted) => serviceAccountOf(wanted.name) !== undefined && nameOnly(wanted),
  ({ name }, may) => {
    const account = serviceAccountOf(name) ?? { namespace: '', name: '' }
    return [() => may({ resource: 'serviceaccounts', ...account })]
  },
)

const userInfo = constrained(
  'user-info',
  (wanted) => !isNode(wanted) && serviceAccountOf(wanted.name) === undefined,
  ({ name, uid, groups, extra }, may, user) => [
    () => may({ resource: 'users', name }),
    ...(uid === '' ? [] : [() => may({ resource: 'uids', name: uid })]),
    ...groups.map((group) => () => may({ resource: 'groups', name: group })),
    ...Object.entries(extra).flatMap(([key, values]) => [
      () => invalidExtraKey(user, key),
      ...values.map((value) => () => may({ resource: 'userextras', subresource: key, name: value })),
    ]),
  ],
)

/** Constrained impersonation takes only domain-prefixed keys. */
function invalidExtraKey(user: UserInfo, key: string): StatusError | undefined {
  const slash = key.indexOf('/')
  if (slash > 0 && slash < key.length - 1) return undefined
  const verb = 'impersonate:user-info'
  const about = { verb, isResource: true, path: '', version: 'v1', group: AUTHENTICATION, resource: 'userextras' }
  const why = `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`
  return refusal(user, { ...about, subresource: '', namespace: '', name: '' }, why)
}

const unconstrained: ImpersonationMode = {
  fits: () => true,
  groups: [],
  refusal: (asked) => {
    const { name, uid, groups, extra } = asked.wanted
    const may = (check: Check) => ask(asked, 'impersonate', check)
    const account = serviceAccountOf(name)
    return firstRefusal([
      () =>
        may(account ? { group: '', resource: 'serviceaccounts', ...account } : { group: '', resource: 'users', name }),
      ...(uid === '' ? [] : [() => may({ group: AUTHENTICATION, resource: 'uids', name: uid })]),
      ...groups.map((group) => () => may({ group: '', resource: 'groups', name: group })),
      ...Object.entries(extra).flatMap(([key, values]) =>
        values.map(
          (value) => () => may({ group: AUTHENTICATION, resource: 'userextras', subresource: key, name: value }),
        ),
      ),
    ])
  },
}

/** In the order in which they are tried. */
const MODES: readonly ImpersonationMode[] = [associatedNode, arbitraryNode, serviceAccount, userInfo, unconstrained]
const SENDERS = 1024

/**
 * Finds the mode by which the sender may go on. The mode that held last is tried first, so that a client that always comes the same
 * way costs one; where none holds, the client is told the refusal of that one. @throws StatusError 403
 */
export function createModeFinder(): (asked: ImpersonationAsked) => Promise<ImpersonationMode> {
  const last = createLruMap<string, ImpersonationMode>(SENDERS)
  return async (asked) => {
    const { wanted, user } = asked
    const sender = JSON.stringify([user.name, user.uid, user.groups, user.extra])
    const before = last.get(sender)
    const fitting = MODES.filter((mode) => mode.fits(wanted, user))
    const inOrder = before !== undefined && fitting.includes(before) ? [...new Set([before, ...fitting])] : fitting
    let told: StatusError | undefined
    for (const mode of inOrder) {
      const refused = await mode.refusal(asked)
      if (refused === undefined) {
        last.set(sender, mode)
        return mode
      }
      told ??= refused
    }
    throw told
  }
}
