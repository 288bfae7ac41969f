/** How a server speaks TLS, as flags that Kubernetes' components share say it: refused in their words and in their order. */
import { getCiphers } from 'node:tls'
import { certificateAndNames } from '../base/certificate-and-names.ts'
import type { HttpLimits, TlsLimits } from '../http/limits.ts'
import type { NamedCertificate } from '../http/sni.ts'
import { StartError } from './errors.ts'
import { keyPair } from './pem-files.ts'

export interface TlsFlags {
  /** `VersionTLS10`, `VersionTLS11`, `VersionTLS12` (the default) or `VersionTLS13`. */
  readonly tlsMinVersion?: string
  /** Go's names. Default: Node's choice. They say nothing of TLS 1.3. */
  readonly tlsCipherSuites?: readonly string[]
  /** Numbers of key exchanges (IANA's TLS Supported Groups), the best first. Default: Node's choice. */
  readonly tlsCurvePreferences?: readonly number[]
  /** Certificates for clients that ask for a server of another name: `CERT,KEY`, or `CERT,KEY:a.example,*.b.example`. */
  readonly tlsSniCertKey?: readonly string[]
  /** HTTP/1.1 alone is spoken. Default: false. */
  readonly disableHttp2Serving?: boolean
}

export interface ServingLimits extends HttpLimits {
  readonly named: readonly NamedCertificate[]
}

/** @throws StartError */
export function servingOf(flags: TlsFlags): ServingLimits {
  const ciphers = ciphersOf(flags)
  const curves = curvesOf(flags.tlsCurvePreferences)
  return {
    tls: { ...minVersionOf(flags.tlsMinVersion), ...ciphers, ...curves },
    named: namedCertificates(flags.tlsSniCertKey),
  }
}

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

function ciphersOf(flags: TlsFlags): TlsLimits {
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

/** What it says once it serves, of ciphers that leave HTTP/2 without its own. */
export function whyNoHttp2({ tlsCipherSuites: names = [], tlsMinVersion, disableHttp2Serving }: TlsFlags) {
  const needsNone = names.length === 0 || disableHttp2Serving === true || tlsMinVersion === 'VersionTLS13'
  return needsNone || OF_HTTP2.some((name) => names.includes(name))
    ? undefined
    : `error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least one of ${OF_HTTP2.join(' or ')})`
}

/** OpenSSL's names of those that Go knows. */
const CURVES: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4587, 'SecP256r1MLKEM768'],
  [4588, 'X25519MLKEM768'],
  [4589, 'SecP384r1MLKEM1024'],
])
const MOST = 65535

function curvesOf(numbers: readonly number[] = []): TlsLimits {
  const seen = new Set<number>()
  for (const number of numbers) {
    if (number < 1 || number > MOST)
      throw new StartError(`curve preference ${number} is out of range (must be 1-${MOST})`)
    if (!CURVES.has(number))
      throw new StartError(`curve preference ${number} is not supported by the current Go version`)
    if (seen.has(number)) throw new StartError(`duplicate curve preference ${number}`)
    seen.add(number)
  }
  // Older than 3.5 it has none that withstand quantum computers, and takes no list that names one.
  const [major = 0, minor = 0] = process.versions.openssl.split('.').map(Number)
  const isNew = major > 3 || (major === 3 && minor >= 5)
  const here = numbers
    .filter((number) => isNew || number < MOST_CLASSICAL)
    .map((number) => CURVES.get(number) as string)
  return here.length === 0 ? {} : { ecdhCurve: here.join(':') }
}

const MOST_CLASSICAL = 1000

/** @throws StartError */
function namedCertificates(pairs: readonly string[] = []): readonly NamedCertificate[] {
  return pairs.map((pair) => {
    const named = certificateAndNames(pair)
    if (named === undefined) throw new StartError(`--tls-sni-cert-key=${pair}: CERT,KEY or CERT,KEY:NAME,NAME`)
    const { certFile, keyFile, names } = named
    return { ...keyPair(certFile, keyFile, { prefix: 'failed to load SNI cert and key: ' }), names }
  })
}
