/** What an administrator may say of how the API server serves: kube-apiserver's flags, by their names there. */

import { chosenResources, type ResourceChoice } from '../api/scheme/runtime-config.ts'
import type { ConfigurationOf } from '../apiserver/admission/configuration.ts'
import type { TolerationSeconds } from '../apiserver/admission/plugins/default-toleration-seconds.ts'
import type { TracingConfiguration } from '../apiserver/tracing/configuration.ts'
import type { Http2Limits, HttpLimits } from '../http/limits.ts'
import type { NamedCertificate } from '../http/sni.ts'
import { durationFlagMs } from './duration-flag.ts'
import { StartError } from './errors.ts'
import { fromFile, fromFlags } from './read-file.ts'
import { apiVersionsHere, judgeRuntimeConfig } from './runtime-config.ts'
import { servingOf, type TlsFlags, whyNoHttp2 } from './tls-flags.ts'

export interface ServerFlags extends TlsFlags {
  /** How long Events are kept: `1h`, the default. */
  readonly eventTtl?: string
  /** How long a request may take that is no watch: `1m`, the default. */
  readonly requestTimeout?: string
  /** Seconds after which, up to twice as many, a watch ends that says nothing of its end: 1800, the default. */
  readonly minRequestTimeout?: number
  /** How long pods stay on a node that is not ready or not reachable, unless they say otherwise. Default: 300. */
  readonly defaultNotReadyTolerationSeconds?: number
  readonly defaultUnreachableTolerationSeconds?: number
  /** AdmissionConfiguration (apiserver.config.k8s.io/v1): what admission plugins are to go by. */
  readonly admissionControlConfigFile?: string
  /** The longest that a service account's token is valid, whatever is asked for: `48h`. Default: no limit. */
  readonly serviceAccountMaxTokenExpiration?: string
  /** Tokens of pods whose kubelet may be old live for a year. Default: true. */
  readonly serviceAccountExtendTokenExpiration?: boolean
  /** Deletes leave work to the garbage collector, which is told by finalizers. Default: true. */
  readonly enableGarbageCollector?: boolean
  /** Versions and resources of the API that are served, or not, unlike by default: `resource.k8s.io/v1beta2=true`, `apps/v1/daemonsets=false`. */
  readonly runtimeConfig?: readonly string[]
  /** For the header Strict-Transport-Security. Default: it is not sent. */
  readonly strictTransportSecurityDirectives?: readonly string[]
  /** Expressions (RE2) for the origins whose scripts may read answers. Default: none. */
  readonly corsAllowedOrigins?: readonly string[]
  /** Requests that a connection of HTTP/2 may have at once. Default, and what 0 means: 250. */
  readonly http2MaxStreamsPerConnection?: number
  /** Of the requests over HTTP/2, the share after which a client is told to connect anew: up to 0.02. Default: 0. */
  readonly goawayChance?: number
  /** TracingConfiguration (apiserver.config.k8s.io/v1): where spans of requests go (OTLP over gRPC), and of how many. Default: nowhere. */
  readonly tracingConfigFile?: string
  /** A server that is to stop tells new requests to come again (429), until those there are have been answered. Default: false. */
  readonly shutdownSendRetryAfter?: boolean
  /** How long a server that is to stop gives watches to end in turn: `30s`. Default: it ends them with itself. */
  readonly shutdownWatchTerminationGracePeriod?: string
}

export const SERVER_FLAGS: Readonly<Record<keyof ServerFlags, true>> = {
  eventTtl: true,
  requestTimeout: true,
  minRequestTimeout: true,
  defaultNotReadyTolerationSeconds: true,
  defaultUnreachableTolerationSeconds: true,
  tlsMinVersion: true,
  tlsCipherSuites: true,
  tlsCurvePreferences: true,
  admissionControlConfigFile: true,
  serviceAccountMaxTokenExpiration: true,
  serviceAccountExtendTokenExpiration: true,
  enableGarbageCollector: true,
  runtimeConfig: true,
  strictTransportSecurityDirectives: true,
  tlsSniCertKey: true,
  corsAllowedOrigins: true,
  disableHttp2Serving: true,
  http2MaxStreamsPerConnection: true,
  goawayChance: true,
  tracingConfigFile: true,
  shutdownSendRetryAfter: true,
  shutdownWatchTerminationGracePeriod: true,
}

export interface ServerSettings {
  readonly eventTtlSeconds?: number
  readonly requestTimeoutMs?: number
  readonly minRequestSeconds?: number
  readonly tolerationSeconds: TolerationSeconds
  readonly serving: HttpLimits & { readonly named: readonly NamedCertificate[] }
  readonly admissionConfigurationOf: ConfigurationOf
  readonly longestTokenSeconds?: number
  readonly extendsTokens: boolean
  readonly collectsGarbage: boolean
  /** See schemeServing. */
  readonly isServed: ResourceChoice | undefined
  readonly strictTransportSecurity?: string
  readonly allowsOrigin?: (origin: string) => boolean
  readonly tracing?: TracingConfiguration
  readonly sendsRetryAfter: boolean
  readonly watchGraceMs: number
}

/** @throws StartError for what kube-apiserver refuses, and for what is not to be had here */
export async function loadServerSettings(
  flags: ServerFlags & { readonly enablePriorityAndFairness?: boolean },
): Promise<ServerSettings> {
  const eventTtlMs = durationFlagMs('event-ttl', flags.eventTtl)
  const { runtimeConfig = [] } = flags
  fromFlags(() => judgeRuntimeConfig(runtimeConfig, apiVersionsHere(), flags.enablePriorityAndFairness))
  const requestTimeoutMs = durationFlagMs('request-timeout', flags.requestTimeout)
  if (requestTimeoutMs !== undefined && requestTimeoutMs < 0)
    throw new StartError('--request-timeout can not be negative value')
  const { minRequestTimeout } = flags
  if (minRequestTimeout !== undefined && minRequestTimeout < 0)
    throw new StartError('--min-request-timeout can not be negative value')
  const longestTokenMs = durationFlagMs('service-account-max-token-expiration', flags.serviceAccountMaxTokenExpiration)
  if (
    longestTokenMs !== undefined &&
    longestTokenMs !== 0 &&
    !(HOUR_MS <= longestTokenMs && longestTokenMs <= LONGEST_MS)
  )
    throw new StartError('the service-account-max-token-expiration must be between 1 hour and 2^32 seconds')
  const watchGraceMs =
    durationFlagMs('shutdown-watch-termination-grace-period', flags.shutdownWatchTerminationGracePeriod) ?? 0
  if (watchGraceMs < 0)
    throw new StartError('shutdown-watch-termination-grace-period, if provided, can not be a negative value')
  const file = flags.admissionControlConfigFile
  const noHttp2 = whyNoHttp2(flags)
  const serving = { ...servingOf(flags), http2: http2Limits(flags) }
  if (noHttp2 !== undefined) throw new StartError(noHttp2)
  return {
    // Of whole seconds: with less than one, and with less than none, Events stay for ever.
    ...(eventTtlMs === undefined ? {} : { eventTtlSeconds: Math.max(0, Math.floor(eventTtlMs / 1000)) }),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(minRequestTimeout === undefined ? {} : { minRequestSeconds: minRequestTimeout }),
    tolerationSeconds: {
      notReady: flags.defaultNotReadyTolerationSeconds ?? 300,
      unreachable: flags.defaultUnreachableTolerationSeconds ?? 300,
    },
    serving,
    admissionConfigurationOf:
      file === undefined
        ? () => undefined
        : await fromFile(
            file,
            async (text) =>
              (await import('../apiserver/admission/configuration.ts')).admissionConfigurations(text, file),
            {
              wrong: (why) => why,
              unread: (why) =>
                `failed to apply admission: failed to read plugin config: unable to read admission control configuration from ${JSON.stringify(file)} [${why}]`,
            },
          ),
    ...(longestTokenMs ? { longestTokenSeconds: longestTokenMs / 1000 } : {}),
    extendsTokens: flags.serviceAccountExtendTokenExpiration !== false,
    isServed: chosenResources(runtimeConfig),
    collectsGarbage: flags.enableGarbageCollector !== false,
    ...(flags.strictTransportSecurityDirectives?.length
      ? { strictTransportSecurity: flags.strictTransportSecurityDirectives.join('; ') }
      : {}),
    ...(await originsOf(flags.corsAllowedOrigins)),
    ...(await tracingOf(flags.tracingConfigFile)),
    sendsRetryAfter: flags.shutdownSendRetryAfter === true,
    watchGraceMs,
  }
}

const HOUR_MS = 3_600_000
const LONGEST_MS = 2 ** 32 * 1000

function http2Limits({ goawayChance = 0, ...flags }: ServerFlags): Http2Limits {
  if (!(0 <= goawayChance && goawayChance <= MOST_GOAWAYS))
    throw new StartError(`--goaway-chance can not be less than 0 or greater than ${MOST_GOAWAYS}`)
  const streams = flags.http2MaxStreamsPerConnection ?? 0
  return {
    disabled: flags.disableHttp2Serving === true,
    goawayChance,
    ...(streams > 0 ? { maxStreams: streams } : {}),
  }
}

async function originsOf(expressions: readonly string[] = []): Promise<Pick<ServerSettings, 'allowsOrigin'>> {
  if (expressions.length === 0) return {}
  const { patternError, patternFound } = await import('../api/schema/structural/patterns.ts')
  for (const expression of expressions) {
    const why = patternError(expression) ?? (isPinned(expression) ? undefined : NOT_PINNED)
    if (why !== undefined) throw new StartError(`--cors-allowed-origins has an invalid regular expression: ${why}`)
  }
  return { allowsOrigin: (origin) => expressions.some((expression) => patternFound(expression, origin)) }
}

async function tracingOf(file: string | undefined): Promise<Pick<ServerSettings, 'tracing'>> {
  if (file === undefined) return {}
  const words = 'failed to read tracing config: unable to read tracing configuration from'
  const { parseTracingConfiguration } = await import('../apiserver/tracing/configuration.ts')
  const tracing = await fromFile(file, parseTracingConfiguration, {
    unread: (why) => `${words} ${JSON.stringify(file)}: ${why}`,
    wrong: (why) => why,
  })
  return { tracing }
}

const MOST_GOAWAYS = 0.02
export const NOT_PINNED = 'regular expression does not pin to start/end of host in the origin header'

/** As kube-apiserver looks for it: an expression for `a.example` is not to allow `a.example.evil` too. */
export const isPinned = (expression: string): boolean => /\^|\/\//.test(expression) && /[$:]/.test(expression)
