/** Authentication and authorization as one API server has them, put together from the caches. */
import type { EagerHandler, Filter, UserInfo } from '../../api/request.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { AdmissionPlugin, CacheReads } from '../admission/plugin.ts'
import { authentication } from '../filters/authentication.ts'
import { authorization } from '../filters/authorization.ts'
import { impersonation } from '../filters/impersonation.ts'
import { type Authenticator, createAuthenticator, type TokenAuthenticator } from './authenticator.ts'
import { type Authorizer, superusers, union } from './authorizer.ts'
import { bootstrapTokenUser } from './bootstrap-tokens.ts'
import { createEscalationGuard } from './escalation.ts'
import { jwtKey } from './jwt.ts'
import { createNodeAuthorizer, type NodeReads } from './node.ts'
import { createRbacAuthorizer, createRoleReads, type RoleReads } from './rbac.ts'
import { createServiceAccountTokens, type ServiceAccountTokens } from './serviceaccounts.ts'

export interface AuthOptions {
  readonly reads: CacheReads
  readonly podsOnNode: NodeReads['podsOnNode']
  /** Rises with every change to roles and bindings. */
  readonly rolesChanged: () => number
  /** PEM of the key that signs service account tokens. */
  readonly serviceAccountKey: string
  readonly issuer?: string
  /** Users by static token. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>
  /** Asked in order for tokens that this server has not made. */
  readonly otherTokens?: readonly TokenAuthenticator[]
  /** Whether who brings nothing may ask for this path. Default: for health only. */
  readonly anonymous?: (path: string) => boolean
  /** Stands between authentication and everything else: audit. */
  readonly afterAuthentication?: Filter
}

export interface Auth {
  readonly tokens: ServiceAccountTokens
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly roles: RoleReads
  /** Sees to it that nobody grants what he does not hold. */
  readonly guard: AdmissionPlugin
  /** Authentication, impersonation, authorization; request info comes before, everything else after. */
  readonly filter: Filter
}

/** The issuer of kubeadm clusters. */
export const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local'

export function createAuth(runtime: Runtime, options: AuthOptions): Auth {
  const { reads } = options
  const tokens = createServiceAccountTokens(runtime, {
    issuer: options.issuer ?? DEFAULT_ISSUER,
    keys: [jwtKey(options.serviceAccountKey)],
    reads,
  })
  const authenticator = createAuthenticator(runtime, {
    serviceAccounts: tokens,
    otherToken: (token) => options.staticTokens?.get(token) ?? bootstrapTokenUser(reads, runtime.clock, token),
    ...(options.otherTokens === undefined ? {} : { others: options.otherTokens }),
  })
  const roles = createRoleReads(reads, options.rolesChanged)
  const authorizer = union([
    superusers,
    createNodeAuthorizer({ get: reads.get, podsOnNode: options.podsOnNode }),
    createRbacAuthorizer(roles),
  ])
  const authenticate = authentication(runtime, authenticator, options.anonymous)
  const authorize = authorization(authorizer)
  const impersonate = impersonation(authorizer)
  const afterwards = options.afterAuthentication ?? ((next: EagerHandler) => next)
  return {
    tokens,
    authenticator,
    authorizer,
    roles,
    guard: createEscalationGuard(authorizer, roles),
    filter: (next: EagerHandler) => authenticate(afterwards(impersonate(authorize(next)))),
  }
}
