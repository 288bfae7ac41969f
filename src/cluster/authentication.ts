/**
 * What authenticates users besides the cluster itself: issuers of ID tokens, from flags or a file that is read again
 * when it changes, and a webhook. Refuses what is wrong with a reason, before anything starts.
 */

import { isDeepStrictEqual } from 'node:util'
import type { TokenAuthenticator } from '../apiserver/auth/authenticator.ts'
import type { AuthenticationConfiguration } from '../apiserver/auth/config/authentication.ts'
import { DocumentError, FieldsError } from '../apiserver/auth/config/document.ts'
import type { OidcFlags } from '../apiserver/auth/config/oidc-flags.ts'
import type { OidcAuthenticator } from '../apiserver/auth/oidc/authenticator.ts'
import type { ServiceAccountKeys } from '../apiserver/auth/service-account-tokens.ts'
import { everywhere } from '../apiserver/filters/authentication.ts'
import type { Runtime } from '../base/runtime.ts'
import { StartError } from './errors.ts'
import { fromFlags, parsed, readText } from './read-file.ts'
import { reloadMetrics } from './reload-metrics.ts'
import { watchFile } from './watch-file.ts'
import { endpointOfKubeconfig } from './webhook-endpoint.ts'

/** Named after kube-apiserver's flags. */
export interface AuthenticationOptions extends OidcFlags {
  /** AuthenticationConfiguration: issuers of ID tokens, and where requests may be anonymous. Not with the --oidc-* options. */
  readonly authenticationConfig?: string
  /** A kubeconfig that says where the webhook is that is asked about tokens that are not known here. */
  readonly authenticationTokenWebhookConfigFile?: string
  /** Whether requests without credentials are system:anonymous's, and not refused. Default: true. */
  readonly anonymousAuth?: boolean
  /** Of the reviews it is sent. Default: v1beta1. */
  readonly authenticationTokenWebhookVersion?: string
  /** How long its answers are kept, a Go duration. Default: 2m. */
  readonly authenticationTokenWebhookCacheTtl?: string
}

export interface Authentication {
  readonly otherTokens: readonly TokenAuthenticator[]
  /** Whether a request for this path may come without credentials. */
  readonly anonymous: (path: string) => boolean
  /** Begins to look for changes, and calls `onChange` when others are believed than before. */
  start(onChange: () => void): void
  close(): void
}

/** `own`: of service accounts. undefined when nothing is configured. @throws StartError */
export async function loadAuthentication(
  runtime: Runtime,
  options: AuthenticationOptions,
  own: Pick<ServiceAccountKeys, 'issuers' | 'apiAudiences'>,
): Promise<Authentication | undefined> {
  const { authenticationConfig: file } = options
  if (file !== undefined && usesOidcFlags(options))
    throw new StartError('authentication-config file and oidc-* flags are mutually exclusive')
  const webhook = await tokenWebhook(runtime, options, own.apiAudiences ?? own.issuers)
  const text = file === undefined ? '' : readText(file, unloaded(file))
  const configuration = await configured(options, text, own.issuers)
  const webhooks = webhook === undefined ? [] : [webhook]
  const allowed = options.anonymousAuth ?? true
  if (configuration === undefined) {
    if (webhook === undefined && allowed) return undefined
    return { otherTokens: webhooks, anonymous: allowed ? everywhere : nowhere, start: () => {}, close: () => {} }
  }
  if (configuration.anonymous !== undefined && options.anonymousAuth !== undefined)
    throw new StartError(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  const anonymous = anonymousAt(configuration.anonymous ?? { enabled: allowed })
  const [{ createOidcAuthenticator }, { parseAuthenticationConfiguration }] = await Promise.all([
    import('../apiserver/auth/oidc/authenticator.ts'),
    import('../apiserver/auth/config/authentication.ts'),
  ])
  const log = runtime.log.named('authentication')
  const reloaded = reloadMetrics(runtime, 'authentication')
  let current = configuration
  let issuers: OidcAuthenticator = createOidcAuthenticator(runtime, current.issuers)
  let stop = () => {}
  return {
    otherTokens: [{ authenticate: (token, audiences) => issuers.authenticate(token, audiences) }, ...webhooks],
    anonymous,
    start(onChange) {
      issuers.prepare()
      if (file === undefined) return
      stop = watchFile(runtime, file, text, (changed) => {
        try {
          const next = parseAuthenticationConfiguration(changed, { disallowedIssuers: own.issuers })
          if (!isDeepStrictEqual(next.anonymous, current.anonymous))
            throw new Error('anonymous: Forbidden: changed from initial configuration file')
          current = next
        } catch (error) {
          log.error('the changed authentication configuration is not used', error, { file })
          reloaded(false)
          return
        }
        issuers = createOidcAuthenticator(runtime, current.issuers)
        issuers.prepare()
        log.info(0, 'reloaded authentication config', { file })
        reloaded(true)
        onChange()
      })
    },
    close: () => stop(),
  }
}

async function tokenWebhook(
  runtime: Runtime,
  options: AuthenticationOptions,
  apiAudiences: readonly string[],
): Promise<TokenAuthenticator | undefined> {
  const { authenticationTokenWebhookConfigFile: file } = options
  if (file === undefined) return undefined
  const [{ createTokenWebhook }, { createReviewClient }, { configuredDurationMs }] = await Promise.all([
    import('../apiserver/auth/webhook/tokens.ts'),
    import('../apiserver/auth/webhook/client.ts'),
    import('../apiserver/auth/config/document.ts'),
  ])
  return fromFlags(() => {
    const version = options.authenticationTokenWebhookVersion ?? 'v1beta1'
    if (version !== 'v1' && version !== 'v1beta1')
      throw new StartError(
        `unsupported authentication webhook version ${JSON.stringify(version)}, supported versions are "v1", "v1beta1"`,
      )
    const ttl = options.authenticationTokenWebhookCacheTtl ?? '2m'
    const keepMs = Math.max(0, configuredDurationMs(ttl, 'authentication-token-webhook-cache-ttl'))
    const client = createReviewClient(runtime, endpointOfKubeconfig(file), WEBHOOK_TIMEOUT_MS)
    return createTokenWebhook(runtime, client, { version, keepMs, apiAudiences })
  })
}

const WEBHOOK_TIMEOUT_MS = 30_000

const usesOidcFlags = (options: AuthenticationOptions): boolean =>
  Object.entries(options).some(([name, value]) => name.startsWith('oidc') && value !== undefined)

const INVALID = 'invalid authentication configuration: '
const unloaded = (file: string) => (why: string) =>
  `failed to load authentication configuration from file ${JSON.stringify(file)}: ${why}`

async function configured(
  options: AuthenticationOptions,
  text: string,
  disallowedIssuers: readonly string[],
): Promise<AuthenticationConfiguration | undefined> {
  const { authenticationConfig: file, oidcCaFile } = options
  if (file !== undefined)
    return parsed(
      file,
      text,
      async () =>
        (await import('../apiserver/auth/config/authentication.ts')).parseAuthenticationConfiguration(text, {
          disallowedIssuers,
        }),
      { wrong: (why, cause) => (cause instanceof DocumentError ? unloaded(file)(why) : `${INVALID}${why}`) },
    )
  if (!usesOidcFlags(options)) return undefined
  const ca = oidcCaFile === undefined ? undefined : readText(oidcCaFile)
  const { oidcConfiguration } = await import('../apiserver/auth/config/oidc-flags.ts')
  return fromFlags(() => {
    try {
      return oidcConfiguration(options, ca, { disallowedIssuers })
    } catch (cause) {
      throw cause instanceof FieldsError ? new StartError(`${INVALID}${cause.message}`, { cause }) : cause
    }
  })
}

const nowhere = (): boolean => false

function anonymousAt({
  enabled,
  paths,
}: NonNullable<AuthenticationConfiguration['anonymous']>): (path: string) => boolean {
  if (!enabled) return nowhere
  return paths === undefined ? everywhere : (path) => paths.includes(path)
}
