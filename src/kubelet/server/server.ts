/**
 * A kubelet's own server (port 10250), on a real node: logs, exec, attach, port-forward, its pods, what they use. The API server asks it for
 * users; whoever else asks it must be allowed to by the API server. What a session carries is the runtime's: this joins the two.
 */
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import { createHttpsClient } from '../../http/client.ts'
import { passUpgrade } from '../../http/join.ts'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import type { Kubelet } from '../kubelet.ts'
import { type LogOptions, readLog } from '../logs/read-log.ts'
import { containerNamed, nameOf, namespaceOf, type Pod, uidOf } from '../pod.ts'
import { latestContainer, latestSandbox } from '../pod-cache.ts'
import type { ContainerRuntime, SessionRequest } from '../runtimes/runtime.ts'
import { createAccess } from './access.ts'
import { nodeUsage, resourceMetrics, summary } from './usage.ts'

export interface KubeletServerOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  readonly host: string
  /** PEM. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string }
  /** Undefined while it starts. */
  readonly kubelet: () => Kubelet | undefined
  readonly containerRuntime: ContainerRuntime
}

export const KUBELET_PORT = 10250

/** Listens on the usual port, or on a free one where that is taken. */
export async function startKubeletServer(options: KubeletServerOptions): Promise<HttpServer> {
  const { runtime, host, tls } = options
  const handler = handlerOf(options)
  const listen = (port: number) =>
    startHttpServer(runtime, {
      handler,
      host,
      port,
      tls: { cert: tls.cert, key: tls.key, clientCas: [tls.clientCa] },
    })
  try {
    return await listen(KUBELET_PORT)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return listen(0)
  }
}

/** An answer other than what was asked for. */
class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const text = (status: number, message: string, contentType = 'text/plain; charset=utf-8'): ApiResponse => ({
  kind: 'bytes',
  status,
  contentType,
  bytes: [Buffer.from(message)],
})
const json = (value: unknown): ApiResponse => text(200, JSON.stringify(value), 'application/json')

export function handlerOf(options: KubeletServerOptions): (request: ApiRequest) => Promise<ApiResponse> {
  const { runtime, client, nodeName, containerRuntime } = options
  const access = createAccess(runtime.clock, client, nodeName)

  const usage = () => containerRuntime.real?.usage() ?? Promise.resolve([])
  const metrics = async () => resourceMetrics(await usage(), nodeUsage(), runtime.clock.now())
  const usageSummary = async () => summary(nodeName, await usage(), nodeUsage(), runtime.clock.now())

  return async (request) => {
    try {
      const user = await access.user(request)
      if (user === undefined) throw new Refused(401, 'Unauthorized')
      if ((await access.allowed(user, request)) === undefined) {
        const verb =
          request.method === 'GET' ? 'get' : request.method === 'POST' ? 'create' : request.method.toLowerCase()
        throw new Refused(403, `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[proxy])\n`)
      }
      return await route(request)
    } catch (error) {
      if (error instanceof Refused) return text(error.status, error.message)
      runtime.log.info(2, 'Kubelet server failed', { path: request.path, err: messageOf(error) })
      return text(500, messageOf(error))
    }
  }

  async function route(request: ApiRequest): Promise<ApiResponse> {
    const [first = '', ...rest] = request.path.split('/').slice(1).map(decoded)
    switch (first) {
      case 'healthz':
        return text(200, 'ok')
      case 'pods':
        return json(podList())
      case 'containerLogs':
        return logs(request, rest)
      case 'exec':
      case 'attach':
      case 'portForward':
        return session(request, first, rest)
      case 'metrics':
        if (rest.length === 1 && rest[0] === 'resource') return text(200, await metrics(), 'text/plain; version=0.0.4')
        break
      case 'stats':
        if (rest.length === 1 && rest[0] === 'summary') return json(await usageSummary())
        break
    }
    throw new Refused(404, '404 page not found\n')
  }

  function podList() {
    const kubelet = options.kubelet()
    const items = [...(kubelet?.pods.list() ?? [])].map((pod) => {
      const status = kubelet?.podStatus(uidOf(pod)) ?? pod.status
      const { kind: _kind, apiVersion: _version, ...rest } = pod
      return status === undefined ? rest : { ...rest, status }
    })
    return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items }
  }

  function find(namespace: string, name: string): { readonly kubelet: Kubelet; readonly pod: Pod } | undefined {
    const kubelet = options.kubelet()
    for (const pod of kubelet?.pods.list() ?? [])
      if (nameOf(pod) === name && namespaceOf(pod) === namespace) return { kubelet: kubelet!, pod }
    return undefined
  }

  function logs(request: ApiRequest, [namespace = '', name = '', container = '']: readonly string[]): ApiResponse {
    const found = find(namespace, name)
    if (found === undefined) throw new Refused(404, `pod ${JSON.stringify(name)} not found\n`)
    const { kubelet, pod } = found
    if (containerNamed(pod, container) === undefined)
      throw new Refused(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}\n`)
    const uid = uidOf(pod)
    const own = () => kubelet.runtimeStatus(uid).containers.filter(({ metadata }) => metadata.name === container)
    const wantsPrevious = request.query.get('previous') === 'true'
    const [latest, before] = own()
    const waiting = kubelet
      .podStatus(uid)
      ?.containerStatuses?.find((status) => status.name === container && status.lastState?.terminated !== undefined)
    // What has ended and waits for its next start is the last that was, and the one before, too.
    const previous =
      before ?? (latest?.state === 'exited' && waiting?.state?.waiting !== undefined ? latest : undefined)
    const status = wantsPrevious ? previous : latest
    const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(name)}`
    if (status === undefined && wantsPrevious) throw new Refused(400, `previous terminated ${where} not found`)
    if (status?.logPath === undefined || status.logPath === '') {
      const reason = waitingReason(kubelet.podStatus(uid), container)
      throw new Refused(400, `${where} is waiting to start: ${reason}`)
    }
    const { id, logPath } = status
    const isRunning = () => own().some((one) => one.id === id && (one.state === 'running' || one.state === 'created'))
    const chunks = readLog(
      { clock: runtime.clock, path: logPath, isRunning, signal: request.signal },
      logOptions(request.query, runtime.clock.now()),
    )
    return { kind: 'stream', status: 200, contentType: 'text/plain', chunks }
  }

  async function session(
    request: ApiRequest,
    kind: 'exec' | 'attach' | 'portForward',
    path: readonly string[],
  ): Promise<ApiResponse> {
    const [namespace = '', name = ''] = path
    const found = find(namespace, name)
    if (found === undefined) throw new Refused(404, 'pod does not exist\n')
    const runtimeStatus = found.kubelet.runtimeStatus(uidOf(found.pod))
    const asked = sessionOf(kind, request.query, path.at(-1) ?? '', runtimeStatus)
    const real = containerRuntime.real
    if (real === undefined) throw new Refused(501, 'this node runs no containers\n')
    const url = new URL(await real.session(asked))
    const backend = createHttpsClient({ server: url.origin, insecureSkipTlsVerify: true })
    const headers: Record<string, string> = {}
    for (const [key, value] of Object.entries(request.headers))
      if (value !== undefined && !NOT_PASSED.has(key) && !key.startsWith(':')) headers[key] = value
    const upstream = await backend.upgrade({
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers,
      signal: request.signal,
    })
    if (!('socket' in upstream)) {
      const said = Buffer.from(await upstream.bytes()).toString()
      throw new Refused(upstream.status, said)
    }
    return {
      kind: 'upgrade',
      status: 101,
      takeOver: (socket, head) => void passUpgrade(runtime.clock, socket as Duplex, head, upstream),
    }
  }
}

/** What is this connection's own. */
const NOT_PASSED = new Set(['authorization', 'host', 'content-length', 'transfer-encoding'])

type RuntimeStatus = ReturnType<Kubelet['runtimeStatus']>

function sessionOf(
  kind: 'exec' | 'attach' | 'portForward',
  query: URLSearchParams,
  container: string,
  status: RuntimeStatus,
): SessionRequest {
  if (kind === 'portForward') {
    const sandbox = latestSandbox(status)
    if (sandbox === undefined || sandbox.state !== 'ready') throw new Refused(500, 'sandbox is not running\n')
    return { kind, podSandboxId: sandbox.id, ports: query.getAll('port').map(Number) }
  }
  const latest = latestContainer(status, container)
  if (latest === undefined || latest.state !== 'running')
    throw new Refused(500, `container not found (${JSON.stringify(container)})\n`)
  const has = (name: string) => query.get(name) === '1' || query.get(name) === 'true'
  const tty = has('tty')
  const streams = {
    containerId: latest.id,
    tty,
    stdin: has('input') || has('stdin'),
    stdout: has('output') || has('stdout'),
    // A terminal has one stream for both.
    stderr: !tty && (has('error') || has('stderr')),
  }
  if (!streams.stdin && !streams.stdout && !streams.stderr)
    throw new Refused(400, 'you must specify at least 1 of stdin, stdout, stderr\n')
  return kind === 'exec' ? { kind, command: query.getAll('command'), ...streams } : { kind, ...streams }
}

function waitingReason(status: ReturnType<Kubelet['podStatus']>, container: string): string {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  const { waiting } = all.find(({ name }) => name === container)?.state ?? {}
  const said = waiting?.message === undefined ? '' : waiting.message
  return said !== '' && waiting?.reason !== 'ContainerCreating' && waiting?.reason !== 'PodInitializing'
    ? said
    : (waiting?.reason ?? 'ContainerCreating')
}

/** @throws Refused for what is no number or time */
function logOptions(query: URLSearchParams, now: number): LogOptions {
  const number = (name: string): number | undefined => {
    const value = query.get(name)
    if (value === null || value === '') return undefined
    if (!/^\d{1,15}$/.test(value)) throw new Refused(400, `${name}: invalid value ${JSON.stringify(value)}\n`)
    return Number(value)
  }
  const tailLines = number('tailLines')
  const limitBytes = number('limitBytes')
  const sinceSeconds = number('sinceSeconds')
  const sinceTime = query.get('sinceTime')
  const since = sinceSeconds === undefined ? (sinceTime ? Date.parse(sinceTime) : undefined) : now - sinceSeconds * 1000
  if (Number.isNaN(since)) throw new Refused(400, `sinceTime: invalid value ${JSON.stringify(sinceTime)}\n`)
  const stream = query.get('stream')
  return {
    follow: query.get('follow') === 'true',
    timestamps: query.get('timestamps') === 'true',
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(since === undefined ? {} : { since }),
    ...(stream === 'Stdout' ? { stream: 'stdout' as const } : stream === 'Stderr' ? { stream: 'stderr' as const } : {}),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refused(400, 'the path cannot be read\n')
  }
}
