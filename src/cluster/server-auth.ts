/** What the API server asks of its authentication and authorization, beside filters: reviews and tokens. */
import { answerTokenRequest } from '../apiserver/auth/tokenrequest.ts'
import { reviewToken } from '../apiserver/auth/tokenreview.ts'
import { createReviews } from '../apiserver/handlers/reviews.ts'
import type { Auth } from '../apiserver/identity.ts'
import type { ServerReads } from '../apiserver/reads.ts'
import type { ServerAuth } from '../apiserver/server.ts'
import type { Runtime } from '../base/runtime.ts'
import type { ServerSettings } from './server-flags.ts'

export function serverAuth(
  runtime: Runtime,
  reads: ServerReads,
  auth: Auth,
  { longestTokenSeconds, extendsTokens }: ServerSettings,
): ServerAuth {
  const { tokens, authenticator, authorizer, modes, policies, roles, filters, guard } = auth
  return {
    filters,
    hasRoles: modes().includes('RBAC'),
    guard,
    authorizer,
    reviews: {
      ...createReviews({ authorizer, roles, modes, policies }),
      'authentication.k8s.io/TokenReview': (object) => reviewToken(authenticator, object),
    },
    answerTokenRequest: (namespace, name, object, warn) =>
      answerTokenRequest(
        {
          runtime,
          reads,
          tokens,
          extends: extendsTokens,
          ...(longestTokenSeconds === undefined ? {} : { longestSeconds: longestTokenSeconds }),
        },
        namespace,
        name,
        object,
        warn,
      ),
  }
}
