/** TokenReview: a server that was shown a token asks which user it proves (API concept: TokenReview). Never stored. */

import type { TokenReview, TokenReviewSpec, TokenReviewStatus } from '../../api/generated/types.ts'
import type { Given, KubeObject } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import { type Authenticator, bearerToken } from './authenticator.ts'
import { INVALID_TOKEN, UnknownTokenError } from './token-error.ts'
import { userInfoOf } from './user-info.ts'

/** The review with its status. @throws StatusError 400 when there is no token in it */
export async function reviewToken(authenticator: Authenticator, object: Given<TokenReview>): Promise<KubeObject> {
  const spec: TokenReviewSpec = object.spec ?? {}
  const token: string = spec.token ?? ''
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  const audiences: readonly string[] | undefined = (spec.audiences ?? []).length > 0 ? spec.audiences : undefined
  const { authenticated: _, ...said }: TokenReviewStatus = object.status ?? {}
  try {
    // It is looked at as if it came with a request.
    const verified = await authenticator.authenticateToken(bearerToken(`Bearer ${token}`) ?? '', audiences)
    const user = userInfoOf(verified.user)
    return { ...object, status: { ...said, authenticated: true, user, audiences: verified.audiences } }
  } catch (error) {
    const why = error instanceof UnknownTokenError ? INVALID_TOKEN : `[${INVALID_TOKEN}, ${messageOf(error)}]`
    return { ...object, status: { ...said, user: said['user'] ?? {}, error: why } }
  }
}
