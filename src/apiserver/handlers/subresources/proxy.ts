/**
 * The proxy of nodes, pods and services: a request goes on to what the object's status or endpoints name, and its answer comes back as it
 * is, but for what names a place: redirects and links of pages lead through the proxy again.
 */
import { posix } from 'node:path'
import type { Duplex } from 'node:stream'
import { escapedBytes } from '../../../api/objects/url.ts'
import type { ApiRequest, ApiResponse, Headers } from '../../../api/request.ts'
import { serviceUnavailable } from '../../../api/status.ts'
import { createHttpsClient, type HttpsAnswer, type HttpsClient } from '../../../http/client.ts'
import { decodeHeader } from '../../../http/header-text.ts'
import { hopByHop } from '../../../http/hop-by-hop.ts'
import { passUpgrade } from '../../../http/join.ts'
import { networkError } from '../../../http/network-error.ts'
import { FORWARDED, isSimulatedNode } from '../../nodes/kubelets.ts'
import { asksForUpgrade, passedHeaders } from '../../nodes/passed-headers.ts'
import { connectToPod } from '../../nodes/pod-connection.ts'
import { segmentsOf } from '../../request/info.ts'
import type { ResourceHandler, ResourceRequest } from '../context.ts'
import { PROXIED, type ProxyTarget } from './proxy-target.ts'
import { admitConnect, refuseDryRun } from './session-options.ts'

export const proxy: ResourceHandler = async (resource) => {
  const { request, endpoint } = resource
  const { row } = endpoint
  refuseDryRun(request)
  const { before, rest, path } = dividedPath(request.path)
  await admitConnect(resource, path === '' ? {} : { path })
  const target = await (PROXIED[row.resource] as (typeof PROXIED)[string])(resource)
  const { node } = target
  const isForwarded = request.headers[FORWARDED] !== undefined
  if (node !== undefined && !resource.context.kubelets.answers(node, isForwarded))
    throw serviceUnavailable(unreached(target))
  if (rest === '' && (request.method === 'GET' || request.method === 'HEAD')) return toSlash(request, before)
  const client = clientOf(resource, target)
  const passing: Passing = { resource, target, client, before, path: (rest === '' ? '/' : rest) + queryOf(request) }
  return asksForUpgrade(request) ? upgraded(passing) : passed(passing)
}

/** Whatever has a simulated pod's address on a real network is not the pod: only its kubelet leads to what stands for it. */
const unreached = ({ kubeletOf, authority }: ProxyTarget): string =>
  kubeletOf === undefined
    ? `error trying to reach service: dial tcp ${authority}: connect: connection refused`
    : 'no node can be reached from this server'

interface DividedPath {
  /** Up to `/proxy`, as a link to it is written. */
  readonly before: string
  /** What the proxied server is asked for, without empty segments and those that lead up; '' where nothing stands behind `/proxy`, not even a slash. */
  readonly rest: string
  /** The same as admission is told it, which is decoded and otherwise as it was sent. */
  readonly path: string
}

/** Divided where the info of the request is: the path is decoded first, and an encoded slash divides as another does. */
function dividedPath(sent: string): DividedPath {
  // A character for each byte, as what is no UTF-8 is passed on too.
  const bytes = sent.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  const segments = segmentsOf(bytes)
  // /api/v1/nodes/NAME/proxy, or the same in a namespace.
  const at = segments[2] === 'namespaces' ? 7 : 5
  const behind = segments.slice(at).join('/')
  const slashed = behind === '' || behind.startsWith('/') ? behind : `/${behind}`
  const path = bytes.endsWith('/') ? `${slashed}/` : slashed
  return {
    before: escapedBytes(`/${segments.slice(0, at).join('/')}`),
    rest: path === '' ? '' : escapedBytes(posix.normalize(path)),
    path: decodeHeader(path),
  }
}

const queryOf = ({ target, query }: ApiRequest): string => {
  const at = target?.indexOf('?') ?? -1
  if (at >= 0) return (target as string).slice(at)
  return query.size === 0 ? '' : `?${query}`
}

function toSlash(request: ApiRequest, before: string): ApiResponse {
  const headers = { location: `${before}/${queryOf(request)}` }
  return { kind: 'bytes', status: 301, contentType: '', headers, bytes: [] }
}

function clientOf({ context }: ResourceRequest, target: ProxyTarget): HttpsClient {
  const { scheme, host, port, kubeletOf, node, pod } = target
  if (kubeletOf !== undefined) return context.kubelets.locate(kubeletOf, { address: host }).client
  const server = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  if (pod !== undefined && node !== undefined && isSimulatedNode(node)) {
    const { namespace = '', name = '' } = pod.metadata
    const { client: kubelet } = context.kubelets.locate(node)
    const connect = (signal: AbortSignal) => connectToPod(kubelet, { namespace, name, port }, signal)
    return createHttpsClient({ server, connect, insecureSkipTlsVerify: true })
  }
  // Pods have no certificates that this server could know.
  return context.kubelets.clientOf({ server, ...(scheme === 'https' ? { insecureSkipTlsVerify: true } : {}) })
}

interface Passing {
  readonly resource: ResourceRequest
  readonly target: ProxyTarget
  readonly client: HttpsClient
  /** The path that leads to the proxied server. */
  readonly before: string
  /** With the query. */
  readonly path: string
}

async function upgraded({ resource, target, client, before, path }: Passing): Promise<ApiResponse> {
  const { request, context } = resource
  const headers = { ...passedHeaders(request, { upgrade: true }), host: target.authority }
  const upstream = await sent(resource, target, () =>
    client.upgrade({ method: request.method, path, headers, signal: request.signal }),
  )
  if (!('socket' in upstream)) return backTo(target, upstream, before)
  return {
    kind: 'upgrade',
    status: 101,
    takeOver: (socket, head) => void passUpgrade(context.runtime.machineClock, socket as Duplex, head, upstream),
  }
}

async function passed({ resource, target, client, before, path }: Passing): Promise<ApiResponse> {
  const { request } = resource
  const { body } = request
  const headers: Record<string, string> = { ...passedHeaders(request, { upgrade: false }), host: target.authority }
  // Links in pages are rewritten, which needs them as they are.
  delete headers['accept-encoding']
  const answer = await sent(resource, target, () =>
    client.send({
      method: request.method,
      path,
      headers,
      signal: request.signal,
      ...(body?.kind === 'bytes' ? { body: body.bytes } : {}),
    }),
  )
  return backTo(target, answer, before)
}

async function sent<T>({ context, request }: ResourceRequest, target: ProxyTarget, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (request.signal.aborted) throw error
    const server = `${target.scheme}://${target.authority}`
    const attempt = {
      endpoint: { server, serverName: target.host, ca: undefined },
      nowMs: context.runtime.clock.now(),
      timeout: request.signal,
      proxied: true,
    }
    throw serviceUnavailable(`error trying to reach service: ${await networkError(error, attempt)}`)
  }
}

const NOT_PASSED_BACK = /^(audit-id|content-type|content-length|access-control-.*|:.*)$/

async function backTo(target: ProxyTarget, answer: HttpsAnswer, before: string): Promise<ApiResponse> {
  const through = (location: string) => rewritten(location, target, before)
  const headers: Record<string, string | readonly string[]> = {}
  const isOfConnection = hopByHop(answer.headers['connection'])
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined && !NOT_PASSED_BACK.test(name) && !isOfConnection(name)) headers[name] = value
  const { location } = answer.headers
  if (typeof location === 'string' && !isOfConnection('location')) headers['location'] = through(location)
  const contentType = String(answer.headers['content-type'] ?? '')
  const isPage = contentType.split(';')[0]?.trim().toLowerCase() === 'text/html' && location === undefined
  const response = { kind: 'stream', status: answer.status, headers: headers as Headers, contentType } as const
  if (!isPage || answer.headers['content-encoding'] !== undefined) {
    const length = answer.headers['content-length']
    if (typeof length === 'string') headers['content-length'] = length
    return { ...response, chunks: answer.chunks() }
  }
  const { rewriteLinks } = await import('../../nodes/html-links.ts')
  return { ...response, chunks: rewriteLinks(answer.chunks(), through) }
}

/** A link to the proxied server leads through the proxy; one to elsewhere stays. */
function rewritten(link: string, { scheme, authority }: ProxyTarget, prefix: string): string {
  let url: URL
  try {
    url = new URL(link, 'relative:///')
  } catch {
    return link
  }
  const isRelative = url.protocol === 'relative:'
  if (!isRelative && url.host !== '' && url.host !== new URL(`${scheme}://${authority}`).host) return link
  if (isRelative && !link.startsWith('/')) return link
  if (isRelative && link.startsWith('//')) return link
  if (!isRelative && url.protocol !== 'http:' && url.protocol !== 'https:') return link
  const path = isRelative ? link : url.pathname + url.search + url.hash
  return path.startsWith(`${prefix}/`) ? path : prefix + path
}
