/**
 * Passes requests for aggregated group versions on to their server, with the user in front-proxy headers, and tells
 * discovery what they serve. A group version whose server cannot be reached is answered with 503.
 */
import { jsonText } from '../../api/codec/json.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, UserInfo } from '../../api/request.ts'
import { createHttpsClient, type HttpsAnswer, type HttpsClient } from '../../http/client.ts'
import type { CacheReads } from '../admission/plugin.ts'
import { resolveService, ServiceUnresolved } from './service.ts'

export interface FrontProxyIdentity {
  /** PEM. Who passes on is known to the other server by this certificate. */
  readonly cert: string
  readonly key: string
}

export interface RemoteGroupVersion {
  readonly group: string
  readonly version: string
  /** APIResources as its server last told them; undefined until it has. */
  readonly resources: readonly Fields[] | undefined
}

export interface Aggregator {
  /** The answer of the server behind an APIService; undefined when this server answers the path itself. */
  forward(request: ApiRequest): Promise<ApiResponse> | undefined
  /** Group versions that others serve, in the order of their priorities. */
  remotes(): readonly RemoteGroupVersion[]
  /** Rises whenever `remotes` changes. */
  readonly generation: number
  /** What a server answers for a path; for the availability check. @throws ServiceUnresolved, or the connection's error */
  ask(service: KubeObject, path: string): Promise<{ readonly status: number; readonly body: string }>
  close(): void
}

const GROUP = 'apiregistration.k8s.io'

export function createAggregator(reads: CacheReads, changed: () => number, identity: FrontProxyIdentity): Aggregator {
  const clients = new Map<string, HttpsClient>()
  const told = new Map<string, readonly Fields[]>()
  let generation = 0
  let seen = -1
  let remote = new Map<string, KubeObject>()

  const services = (): ReadonlyMap<string, KubeObject> => {
    const now = changed()
    if (now !== seen) {
      seen = now
      generation++
      const found = reads.list(GROUP, 'apiservices').filter((service) => service['spec']?.service)
      remote = new Map(
        [...found]
          .sort((a, b) => priority(b) - priority(a))
          .map((service) => [`${service['spec'].group}/${service['spec'].version}`, service]),
      )
    }
    return remote
  }
  const clientOf = (service: KubeObject): HttpsClient => {
    const spec: Fields = service['spec']
    const { namespace, name, port = 443 } = spec['service'] as { namespace: string; name: string; port?: number }
    const server = resolveService(reads, { namespace, name, port })
    const ca = spec['caBundle'] ? Buffer.from(spec['caBundle'], 'base64').toString() : undefined
    const key = JSON.stringify([server, ca, spec['insecureSkipTLSVerify'], namespace, name])
    let client = clients.get(key)
    if (client === undefined) {
      client = createHttpsClient({
        server,
        ...identity,
        ...(ca === undefined ? {} : { ca }),
        serverName: `${name}.${namespace}.svc`,
        insecureSkipTlsVerify: spec['insecureSkipTLSVerify'] === true,
      })
      clients.set(key, client)
    }
    return client
  }
  const remember = (service: KubeObject, status: number, body: string) => {
    const groupVersion = `${service['spec'].group}/${service['spec'].version}`
    const before = JSON.stringify(told.get(groupVersion))
    const resources = status === 200 ? resourcesOf(body) : undefined
    if (resources === undefined) told.delete(groupVersion)
    else told.set(groupVersion, resources)
    if (JSON.stringify(resources) !== before) generation++
  }
  return {
    forward(request) {
      if (!request.path.startsWith('/apis/')) return undefined
      const [, , group = '', version = ''] = request.path.split('/')
      if (version === '') return undefined
      const service = services().get(`${group}/${version}`)
      return service === undefined ? undefined : pass(request, () => clientOf(service))
    },
    remotes: () =>
      [...services()].map(([groupVersion, { spec }]) => ({
        group: spec.group,
        version: spec.version,
        resources: told.get(groupVersion),
      })),
    get generation() {
      services()
      return generation
    },
    async ask(service, path) {
      const answer = await clientOf(service).send({
        method: 'GET',
        path,
        headers: { accept: 'application/json', ...userHeaders(checker) },
      })
      const body = Buffer.from(await answer.bytes()).toString()
      remember(service, answer.status, body)
      return { status: answer.status, body }
    },
    close() {
      for (const client of clients.values()) client.close()
    },
  }
}

function resourcesOf(body: string): readonly Fields[] | undefined {
  try {
    const { resources } = JSON.parse(body) as Fields
    return Array.isArray(resources) ? resources : undefined
  } catch {
    return undefined
  }
}

const checker: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] }

const priority = (service: KubeObject): number =>
  (service['spec'].groupPriorityMinimum ?? 0) * 100_000 + (service['spec'].versionPriority ?? 0)

const unavailable = (text: string): ApiResponse => ({
  kind: 'bytes',
  status: 503,
  headers: { 'x-content-type-options': 'nosniff' },
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from(`${text}\n`)],
})

/** Headers that belong to one connection, and those that say who asks. */
const NOT_PASSED =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|authorization|x-remote-.*|impersonate-.*|:.*)$/

async function pass(request: ApiRequest, clientOf: () => HttpsClient): Promise<ApiResponse> {
  let answer: HttpsAnswer
  try {
    const query = request.query.toString()
    const body = request.body
    answer = await clientOf().send({
      method: request.method,
      path: query === '' ? request.path : `${request.path}?${query}`,
      headers: {
        ...Object.fromEntries(
          Object.entries(request.headers).filter((entry): entry is [string, string] => {
            const [name, value] = entry
            return value !== undefined && !NOT_PASSED.test(name)
          }),
        ),
        ...userHeaders(request.user),
      },
      ...(body === undefined ? {} : { body: body.kind === 'bytes' ? body.bytes : jsonText(body.object) }),
      signal: request.signal,
    })
  } catch (error) {
    if (error instanceof ServiceUnresolved) return unavailable('service unavailable')
    if (request.signal.aborted) throw error
    return unavailable(`error trying to reach service: ${error instanceof Error ? error.message : String(error)}`)
  }
  const contentType = String(answer.headers['content-type'] ?? '')
  if (request.info?.verb === 'watch' || request.query.get('watch') === 'true' || request.query.get('watch') === '1')
    return { kind: 'stream', status: answer.status, contentType, chunks: answer.chunks() }
  return { kind: 'bytes', status: answer.status, contentType, bytes: [await answer.bytes()] }
}

/** How a front proxy says whom it asks for (API concept: authenticating proxy). */
function userHeaders(user: UserInfo | undefined): Record<string, string | readonly string[]> {
  if (user === undefined) return {}
  // A header for each value: a group may have a comma in its name, and must not become two.
  const headers: Record<string, string | readonly string[]> = { 'x-remote-user': user.name }
  if (user.groups.length > 0) headers['x-remote-group'] = user.groups
  for (const [key, values] of Object.entries(user.extra ?? {}))
    headers[`x-remote-extra-${encodeURIComponent(key).toLowerCase()}`] = values
  return headers
}
