/** What an administrator may say about audit, encryption and tokens, read from the files named and refused with a reason. */

import type { UserInfo } from '../api/request.ts'
import type { Scheme } from '../api/scheme/resource.ts'
import { quantityValue } from '../api/values/quantity.ts'
import type { ServiceAccountKeys } from '../apiserver/auth/service-account-tokens.ts'
import type { Filter } from '../apiserver/request/server-request.ts'
import { messageOf } from '../base/errors.ts'
import { parseGoDurationMs } from '../base/go-duration.ts'
import type { Runtime } from '../base/runtime.ts'
import { AUDIT_OPTIONS, type AuditOptions, loadAudit } from './audit-options.ts'
import { type Authentication, type AuthenticationOptions, loadAuthentication } from './authentication.ts'
import { type Authorization, type AuthorizationOptions, loadAuthorization } from './authorization.ts'
import { type Encryption, type EncryptionOptions, loadEncryption } from './encryption.ts'
import { StartError } from './errors.ts'
import { IDENTITY_FLAGS, type IdentityFlags } from './identity.ts'
import type { KubeletFlags } from './kubelet-options.ts'
import { fromFile } from './read-file.ts'
import { SERVER_FLAGS, type ServerFlags } from './server-flags.ts'

/** Named after kube-apiserver's flags. */
export interface SecurityOptions
  extends AuditOptions,
    AuthenticationOptions,
    AuthorizationOptions,
    EncryptionOptions,
    IdentityFlags,
    KubeletFlags,
    ServerFlags {
  /** Lines of token,user,uid,"groups". */
  readonly tokenAuthFile?: string
  /** Requests worked on at once, together: priority levels have their shares of it. Default: 400 and 200. */
  readonly maxRequestsInflight?: number
  readonly maxMutatingRequestsInflight?: number
  /** Whether requests wait in queues by their priority levels; else reads and writes have these limits, and nothing waits. Default: true. */
  readonly enablePriorityAndFairness?: boolean
  /** What the process is not to use more memory than: `2Gi`. Default: no limit. */
  readonly memoryLimit?: string
  /** How long everything is served after the cluster was told to stop, while /readyz fails: `10s`. Default: not at all. */
  readonly shutdownDelayDuration?: string
  /** Where Services' addresses come from: a range, or two of different families, `10.96.0.0/16,fd00:10:96::/112`. Default: 10.96.0.0/16. */
  readonly serviceClusterIpRange?: string
  /** Where node ports come from. Default: 30000-32767. */
  readonly serviceNodePortRange?: string
  /** One of them for the `kubernetes` Service, from when it is made. Default 0: it has none. */
  readonly kubernetesServiceNodePort?: number
}

const NAMES: Readonly<Record<keyof SecurityOptions, true>> = {
  ...AUDIT_OPTIONS,
  encryptionProviderConfig: true,
  encryptionProviderConfigAutomaticReload: true,
  tokenAuthFile: true,
  maxRequestsInflight: true,
  maxMutatingRequestsInflight: true,
  enablePriorityAndFairness: true,
  memoryLimit: true,
  shutdownDelayDuration: true,
  serviceClusterIpRange: true,
  serviceNodePortRange: true,
  kubernetesServiceNodePort: true,
  ...IDENTITY_FLAGS,
  ...SERVER_FLAGS,
  anonymousAuth: true,
  authenticationConfig: true,
  authorizationConfig: true,
  authenticationTokenWebhookConfigFile: true,
  authenticationTokenWebhookVersion: true,
  authenticationTokenWebhookCacheTtl: true,
  authorizationMode: true,
  authorizationPolicyFile: true,
  authorizationWebhookConfigFile: true,
  authorizationWebhookVersion: true,
  authorizationWebhookCacheAuthorizedTtl: true,
  authorizationWebhookCacheUnauthorizedTtl: true,
  oidcIssuerUrl: true,
  oidcClientId: true,
  oidcUsernameClaim: true,
  oidcUsernamePrefix: true,
  oidcGroupsClaim: true,
  oidcGroupsPrefix: true,
  oidcCaFile: true,
  oidcRequiredClaim: true,
  oidcSigningAlgs: true,
  kubeletClientCertificate: true,
  kubeletClientKey: true,
  kubeletCertificateAuthority: true,
  kubeletPreferredAddressTypes: true,
}
/** The options' names, all of them. */
export const SECURITY_OPTIONS = Object.keys(NAMES) as readonly (keyof SecurityOptions)[]

/** Of options that hold more than that. */
export const securityOf = (options: SecurityOptions): SecurityOptions =>
  Object.fromEntries(SECURITY_OPTIONS.map((name) => [name, options[name]]))

export interface Security {
  readonly audit?: Filter
  readonly encryption?: Encryption
  readonly tokens?: ReadonlyMap<string, UserInfo>
  readonly authentication?: Authentication
  readonly authorization?: Authorization
  /** Requests worked on at once: that read, and that write. */
  readonly inFlight: { readonly readOnly: number; readonly mutating: number; readonly isShared: boolean }
  readonly shutdownDelayMs: number
  /** Bytes. */
  readonly memoryLimit?: number
  close(): Promise<void>
}

/** @throws StartError with the file and what is wrong in it */
export async function loadSecurity(
  runtime: Runtime,
  scheme: Scheme,
  options: SecurityOptions,
  { auditLog, serviceAccounts }: { readonly auditLog: string; readonly serviceAccounts: ServiceAccountKeys },
): Promise<Security> {
  const undo: (() => Promise<void>)[] = []
  const inFlight = {
    readOnly: options.maxRequestsInflight ?? 400,
    mutating: options.maxMutatingRequestsInflight ?? 200,
    isShared: options.enablePriorityAndFairness !== false,
  }
  if (inFlight.isShared && inFlight.readOnly + inFlight.mutating === 0)
    throw new StartError(
      'invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive',
    )
  const shutdownDelayMs = shutdownDelayOf(options)
  const memoryLimit = memoryLimitOf(options)
  const authentication = await loadAuthentication(runtime, options, serviceAccounts)
  if (authentication !== undefined) undo.push(async () => authentication.close())
  const authorization = await loadAuthorization(runtime, options)
  if (authorization !== undefined) undo.push(async () => authorization.close())
  const encryption = await loadEncryption(runtime, scheme, options)
  if (encryption !== undefined) undo.push(async () => encryption.close())
  const tokenFile = options.tokenAuthFile
  const others = {
    ...(authentication === undefined ? {} : { authentication }),
    ...(authorization === undefined ? {} : { authorization }),
    ...(encryption === undefined ? {} : { encryption }),
    ...(tokenFile === undefined
      ? {}
      : {
          tokens: await fromFile(
            tokenFile,
            async (text) => (await import('../apiserver/auth/token-file.ts')).parseTokenFile(text, tokenFile),
            { wrong: (why) => why },
          ),
        }),
  }
  // Last, since it opens a file: whatever is refused is refused before.
  const audit = await loadAudit(runtime, options, auditLog, undo)
  return {
    ...others,
    inFlight,
    shutdownDelayMs,
    ...(memoryLimit === undefined ? {} : { memoryLimit }),
    ...(audit === undefined ? {} : { audit }),
    close: async () => {
      for (const step of undo) await step()
    },
  }
}

/** @throws StartError for what is no duration, or a negative one */
function shutdownDelayOf({ shutdownDelayDuration = '0s' }: SecurityOptions): number {
  let ms: number
  try {
    ms = parseGoDurationMs(shutdownDelayDuration)
  } catch (error) {
    throw new StartError(`--shutdown-delay-duration: ${messageOf(error)}`)
  }
  if (ms < 0) throw new StartError('--shutdown-delay-duration can not be negative value')
  return ms
}

/** Less than that no cluster begins with. */
const LEAST_MEMORY = 256 << 20

/** @throws StartError for what is no amount of memory, or too little to begin with */
function memoryLimitOf({ memoryLimit }: SecurityOptions): number | undefined {
  if (memoryLimit === undefined) return undefined
  let bytes: number
  try {
    bytes = Number(quantityValue(memoryLimit))
  } catch {
    throw new StartError(`--memory-limit: not an amount of memory, as 2Gi: ${JSON.stringify(memoryLimit)}`)
  }
  if (bytes < LEAST_MEMORY) throw new StartError(`--memory-limit: must be at least 256Mi: ${memoryLimit}`)
  return bytes
}
