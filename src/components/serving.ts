/**
 * A component's own HTTPS port (--secure-port), as its counterpart has it: its certificate from --tls-cert-file or --cert-dir or made for the
 * occasion, health for any client, all else for users that the API server authenticates and authorizes.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../api/object.ts'
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { KUBERNETES } from '../apiserver/handlers/version.ts'
import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { systemReason } from '../base/unread.ts'
import type { Client } from '../client/client.ts'
import { createDelegatedAuth } from '../client/delegated-auth.ts'
import type { KubeconfigText } from '../client/kubeconfig-text.ts'
import { statusOf } from '../client/response.ts'
import { createClient } from '../client/transport.ts'
import { certificateUsers, startComponentServer } from '../cluster/component-server.ts'
import type { HealthCheck } from '../http/health-pages.ts'
import { createZPages } from '../http/zpages.ts'
import { jsonAnswer } from '../kubelet/server/refused.ts'
import { setVerbosity } from '../kubelet/server/verbosity.ts'
import { accessOf, complaints } from './access.ts'
import type { Flag, ReadFlags } from './flags.ts'
import type { ComponentProcess } from './process.ts'
import { proxiesOf, type ServingFiles, type Trust } from './serving-files.ts'
import { toldFlags } from './told-flags.ts'

export interface ServingOptions {
  /** Default port. */
  readonly port: number
  /** As it calls itself to the API server. */
  readonly name: string
  readonly checks: readonly HealthCheck[]
  /** All that it has: /flagz tells them. */
  readonly table: ReadonlyMap<string, Flag>
  /** What /statusz says that there is. */
  readonly paths: readonly string[]
  /** What /configz tells. */
  readonly configz: () => Json
  readonly pages?: readonly ((request: ApiRequest) => ApiResponse | undefined)[]
}

const OPEN_PATHS = ['/healthz', '/readyz', '/livez']
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
export async function serve(
  flags: ReadFlags,
  process: ComponentProcess,
  files: ServingFiles,
  options: ServingOptions,
): Promise<void> {
  const { runtime, onStop } = process
  const port = flags.number('secure-port') ?? options.port
  if (port === 0) return
  const host = flags.text('bind-address') ?? '0.0.0.0'
  const { given, reviewers } = files
  const reviewerOf = (kubeconfig: KubeconfigText | undefined): Client | undefined => {
    if (kubeconfig === undefined) return undefined
    const access = accessOf(runtime, kubeconfig)
    onStop(() => access.transport.close())
    return createClient(runtime, access.transport, { userAgent: options.name })
  }
  const authentication = reviewerOf(reviewers.authentication)
  const authorization = reviewerOf(reviewers.authorization)
  let trust = given
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
    pages: [
      ...(options.pages ?? []),
      createZPages(runtime.clock, {
        component: options.name,
        version: KUBERNETES,
        paths: options.paths,
        flags: toldFlags(options.table, flags.values, usualOf(options)),
        separators: { Statusz: ': ', Flagz: ': ' },
      }),
      verbosityPage(runtime),
      configzPage(options.configz),
    ],
    host,
    port,
    serving: files.serving,
    limits: files.limits,
    clientCas: casOf(trust),
  }).catch((error: unknown) => {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
    throw new Error(
      `failed to create listener: failed to listen on ${address}: listen tcp ${address}: bind: ${systemReason(error)}`,
      { cause: error },
    )
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
        const found = { ...(await lookedUp(authentication)), ...given }
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

/** Defaults of what every component has that stand in no table: there they would count as given. */
export const usualOf = ({ name, port }: Pick<ServingOptions, 'name' | 'port'>) => ({
  'authorization-always-allow-paths': OPEN_PATHS.join(','),
  'leader-elect-resource-name': name,
  'requestheader-extra-headers-prefix': 'x-remote-extra-',
  'requestheader-group-headers': 'x-remote-group',
  'requestheader-username-headers': 'x-remote-user',
  'secure-port': String(port),
  ...(name === 'kube-scheduler'
    ? { 'contention-profiling': 'true', 'kube-api-burst': '100', 'kube-api-qps': '50' }
    : { controllers: '*', 'kube-api-burst': '30', 'kube-api-qps': '20' }),
})

const verbosityPage =
  ({ log }: Pick<Runtime, 'log'>) =>
  (request: ApiRequest): ApiResponse | undefined =>
    request.path === '/debug/flags/v' ? setVerbosity(log, request) : undefined

const configzPage =
  (configuration: () => Json) =>
  ({ path }: ApiRequest): ApiResponse | undefined =>
    path === '/configz'
      ? { ...jsonAnswer(configuration()), headers: { 'x-content-type-options': 'nosniff' } }
      : undefined

const usersOf = ({ clock }: Runtime, { clientCa, frontProxies }: Trust) =>
  clientCa === undefined
    ? undefined
    : certificateUsers(clock, { clientCa, ...(frontProxies === undefined ? {} : { frontProxies }) })

const casOf = ({ clientCa, frontProxies }: Trust): readonly string[] =>
  [clientCa, frontProxies?.ca].flatMap((pem) => (pem === undefined ? [] : [pem]))

const isWhole = ({ clientCa, frontProxies }: Trust): boolean => clientCa !== undefined && frontProxies !== undefined

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
