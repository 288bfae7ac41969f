/** The --authorization-* flags of kube-apiserver: the modes by name, and at most one webhook. */
import type { AuthorizationMode } from '../authorizer.ts'
import type { ReviewVersion } from '../webhook/review.ts'
import { AUTHORIZED_MS, type ModeConfiguration, UNAUTHORIZED_MS } from './authorization.ts'
import { ConfigurationError, configuredDurationMs } from './document.ts'

/** Named after the flags. */
export interface AuthorizationFlags {
  /** In order. Default: Node, RBAC. */
  readonly authorizationMode?: readonly string[]
  /** Of the mode ABAC. */
  readonly authorizationPolicyFile?: string
  /** A kubeconfig that says where the webhook is. */
  readonly authorizationWebhookConfigFile?: string
  /** Default: v1beta1. */
  readonly authorizationWebhookVersion?: string
  /** Go durations. Defaults: 5m, 30s. */
  readonly authorizationWebhookCacheAuthorizedTtl?: string
  readonly authorizationWebhookCacheUnauthorizedTtl?: string
}

const MODES: readonly AuthorizationMode['type'][] = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook']
const TIMEOUT_MS = 30_000

/** undefined when none of the flags is set. @throws ConfigurationError */
export function authorizationModes(flags: AuthorizationFlags): readonly ModeConfiguration[] | undefined {
  const file = flags.authorizationWebhookConfigFile
  if (flags.authorizationMode === undefined && file === undefined && flags.authorizationPolicyFile === undefined)
    return undefined
  const modes = flags.authorizationMode ?? ['Node', 'RBAC']
  if (modes.length === 0) throw new ConfigurationError('at least one authorization-mode must be passed')
  for (const mode of modes)
    if (!(MODES as readonly string[]).includes(mode))
      throw new ConfigurationError(`authorization-mode ${JSON.stringify(mode)} is not a valid mode`)
  if (new Set(modes).size < modes.length)
    throw new ConfigurationError(
      `authorization-mode [${modes.map((mode) => JSON.stringify(mode)).join(' ')}] has mode specified more than once`,
    )
  if (modes.includes('ABAC') && flags.authorizationPolicyFile === undefined)
    throw new ConfigurationError("authorization-mode ABAC's authorization policy file not passed")
  if (!modes.includes('ABAC') && flags.authorizationPolicyFile !== undefined)
    throw new ConfigurationError('cannot specify --authorization-policy-file without mode ABAC')
  if (modes.includes('Webhook') && file === undefined)
    throw new ConfigurationError("authorization-mode Webhook's authorization config file not passed")
  if (!modes.includes('Webhook') && file !== undefined)
    throw new ConfigurationError('cannot specify --authorization-webhook-config-file without mode Webhook')
  return (modes as readonly AuthorizationMode['type'][]).map((type) =>
    type === 'Webhook' ? webhook(flags, file as string) : { type, name: type.toLowerCase() },
  )
}

function webhook(flags: AuthorizationFlags, kubeConfigFile: string): ModeConfiguration {
  const version = flags.authorizationWebhookVersion ?? 'v1beta1'
  if (version !== 'v1' && version !== 'v1beta1')
    throw new ConfigurationError(
      `invalid authorization config: unsupported webhook authorizer version ${JSON.stringify(version)}, supported versions are "v1", "v1beta1"`,
    )
  const ttl = (text: string | undefined, flag: string, otherwise: number) =>
    text === undefined ? otherwise : Math.max(0, configuredDurationMs(text, flag))
  const { authorizationWebhookCacheAuthorizedTtl: allowed, authorizationWebhookCacheUnauthorizedTtl: refused } = flags
  return {
    type: 'Webhook',
    name: 'default',
    timeoutMs: TIMEOUT_MS,
    authorizedMs: ttl(allowed, 'authorization-webhook-cache-authorized-ttl', AUTHORIZED_MS),
    unauthorizedMs: ttl(refused, 'authorization-webhook-cache-unauthorized-ttl', UNAUTHORIZED_MS),
    version: version as ReviewVersion,
    failurePolicy: 'NoOpinion',
    kubeConfigFile,
    conditions: [],
  }
}
