/** The authorizers, made of what a configuration says of each. */
import type { Runtime } from '../../base/runtime.ts'
import type { HttpsEndpoint } from '../../http/client.ts'
import { createPolicyAuthorizer, type Policy } from './abac.ts'
import { type AuthorizationMode, type Authorizer, type Decision, noOpinion, unionAuthorizer } from './authorizer.ts'
import type { ModeConfiguration } from './config/authorization.ts'
import { createWebhookAuthorizer } from './webhook/authorizer.ts'
import { createReviewClient } from './webhook/client.ts'

export interface ChainParts {
  readonly builtin: Readonly<Record<'Node' | 'RBAC', Authorizer>>
  readonly onDecision: (mode: AuthorizationMode, allowed: boolean) => void
  /** What the mode ABAC goes by. */
  readonly policies: readonly Policy[]
  /** Where a webhook is, by its kubeconfig; undefined: by what a pod of a cluster is told. */
  readonly endpointOf: (kubeConfigFile: string | undefined) => HttpsEndpoint
}

const allowed: Decision = { verdict: 'allow', reason: '' }
const everything: Authorizer = { authorize: () => allowed }
const nothing: Authorizer = { authorize: () => ({ ...noOpinion, reason: 'Everything is forbidden.' }) }

export function createChain(runtime: Runtime, modes: readonly ModeConfiguration[], parts: ChainParts): Authorizer {
  return unionAuthorizer(
    modes.map(
      (mode): AuthorizationMode => ({
        type: mode.type,
        name: mode.name,
        authorizer: authorizerOf(runtime, mode, parts),
      }),
    ),
    parts.onDecision,
  )
}

function authorizerOf(
  runtime: Runtime,
  mode: ModeConfiguration,
  { builtin, endpointOf, policies }: ChainParts,
): Authorizer {
  switch (mode.type) {
    case 'ABAC':
      return createPolicyAuthorizer(policies)
    case 'AlwaysAllow':
      return everything
    case 'AlwaysDeny':
      return nothing
    case 'Webhook': {
      const client = createReviewClient(runtime, endpointOf(mode.kubeConfigFile), mode.timeoutMs)
      return createWebhookAuthorizer(runtime, client, mode)
    }
    default:
      return builtin[mode.type]
  }
}
