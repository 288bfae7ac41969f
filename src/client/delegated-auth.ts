/**
 * Delegated authentication and authorization: what a component that is no API server answers on its own port, it answers to users
 * that the API server knows (TokenReview) and lets (SubjectAccessReview). Answers are kept for a moment.
 */

import { createHash } from 'node:crypto'
import type { SubjectAccessReview, TokenReview } from '../api/generated/types.ts'
import type { ApiRequest, UserInfo } from '../api/request.ts'
import { StatusError, unauthorized } from '../api/status.ts'
import { ANONYMOUS_USER } from '../api/users.ts'
import type { Clock } from '../base/clock.ts'
import { createExpiringMap } from '../base/expiring-map.ts'
import type { Client } from './client.ts'

const tokenReviews = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' }
const accessReviews = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' }
const KEPT_MS = 10_000
const MOST_KEPT = 1000

export interface DelegatedAuthOptions {
  readonly clock: Clock
  /** Makes TokenReviews. Without it a token proves nothing. */
  readonly authentication?: Client
  /** Makes SubjectAccessReviews. Without it all but the open paths is forbidden. */
  readonly authorization?: Client
  /** Paths for all users; one that ends with `*` stands for all that begin so. */
  readonly openPaths: readonly string[]
  /** The user of a client certificate, or the one that a front proxy names. @throws 401 for one that proves nothing */
  readonly certificateUser?: (request: ApiRequest) => UserInfo | undefined
}

/** Resolves when the request may be answered: its method as a verb on its path. @throws 401, 403 */
export type Admit = (request: ApiRequest) => Promise<void>

export function createDelegatedAuth(options: DelegatedAuthOptions): Admit {
  const { clock, authentication, authorization } = options
  const users = createExpiringMap<UserInfo>(clock, MOST_KEPT)
  const answers = createExpiringMap<boolean>(clock, MOST_KEPT)

  /** undefined when the request has no token. @throws 401 for one that is not believed */
  async function tokenUser(request: ApiRequest): Promise<UserInfo | undefined> {
    const [scheme, token] = (request.headers['authorization'] ?? '').split(' ')
    if (scheme?.toLowerCase() !== 'bearer' || !token || authentication === undefined) return undefined
    const key = createHash('sha256').update(token).digest('hex')
    const known = users.get(key)
    if (known !== undefined) return known.value
    const review: TokenReview = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: { token },
    }
    const { status } = await authentication.resource<TokenReview>(tokenReviews).create(review)
    if (status?.authenticated !== true) throw unauthorized()
    const { username = '', uid, groups = [], extra } = status.user ?? {}
    const user = { name: username, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) }
    users.set(key, user, KEPT_MS)
    return user
  }

  async function isAllowed(user: UserInfo, path: string, verb: string): Promise<boolean> {
    if (authorization === undefined) return false
    const { name, groups, uid, extra } = user
    const key = JSON.stringify([name, groups, uid, extra, path, verb])
    const known = answers.get(key)
    if (known !== undefined) return known.value
    const review: SubjectAccessReview = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user: name,
        groups,
        ...(uid === undefined ? {} : { uid }),
        ...(extra === undefined ? {} : { extra }),
        nonResourceAttributes: { path, verb },
      },
    }
    const allowed =
      (await authorization.resource<SubjectAccessReview>(accessReviews).create(review)).status?.allowed === true
    answers.set(key, allowed, KEPT_MS)
    return allowed
  }

  const isOpen = (path: string) =>
    options.openPaths.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one))

  return async (request) => {
    if (isOpen(request.path)) return
    const user = options.certificateUser?.(request) ?? (await tokenUser(request)) ?? ANONYMOUS_USER
    const verb = request.method.toLowerCase()
    if (await isAllowed(user, request.path, verb)) return
    throw new StatusError(403, 'Forbidden', `forbidden: User "${user.name}" cannot ${verb} path "${request.path}"`)
  }
}
