/**
 * The files of a component's own port, in the order in which the controller manager and the scheduler of Kubernetes read them, and in their words for what is wrong:
 * its certificate, how it speaks TLS, kubeconfigs of the API server that is asked about clients, and authorities of these.
 */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { FrontProxies } from '../apiserver/auth/front-proxies.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { whyUnread } from '../base/unread.ts'
import type { KubeconfigText } from '../client/kubeconfig-text.ts'
import { issue, type KeyAndCertificate } from '../cluster/certificate.ts'
import { authorities, keyPair } from '../cluster/pem-files.ts'
import { write } from '../cluster/pki.ts'
import { type ServingLimits, servingOf, type TlsFlags, whyNoHttp2 } from '../cluster/tls-flags.ts'
import { judgeConnection, judgedKubeconfig } from './access.ts'
import { flagsAsked } from './asked-flags.ts'
import { openPathProblem } from './common-rules.ts'
import type { Flag, ReadFlags } from './flags.ts'

export interface ServingFiles {
  readonly serving: KeyAndCertificate
  readonly limits: ServingLimits
  readonly given: Trust
  /** API servers that are asked about clients. */
  readonly reviewers: { readonly authentication?: KubeconfigText; readonly authorization?: KubeconfigText }
  /** Noticed last of all. */
  readonly whyNoHttp2?: string
}

const CERTIFICATE_DAYS = 365

/**
 * The certificate that is made where none is named, or was made before in --cert-dir. `name`: of its file there.
 * @throws Error in one line
 */
export function madeCertificate(runtime: Runtime, flags: ReadFlags, name: string): KeyAndCertificate | undefined {
  const isNamed = flags.text('tls-cert-file') !== undefined || flags.text('tls-private-key-file') !== undefined
  if (flags.number('secure-port') === 0 || isNamed) return undefined
  const folder = flags.text('cert-dir')
  const [cert, key] = [join(folder ?? '', `${name}.crt`), join(folder ?? '', `${name}.key`)]
  if (folder !== undefined && existsSync(cert) && existsSync(key))
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  const host = flags.text('bind-address') ?? '0.0.0.0'
  const isAny = host === '0.0.0.0' || host === '::'
  const hosts = ['localhost', hostname(), ...(isAny ? ['127.0.0.1'] : [host])]
  const made = issue(runtime, { commonName: hostname(), usage: 'server', hosts, validDays: CERTIFICATE_DAYS })
  if (folder === undefined) return made
  makeFolder(folder)
  write(key, made.key, 0o600)
  write(cert, made.cert, 0o644)
  return made
}

/** Step by step: Node's own way to make all at once never ends below /proc. */
function makeFolder(folder: string): void {
  const there = statSync(folder, { throwIfNoEntry: false })
  if (there?.isDirectory() === true) return
  const refuse = (why: string) => new Error(`error creating self-signed certificates: ${why}`)
  if (there !== undefined) throw refuse(`mkdir ${folder}: not a directory`)
  const above = dirname(folder)
  if (above !== folder) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o755 })
  } catch (cause) {
    throw refuse(whyUnread(folder, cause, 'mkdir'))
  }
}

/** `made`: see madeCertificate. Undefined where no port is opened. @throws Error in one line */
export function servingFiles(
  flags: ReadFlags,
  table: ReadonlyMap<string, Flag>,
  made: KeyAndCertificate | undefined,
): ServingFiles | undefined {
  if (flags.number('secure-port') === 0) return undefined
  const [cert, key] = [flags.text('tls-cert-file'), flags.text('tls-private-key-file')]
  if ((cert === undefined) !== (key === undefined)) throw new Error('missing filename for serving cert')
  const serving = cert !== undefined && key !== undefined ? keyPair(cert, key, { named: 'serving-cert' }) : made
  if (serving === undefined) throw new Error('missing filename for serving cert')
  const tls: TlsFlags = {
    ...defined('tlsMinVersion', flags.text('tls-min-version')),
    ...defined('tlsCipherSuites', flags.list('tls-cipher-suites')),
    ...defined('tlsCurvePreferences', flags.list('tls-curve-preferences')?.map(Number)),
    ...defined('tlsSniCertKey', flags.list('tls-sni-cert-key')),
    disableHttp2Serving: flags.bool('disable-http2-serving'),
  }
  const streams = flags.number('http2-max-streams-per-connection') ?? 0
  const limits: ServingLimits = {
    ...servingOf(tls),
    http2: {
      disabled: tls.disableHttp2Serving === true,
      goawayChance: 0,
      ...(streams > 0 ? { maxStreams: Math.min(streams, MOST_STREAMS) } : {}),
    },
  }
  const of = (what: string) => `failed to get delegated ${what} kubeconfig`
  const reviewer = (what: 'authentication' | 'authorization') => {
    const file = flags.text(`${what}-kubeconfig`)
    if (file === undefined) return undefined
    const kubeconfig = saying(of(what), () => judgedKubeconfig(file))
    judgeConnection(kubeconfig, undefined, NO_LIMITS)
    return kubeconfig
  }
  const authentication = saying(of('authentication'), () => reviewer('authentication'))
  const given = givenTrust(flags)
  const authorization = reviewer('authorization')
  const reviewers = { ...defined('authentication', authentication), ...defined('authorization', authorization) }
  const path = openPathProblem(flagsAsked(table, flags.values))
  if (path !== undefined) throw new Error(path)
  const noHttp2 = whyNoHttp2(tls)
  return { serving, limits, given, reviewers, ...(noHttp2 === undefined ? {} : { whyNoHttp2: noHttp2 }) }
}

/** A number of 32 bits without a sign. */
const MOST_STREAMS = 2 ** 32 - 1
const NO_LIMITS = { qps: 0, burst: 0 }

const defined = <K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, V>)

function saying<T>(about: string, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    throw new Error(`${about}: ${messageOf(cause)}`, { cause })
  }
}

/** The authorities that count. */
export interface Trust {
  readonly clientCa?: string
  readonly frontProxies?: FrontProxies
}

function givenTrust(flags: ReadFlags): Trust {
  const given = (flag: string, named: string, about: string) => {
    const file = flags.text(flag)
    return file === undefined ? undefined : saying(about, () => authorities(file, named))
  }
  const clientCa = given('client-ca-file', 'client-ca-bundle', 'unable to load client CA provider')
  const proxyCa = given(
    'requestheader-client-ca-file',
    'request-header',
    'unable to create request header authentication config',
  )
  return {
    ...(clientCa === undefined ? {} : { clientCa }),
    ...(proxyCa === undefined
      ? {}
      : {
          frontProxies: proxiesOf(proxyCa, {
            allowedNames: flags.list('requestheader-allowed-names'),
            usernameHeaders: flags.list('requestheader-username-headers'),
            uidHeaders: flags.list('requestheader-uid-headers'),
            groupHeaders: flags.list('requestheader-group-headers'),
            extraPrefixes: flags.list('requestheader-extra-headers-prefix'),
          }),
        }),
  }
}

export function proxiesOf(
  ca: string,
  names: Readonly<Record<Exclude<keyof FrontProxies, 'ca'>, readonly string[] | undefined>>,
): FrontProxies {
  const lower = (list: readonly string[] | undefined, usual: readonly string[]) =>
    list?.map((name) => name.toLowerCase()) ?? usual
  return {
    ca,
    allowedNames: names.allowedNames ?? [],
    usernameHeaders: lower(names.usernameHeaders, ['x-remote-user']),
    uidHeaders: lower(names.uidHeaders, []),
    groupHeaders: lower(names.groupHeaders, ['x-remote-group']),
    extraPrefixes: lower(names.extraPrefixes, ['x-remote-extra-']),
  }
}
