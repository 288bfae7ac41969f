/** What an administrator may say of how the API server serves: kube-apiserver's flags, by their names there. */
import { getCiphers } from 'node:tls'
import type { JsonObject } from '../api/object.ts'
import { chosenResources, type ResourceChoice } from '../api/scheme/runtime-config.ts'
import type { TolerationSeconds } from '../apiserver/admission/plugins/default-toleration-seconds.ts'
import type { TracingConfiguration } from '../apiserver/tracing/configuration.ts'
import { certificateAndNames } from '../base/certificate-and-names.ts'
import { messageOf } from '../base/errors.ts'
import { parseGoDurationMs } from '../base/go-duration.ts'
import type { Http2Limits, HttpLimits, TlsLimits } from '../http/limits.ts'
import type { NamedCertificate } from '../http/sni.ts'
import { StartError } from './errors.ts'
import { keyPair } from './pem-files.ts'
import { fromFile, fromFlags } from './read-file.ts'
import { apiVersionsHere, judgeRuntimeConfig } from './runtime-config.ts'

export interface ServerFlags {
  /** How long Events are kept: `1h`, the default. */
  readonly eventTtl?: string
  /** How long a request may take that is no watch: `1m`, the default. */
  readonly requestTimeout?: string
  /** Seconds after which, up to twice as many, a watch ends that says nothing of its end: 1800, the default. */
  readonly minRequestTimeout?: number
  /** How long pods stay on a node that is not ready or not reachable, unless they say otherwise. Default: 300. */
  readonly defaultNotReadyTolerationSeconds?: number
  readonly defaultUnreachableTolerationSeconds?: number
  /** `VersionTLS10`, `VersionTLS11`, `VersionTLS12` (the default) or `VersionTLS13`. */
  readonly tlsMinVersion?: string
  /** Go's names. Default: Node's choice. They say nothing of TLS 1.3. */
  readonly tlsCipherSuites?: readonly string[]
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
  /** Certificates for clients that ask for a server of another name: `CERT,KEY`, or `CERT,KEY:a.example,*.b.example`. */
  readonly tlsSniCertKey?: readonly string[]
  /** Expressions (RE2) for the origins whose scripts may read answers. Default: none. */
  readonly corsAllowedOrigins?: readonly string[]
  /** HTTP/1.1 alone is spoken. Default: false. */
  readonly disableHttp2Serving?: boolean
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
  /** By the names of admission plugins. */
  readonly admissionConfigurations: Readonly<Record<string, JsonObject>>
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
  const eventTtlMs = durationOf('event-ttl', flags.eventTtl)
  const { runtimeConfig = [] } = flags
  fromFlags(() => judgeRuntimeConfig(runtimeConfig, apiVersionsHere(), flags.enablePriorityAndFairness))
  const requestTimeoutMs = durationOf('request-timeout', flags.requestTimeout)
  if (requestTimeoutMs !== undefined && requestTimeoutMs < 0)
    throw new StartError('--request-timeout can not be negative value')
  const { minRequestTimeout } = flags
  if (minRequestTimeout !== undefined && minRequestTimeout < 0)
    throw new StartError('--min-request-timeout can not be negative value')
  const longestTokenMs = durationOf('service-account-max-token-expiration', flags.serviceAccountMaxTokenExpiration)
  if (
    longestTokenMs !== undefined &&
    longestTokenMs !== 0 &&
    !(HOUR_MS <= longestTokenMs && longestTokenMs <= LONGEST_MS)
  )
    throw new StartError('the service-account-max-token-expiration must be between 1 hour and 2^32 seconds')
  const watchGraceMs =
    durationOf('shutdown-watch-termination-grace-period', flags.shutdownWatchTerminationGracePeriod) ?? 0
  if (watchGraceMs < 0)
    throw new StartError('shutdown-watch-termination-grace-period, if provided, can not be a negative value')
  const file = flags.admissionControlConfigFile
  return {
    // Of whole seconds: with less than one, and with less than none, Events stay for ever.
    ...(eventTtlMs === undefined ? {} : { eventTtlSeconds: Math.max(0, Math.floor(eventTtlMs / 1000)) }),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(minRequestTimeout === undefined ? {} : { minRequestSeconds: minRequestTimeout }),
    tolerationSeconds: {
      notReady: flags.defaultNotReadyTolerationSeconds ?? 300,
      unreachable: flags.defaultUnreachableTolerationSeconds ?? 300,
    },
    serving: {
      tls: { ...minVersionOf(flags.tlsMinVersion), ...ciphersOf(flags) },
      named: namedCertificates(flags.tlsSniCertKey),
      http2: http2Limits(flags),
    },
    admissionConfigurations:
      file === undefined
        ? {}
        : await fromFile(
            file,
            async (text) =>
              (await import('../apiserver/admission/configuration.ts')).admissionConfigurations(text, file),
            {
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

function durationOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  try {
    return parseGoDurationMs(text)
  } catch (error) {
    throw new StartError(`--${flag}: ${messageOf(error)}`)
  }
}

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

/** @throws StartError */
function namedCertificates(pairs: readonly string[] = []): readonly NamedCertificate[] {
  return pairs.map((pair) => {
    const named = certificateAndNames(pair)
    if (named === undefined) throw new StartError(`--tls-sni-cert-key=${pair}: CERT,KEY or CERT,KEY:NAME,NAME`)
    const { certFile, keyFile, names } = named
    return { ...keyPair(certFile, keyFile, { prefix: 'failed to load SNI cert and key: ' }), names }
  })
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

const VERSIONS: Readonly<Record<string, TlsLimits['minVersion']>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
}

function minVersionOf(name: string | undefined): TlsLimits {
  if (name === undefined) return {}
  const minVersion = Object.hasOwn(VERSIONS, name) ? VERSIONS[name] : undefined
  if (minVersion !== undefined) return { minVersion }
  throw new StartError(`unknown tls version ${JSON.stringify(name)}`)
}

/** Those of Go that have other words than OpenSSL's in their middle. */
const EXCHANGES: Readonly<Record<string, string>> = { RSA: '', ECDHE_RSA: 'ECDHE-RSA-', ECDHE_ECDSA: 'ECDHE-ECDSA-' }
const TLS13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

/** One of them every client of HTTP/2 has (RFC 9113, section 9.2.2). */
const OF_HTTP2 = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256']

function ciphersOf(flags: ServerFlags): TlsLimits {
  const { tlsCipherSuites: names = [], tlsMinVersion: version = '' } = flags
  // Older versions have ciphers and hashes alone that OpenSSL takes for too weak.
  const weak = version === 'VersionTLS10' || version === 'VersionTLS11' ? ['@SECLEVEL=0'] : []
  if (names.length === 0) return weak.length === 0 ? {} : { ciphers: ['DEFAULT', ...weak].join(':') }
  const ciphers = names.flatMap((name) => {
    // What is spoken of TLS 1.3 is not for choosing.
    if (TLS13.includes(name)) return []
    const cipher = opensslName(name)
    if (cipher === undefined || !getCiphers().includes(cipher.toLowerCase()))
      throw new StartError(`Cipher suite ${name} not supported or doesn't exist`)
    return [cipher]
  })
  const needsNone = flags.disableHttp2Serving === true || version === 'VersionTLS13'
  if (!needsNone && !OF_HTTP2.some((name) => names.includes(name)))
    throw new StartError(
      `error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least one of ${OF_HTTP2.join(' or ')})`,
    )
  return { ciphers: [...TLS13, ...ciphers, ...weak].join(':') }
}

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 is ECDHE-RSA-AES128-GCM-SHA256, and with CBC_SHA in its end AES128-SHA. */
function opensslName(name: string): string | undefined {
  const [, exchange = '', cipher = ''] = /^TLS_(\w+?)_WITH_(\w+)$/.exec(name) ?? []
  const first = Object.hasOwn(EXCHANGES, exchange) ? EXCHANGES[exchange] : undefined
  if (first === undefined) return undefined
  const rest = cipher
    .replace(/^AES_(\d+)/, 'AES$1')
    .replace(/^CHACHA20_POLY1305(_SHA256)?$/, 'CHACHA20-POLY1305')
    .replace('_CBC_', '_')
    .replaceAll('_', '-')
  return `${first}${rest}`
}
