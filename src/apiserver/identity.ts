/** Authentication and authorization as one API server has them, put together from the caches. */

import type { UserInfo } from '../api/request.ts'
import type { Counted } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import { createEscalationGuard } from './admission/escalation.ts'
import type { AdmissionPlugin } from './admission/plugin.ts'
import type { Policy } from './auth/abac.ts'
import { type Authenticator, createAuthenticator, type TokenAuthenticator } from './auth/authenticator.ts'
import { type AuthorizationMode, type Authorizer, unionAuthorizer, withSuperusers } from './auth/authorizer.ts'
import { bootstrapTokenUser } from './auth/bootstrap-tokens.ts'
import type { FrontProxies } from './auth/front-proxies.ts'
import { createLegacyTokenUse, type LegacyTokenUse } from './auth/legacy-token-use.ts'
import { createNodeAuthorizer, type NodeReads } from './auth/node.ts'
import { createRbacAuthorizer, createRoleReads, type RoleReads } from './auth/rbac.ts'
import {
  createServiceAccountTokens,
  type ServiceAccountKeys,
  type ServiceAccountTokens,
} from './auth/service-account-tokens.ts'
import { authentication, everywhere, turnedAway } from './filters/authentication.ts'
import { authorization } from './filters/authorization.ts'
import type { IdentityFilters } from './filters/chain.ts'
import { impersonation } from './filters/impersonation-headers.ts'
import type { CacheReads } from './reads.ts'
import type { Filter } from './request/server-request.ts'

export interface AuthOptions {
  readonly reads: CacheReads
  readonly podsOnNode: NodeReads['podsOnNode']
  /** Rises with every change to roles and bindings. */
  readonly rolesChanged: () => number
  readonly serviceAccounts: ServiceAccountKeys
  /** PEM of the authorities whose certificates name users. */
  readonly clientCas?: string
  /** The front proxies that may speak for others. Without it none may. */
  readonly frontProxies?: FrontProxies
  /** Users by static token. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>
  /** Asked in order for tokens that this server has not made. */
  readonly otherTokens?: readonly TokenAuthenticator[]
  /** The authorizers, in order. Default: Node, then RBAC. */
  readonly authorization?: AuthorizationChain
  /** Whether a request for this path may come without credentials. Default: any may. */
  readonly anonymous?: (path: string) => boolean
  readonly audit?: Filter
  readonly overload?: Filter
}

/** Puts the authorizers together, from those that this server has itself and others. */
export type AuthorizationChain = (
  builtin: Readonly<Record<'Node' | 'RBAC', Authorizer>>,
  onDecision: (mode: AuthorizationMode, allowed: boolean) => void,
) => {
  readonly authorizer: Authorizer
  readonly modes: () => readonly AuthorizationMode['type'][]
  /** What the mode ABAC goes by. */
  readonly policies: readonly Policy[]
}

export interface Auth {
  readonly tokens: ServiceAccountTokens
  readonly legacyTokens: LegacyTokenUse
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  /** The authorizers, in order. */
  readonly modes: () => readonly AuthorizationMode['type'][]
  /** What the mode ABAC goes by. */
  readonly policies: readonly Policy[]
  readonly roles: RoleReads
  /** Sees to it that users grant only what they hold. */
  readonly guard: AdmissionPlugin
  readonly filters: IdentityFilters
}

export function createAuth(runtime: Runtime, options: AuthOptions): Auth {
  const { reads } = options
  const legacyTokens = createLegacyTokenUse(runtime)
  const tokens = createServiceAccountTokens(runtime, {
    ...options.serviceAccounts,
    reads,
    legacyTokenUse: legacyTokens.note,
  })
  const authenticator = createAuthenticator(runtime, {
    serviceAccounts: tokens,
    otherToken: (token) => options.staticTokens?.get(token) ?? bootstrapTokenUser(reads, runtime.clock, token),
    ...(options.clientCas === undefined ? {} : { clientCas: options.clientCas }),
    ...(options.frontProxies === undefined ? {} : { frontProxies: options.frontProxies }),
    ...(options.otherTokens === undefined ? {} : { others: options.otherTokens }),
  })
  const roles = createRoleReads(reads, options.rolesChanged)
  const builtin = {
    Node: createNodeAuthorizer({ get: reads.get, podsOnNode: options.podsOnNode }),
    RBAC: createRbacAuthorizer(roles),
  }
  const onDecision = countedDecisions(runtime)
  const kubeadm: readonly AuthorizationMode[] = [
    { type: 'Node', name: 'node', authorizer: builtin.Node },
    { type: 'RBAC', name: 'rbac', authorizer: builtin.RBAC },
  ]
  const chain = options.authorization?.(builtin, onDecision) ?? {
    authorizer: unionAuthorizer(kubeadm, onDecision),
    modes: () => DEFAULT_MODES,
    policies: [],
  }
  const authorizer = withSuperusers(chain.authorizer)
  const { audit, overload, anonymous = everywhere } = options
  // Where everything is allowed requests without credentials would be too: they are refused instead.
  const mayBeAnonymous = (path: string) => !chain.modes().includes('AlwaysAllow') && anonymous(path)
  // A request that is turned away is audited too.
  const refusal = audit === undefined ? turnedAway : audit(turnedAway)
  return {
    tokens,
    legacyTokens,
    authenticator,
    authorizer,
    modes: chain.modes,
    policies: chain.policies,
    roles,
    guard: createEscalationGuard(authorizer, roles),
    filters: {
      authentication: authentication(runtime, authenticator, mayBeAnonymous, refusal),
      ...(audit === undefined ? {} : { audit }),
      impersonation: impersonation(authorizer),
      ...(overload === undefined ? {} : { overload }),
      authorization: authorization(authorizer, runtime),
    },
  }
}

const DEFAULT_MODES: readonly AuthorizationMode['type'][] = ['Node', 'RBAC']

/** How many requests each authorizer decided; a mode's two counters are looked up once. */
function countedDecisions({ metrics }: Runtime): (mode: AuthorizationMode, allowed: boolean) => void {
  if (metrics === undefined) return () => {}
  const decisions = metrics.counter(
    'apiserver_authorization_decisions_total',
    'Terminal decisions made by an authorizer, by its type and name.',
    ['decision', 'name', 'type'],
  )
  const counters = new WeakMap<AuthorizationMode, Readonly<Record<'allowed' | 'denied', Counted>>>()
  return (mode, allowed) => {
    let found = counters.get(mode)
    if (found === undefined) {
      const of = (decision: string) => decisions.child(decision, mode.name, mode.type)
      found = { allowed: of('allowed'), denied: of('denied') }
      counters.set(mode, found)
    }
    found[allowed ? 'allowed' : 'denied'].add()
  }
}
