/** TokenReview: asked by whoever was shown a token (API concept: TokenReview). Never stored. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'
import { userInfoOf } from '../handlers/reviews.ts'
import type { Authenticator } from './authenticator.ts'

/** The review with its status. @throws StatusError 400 when there is no token in it */
export async function reviewToken(authenticator: Authenticator, object: KubeObject): Promise<KubeObject> {
  const spec: Fields = object['spec'] ?? {}
  const token: string = spec['token'] ?? ''
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  const audiences: readonly string[] | undefined = spec['audiences']?.length > 0 ? spec['audiences'] : undefined
  try {
    const verified = await authenticator.authenticateToken(token, audiences)
    const status = { authenticated: true, user: userInfoOf(verified.user), audiences: verified.audiences }
    return { ...object, status }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const invalid = 'invalid bearer token'
    return { ...object, status: { user: {}, error: message === invalid ? invalid : `[${invalid}, ${message}]` } }
  }
}
