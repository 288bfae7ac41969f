/** Which server a request for an aggregated group version is passed on to (pass.ts), whether it answers, and what it serves. */

import type { APIResource, APIService } from '../../api/generated/types.ts'
import type { ApiRequest, ApiResponse, UserInfo } from '../../api/request.ts'
import { asObject } from '../../api/unchecked.ts'
import type { Runtime } from '../../base/runtime.ts'
import { createClientPool } from '../../http/client-pool.ts'
import { limitedText } from '../../http/fetch.ts'
import { networkError } from '../../http/network-error.ts'
import type { CacheReads, ServerReads } from '../reads.ts'
import { passOn, type Remote, userHeaders } from './pass.ts'
import { resolveService } from './service.ts'

export interface FrontProxyIdentity {
  /** PEM. The other server knows this one by this certificate. */
  readonly cert: string
  readonly key: string
}

export interface RemoteGroupVersion {
  readonly group: string
  readonly version: string
  /** APIResources as its server last told them; undefined until it has. */
  readonly resources: readonly Partial<APIResource>[] | undefined
}

/**
 * A group version that this server answers itself, though not from its store: as long as there is an APIService of it, and that
 * leads to no other server.
 */
export interface LocalApi {
  readonly group: string
  readonly version: string
  /** APIResources. */
  readonly resources: readonly Partial<APIResource>[]
  /** Of a request for one of the resources, which has passed the filters. @throws StatusError */
  answer(request: ApiRequest): Promise<ApiResponse>
}

export interface Aggregator {
  /** The answer of the server behind an APIService; undefined when this server answers the path itself. */
  forward(request: ApiRequest): Promise<ApiResponse> | undefined
  /** Group versions that others serve, in the order of their priorities. */
  remotes(): readonly RemoteGroupVersion[]
  /** Rises whenever `remotes` changes. */
  readonly generation: number
  /**
   * Asks the server behind an APIService for what it serves, for the availability check.
   * @throws ServiceUnresolved when there is no server to ask
   */
  check(service: APIService): Promise<AvailabilityCheck>
  close(): void
}

export interface AvailabilityCheck {
  readonly url: string
  /** Undefined when no answer came: `why` says why, as a Go client does. */
  readonly status: number | undefined
  readonly why: string
}

const CHECK_MS = 5000
/** Endpoints of Services come and go: connections to so many are kept. */
const MAX_CLIENTS = 200
/** Of what a server says it serves, more is not read. */
const MAX_DISCOVERY_BYTES = 4 * 1024 * 1024

export function createAggregator(
  runtime: Runtime,
  reads: CacheReads & Pick<ServerReads, 'remoteServices'>,
  changed: () => number,
  identity: FrontProxyIdentity,
  localApis: readonly LocalApi[] = [],
): Aggregator {
  const clients = createClientPool(MAX_CLIENTS)
  const told = new Map<string, readonly Partial<APIResource>[]>()
  let generation = 0
  let seen = -1
  /** The APIServices of `remote` by uid and revision. */
  let foundBefore = ''
  let remote = new Map<string, APIService>()
  let local = new Map<string, LocalApi>()

  const services = (): ReadonlyMap<string, APIService> => {
    const now = changed()
    if (now === seen) return remote
    seen = now
    const found: readonly APIService[] = reads.remoteServices()
    // Most APIServices that change have no server of their own: they are those of definitions.
    const here = localApis.filter(isHere)
    const named = [
      ...found.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`),
      ...here.map(groupVersionOf),
    ].join()
    if (named === foundBefore) return remote
    foundBefore = named
    generation++
    remote = new Map(
      [...found]
        .sort((a, b) => priority(b) - priority(a))
        .map((service) => [`${service.spec?.group}/${service.spec?.version}`, service]),
    )
    local = new Map(here.map((one) => [groupVersionOf(one), one]))
    for (const groupVersion of told.keys()) if (!remote.has(groupVersion)) told.delete(groupVersion)
    return remote
  }
  const isHere = ({ group, version }: LocalApi): boolean => {
    const service = reads.get<APIService>('apiregistration.k8s.io', 'apiservices', '', `${version}.${group}`)
    return service !== undefined && (service as APIService).spec?.service === undefined
  }
  const remoteOf = (service: APIService): Remote => {
    const spec = service.spec!
    const { namespace, name, port = 443 } = spec.service as { namespace: string; name: string; port?: number }
    const { server, refused } = resolveService(reads, { namespace, name, port })
    const ca = spec.caBundle ? Buffer.from(spec.caBundle, 'base64').toString() : undefined
    const serverName = `${name}.${namespace}.svc`
    const client = clients.clientOf({
      server,
      refused,
      cert: identity.cert,
      key: identity.key,
      ...(ca === undefined ? {} : { ca }),
      serverName,
      insecureSkipTlsVerify: spec.insecureSkipTLSVerify === true,
    })
    return { client, server, serverName, ca }
  }
  const remember = (groupVersion: string, resources: readonly Partial<APIResource>[] | undefined) => {
    const before = JSON.stringify(told.get(groupVersion))
    if (resources === undefined) told.delete(groupVersion)
    else told.set(groupVersion, resources)
    if (JSON.stringify(resources) !== before) generation++
  }
  return {
    forward(request) {
      const path = request.info?.path ?? request.path
      if (!path.startsWith('/apis/')) return undefined
      const [, , group = '', version = ''] = path.split('/')
      if (version === '') return undefined
      const groupVersion = `${group}/${version}`
      const service = services().get(groupVersion)
      if (service !== undefined) return passOn(runtime, request, () => remoteOf(service))
      const here = local.get(groupVersion)
      if (here === undefined) return undefined
      if (request.info?.isResource === true) return here.answer(request)
      // Other servers tell this path themselves.
      return path === `/apis/${groupVersion}` ? resourceList(here) : undefined
    },
    remotes: () => [
      ...[...services()].map(([groupVersion, { spec }]) => ({
        group: spec?.group ?? '',
        version: spec?.version ?? '',
        resources: told.get(groupVersion),
      })),
      ...local.values(),
    ],
    get generation() {
      services()
      return generation
    },
    async check(service: APIService) {
      const { client, ...remote } = remoteOf(service)
      const groupVersion = `${service.spec?.group}/${service.spec?.version}`
      const path = `/apis/${groupVersion}`
      const url = `${remote.server}${path}`
      const timeout = new AbortController()
      const timer = runtime.machineClock.setTimer(CHECK_MS, 'api service check', () => timeout.abort())
      let status: number | undefined
      let resources: readonly Partial<APIResource>[] | undefined
      let why = ''
      try {
        const headers = { accept: 'application/json', ...userHeaders(checker) }
        const answer = await client.send({ method: 'GET', path, headers, signal: timeout.signal })
        status = answer.status
        const body = await limitedText(answer.chunks(), MAX_DISCOVERY_BYTES)
        if (status === 200) resources = resourcesOf(body)
      } catch (error) {
        if (status === undefined) {
          const attempt = { endpoint: remote, nowMs: runtime.clock.now(), timeout: timeout.signal }
          why = `Get ${JSON.stringify(url)}: ${timeout.signal.aborted ? TIMED_OUT : await networkError(error, attempt)}`
        }
      } finally {
        timer.cancel()
      }
      remember(groupVersion, resources)
      return { url, status, why }
    },
    close: clients.close,
  }
}

/** Undefined where it is no APIResourceList. */
function resourcesOf(body: string): RemoteGroupVersion['resources'] {
  try {
    const { resources } = asObject(JSON.parse(body))
    return Array.isArray(resources) ? (resources as readonly Partial<APIResource>[]) : undefined
  } catch {
    return undefined
  }
}

async function resourceList(api: LocalApi): Promise<ApiResponse> {
  const list = {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersionOf(api),
    resources: api.resources,
  }
  return {
    kind: 'bytes',
    status: 200,
    contentType: 'application/json',
    bytes: [Buffer.from(`${JSON.stringify(list)}\n`)],
  }
}

const groupVersionOf = ({ group, version }: LocalApi): string => `${group}/${version}`

const TIMED_OUT = 'net/http: request canceled (Client.Timeout exceeded while awaiting headers)'
const checker: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] }

const priority = (service: APIService): number =>
  (service.spec?.groupPriorityMinimum ?? 0) * 100_000 + (service.spec?.versionPriority ?? 0)
