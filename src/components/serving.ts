/**
 * A component's own HTTPS port (--secure-port), as its counterpart has it: its certificate from --tls-cert-file or --cert-dir or made for the
 * occasion, health for any client, all else for users that the API server authenticates and authorizes.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import type { FrontProxies } from '../apiserver/auth/front-proxies.ts'
import { certificatesOf } from '../apiserver/auth/x509.ts'
import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createDelegatedAuth } from '../client/delegated-auth.ts'
import { statusOf } from '../client/response.ts'
import { createClient } from '../client/transport.ts'
import { issue, type KeyAndCertificate } from '../cluster/certificate.ts'
import { certificateUsers, startComponentServer } from '../cluster/component-server.ts'
import { write } from '../cluster/pki.ts'
import type { HealthCheck } from '../http/health-pages.ts'
import { accessOf, complaints } from './access.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import type { ComponentProcess } from './process.ts'

export interface ServingOptions {
  /** Default port. */
  readonly port: number
  /** File name of the certificate below --cert-dir. */
  readonly name: string
  readonly checks: readonly HealthCheck[]
  readonly pages?: readonly ((request: ApiRequest) => ApiResponse | undefined)[]
}

const OPEN_PATHS = ['/healthz', '/readyz', '/livez']
const CERTIFICATE_DAYS = 365
const LOOK_AGAIN_MS = 60_000
const RETRY_MS = 2000
const TRUST = { namespace: 'kube-system', name: 'extension-apiserver-authentication' }
const CONFIGMAPS = { group: '', version: 'v1', resource: 'configmaps' }

/**
 * Nothing where --secure-port is 0. Which authorities' certificates count is told by flags, and else by what the cluster tells its extension servers, once
 * it answers.
 *
 * @throws FlagError, Error in one line
 */
export async function serve(flags: ReadFlags, process: ComponentProcess, options: ServingOptions): Promise<void> {
  const { runtime, onStop } = process
  const port = flags.number('secure-port') ?? options.port
  if (port < 0 || port > 65535)
    throw new FlagError(`--secure-port ${port} must be between 0 and 65535, inclusive. 0 for turning off secure port`)
  if (port === 0) return
  const host = flags.text('bind-address') ?? '0.0.0.0'
  const serving = servingPair(runtime, flags, host, options.name)
  const reviewerOf = (name: string): Client | undefined => {
    const file = flags.text(name)
    if (file === undefined) return undefined
    const access = accessOf(runtime, file)
    onStop(() => access.transport.close())
    return createClient(runtime, access.transport, { userAgent: options.name })
  }
  const authentication = reviewerOf('authentication-kubeconfig')
  const authorization = reviewerOf('authorization-kubeconfig')
  let trust = givenTrust(flags)
  let users = usersOf(runtime, trust)
  const server = await startComponentServer(runtime, {
    admit: createDelegatedAuth({
      clock: runtime.clock,
      ...(authentication === undefined ? {} : { authentication }),
      ...(authorization === undefined ? {} : { authorization }),
      openPaths: flags.list('authorization-always-allow-paths') ?? OPEN_PATHS,
      certificateUser: (request) => users?.(request),
    }),
    checks: options.checks,
    ...(options.pages === undefined ? {} : { pages: options.pages }),
    host,
    port,
    serving,
    clientCas: casOf(trust),
  }).catch((error: unknown) => {
    throw new Error(`cannot listen on ${host} port ${port} (--secure-port): ${messageOf(error)}`, { cause: error })
  })
  onStop(server.stop)
  runtime.log.info(0, 'Serving securely', { url: server.url })
  if (authentication === undefined || isWhole(trust) || flags.bool('authentication-skip-lookup')) return
  const looking = new AbortController()
  onStop(() => looking.abort())
  const complain = complaints(process)
  const lookUp = async (): Promise<void> => {
    while (!looking.signal.aborted) {
      let wait = LOOK_AGAIN_MS
      try {
        const found = { ...(await lookedUp(authentication)), ...givenTrust(flags) }
        if (!isDeepStrictEqual(found, trust)) {
          trust = found
          users = usersOf(runtime, found)
          server.setClientCas(casOf(found))
        }
      } catch (error) {
        if (looking.signal.aborted) return
        wait = RETRY_MS
        const why = `ConfigMap ${TRUST.namespace}/${TRUST.name} cannot be read: ${messageOf(error)}`
        if (statusOf(error) !== undefined && !flags.bool('authentication-tolerate-lookup-failure')) process.fail(why)
        else complain(`${why}; certificates of clients prove nothing here yet`)
      }
      await sleep(runtime.clock, wait, looking.signal)
    }
  }
  lookUp().catch(() => {})
}

const usersOf = ({ clock }: Runtime, { clientCa, frontProxies }: Trust) =>
  clientCa === undefined
    ? undefined
    : certificateUsers(clock, { clientCa, ...(frontProxies === undefined ? {} : { frontProxies }) })

const casOf = ({ clientCa, frontProxies }: Trust): readonly string[] =>
  [clientCa, frontProxies?.ca].flatMap((pem) => (pem === undefined ? [] : [pem]))

const isWhole = ({ clientCa, frontProxies }: Trust): boolean => clientCa !== undefined && frontProxies !== undefined

function servingPair(runtime: Runtime, flags: ReadFlags, host: string, name: string): KeyAndCertificate {
  const [certFile, keyFile] = [flags.text('tls-cert-file'), flags.text('tls-private-key-file')]
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new FlagError('--tls-cert-file and --tls-private-key-file are given together')
  if (certFile !== undefined && keyFile !== undefined) return { cert: read(certFile), key: read(keyFile) }
  const folder = flags.text('cert-dir')
  const files = folder === undefined ? undefined : [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
  if (files?.every((file) => existsSync(file))) return { cert: read(files[0] as string), key: read(files[1] as string) }
  const isAny = host === '0.0.0.0' || host === '::'
  const hosts = ['localhost', hostname(), ...(isAny ? ['127.0.0.1'] : [host])]
  const made = issue(runtime, { commonName: hostname(), usage: 'server', hosts, validDays: CERTIFICATE_DAYS })
  if (folder !== undefined && files !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    write(files[1] as string, made.key, 0o600)
    write(files[0] as string, made.cert, 0o644)
  }
  return made
}

interface Trust {
  readonly clientCa?: string
  readonly frontProxies?: FrontProxies
}

function givenTrust(flags: ReadFlags): Trust {
  const given = (name: string) => {
    const file = flags.text(name)
    return file === undefined ? undefined : authorities(file)
  }
  const clientCa = given('client-ca-file')
  const proxyCa = given('requestheader-client-ca-file')
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

/** What the cluster tells its extension servers. */
async function lookedUp(client: Client): Promise<Trust> {
  const { data = {} } = (await client.resource(CONFIGMAPS).namespace(TRUST.namespace).get(TRUST.name)) as {
    readonly data?: Readonly<Record<string, string>>
  }
  return looked(data)
}

function looked(data: Readonly<Record<string, string>>): Trust {
  const list = (name: string) => (data[name] === undefined ? undefined : (JSON.parse(data[name]) as string[]))
  const [clientCa, proxyCa] = [data['client-ca-file'], data['requestheader-client-ca-file']]
  return {
    ...(clientCa === undefined ? {} : { clientCa }),
    ...(proxyCa === undefined
      ? {}
      : {
          frontProxies: proxiesOf(proxyCa, {
            allowedNames: list('requestheader-allowed-names'),
            usernameHeaders: list('requestheader-username-headers'),
            uidHeaders: list('requestheader-uid-headers'),
            groupHeaders: list('requestheader-group-headers'),
            extraPrefixes: list('requestheader-extra-headers-prefix'),
          }),
        }),
  }
}

function proxiesOf(
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

function authorities(file: string): string {
  const text = read(file)
  try {
    certificatesOf(text)
  } catch (cause) {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause })
  }
  return text
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`cannot read ${file}: ${messageOf(cause)}`, { cause })
  }
}
