/**
 * exec, attach and port-forward at a kubelet: the container runtime's own streaming server speaks, and this joins the two connections. Where
 * containers are simulated the kubelet speaks itself.
 */
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Runtime } from '../../base/runtime.ts'
import { subprotocolsOf } from '../../http/channels.ts'
import { createHttpsClient } from '../../http/client.ts'
import { passUpgrade } from '../../http/join.ts'
import { COMMAND_PROTOCOLS, FORWARD_PROTOCOL, spdyHeaders, TRANSLATED, TUNNELED } from '../../http/session-protocols.ts'
import { answeringPings } from '../../http/spdy/answered-pings.ts'
import { asksForWebSocket } from '../../http/websocket.ts'
import type { Kubelet } from '../kubelet.ts'
import { ephemeralContainersOf, initContainersOf, nameOf, namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'
import { latestContainer, latestSandbox } from '../pod-cache.ts'
import type { RealRuntime, SessionRequest } from '../runtimes/runtime.ts'
import type { PodOfKubelet } from './container-logs.ts'
import { NOSNIFF } from './paths.ts'
import { Refused } from './refused.ts'
import { remotePortForward } from './remote-port-forward.ts'
import { simulatedCommand } from './simulated-session.ts'

/** @throws Refused */
export async function session(
  runtime: Runtime,
  find: () => PodOfKubelet,
  request: ApiRequest,
  kind: SessionRequest['kind'],
  container: string,
): Promise<ApiResponse> {
  const streams = kind === 'portForward' ? undefined : streamsOf(request.query)
  const { kubelet, pod } = find()
  const asked = sessionOf(kind, request.query, streams, pod, container, kubelet.runtimeStatus(uidOf(pod)))
  if (!/upgrade/i.test(request.headers['connection'] ?? ''))
    throw new Refused(500, 'Upgrade request required\n', NOSNIFF)
  const { real, simulated } = kubelet.containerRuntime
  if (simulated !== undefined && asked.kind === 'portForward')
    return remotePortForward(runtime.machineClock, request, asked.ports, (port, signal) =>
      simulated.connect(asked.podSandboxId, port, signal),
    )
  if (simulated !== undefined && asked.kind !== 'portForward')
    return simulatedCommand(runtime, simulated, asked, request)
  if (real === undefined) throw new Refused(501, 'this node runs no containers\n')
  return joined(runtime, real, asked, request)
}

async function joined(
  runtime: Runtime,
  real: RealRuntime,
  asked: SessionRequest,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { machineClock } = runtime
  const client = { request, machineClock }
  const protocols = asksForWebSocket(request) ? subprotocolsOf(request) : []
  if (asked.kind !== 'portForward' && protocols.includes(TRANSLATED)) {
    const { translate } = await import('../../http/session-websocket.ts')
    return switched((socket, head) =>
      translate(client, { socket, head }, asked, () => connected(real, asked, request, COMMAND_PROTOCOLS)),
    )
  }
  const isTunnel = asked.kind === 'portForward' && protocols.includes(TUNNELED)
  const upstream = await connected(real, asked, request, isTunnel ? FORWARD_PROTOCOL : undefined)
  if (!('socket' in upstream)) throw new Refused(upstream.status, Buffer.from(await upstream.bytes()).toString())
  if (isTunnel) {
    const { tunnel } = await import('../../http/session-websocket.ts')
    return switched((socket, head) => tunnel(client, { socket, head }, upstream))
  }
  // A runtime ends the sessions of commands by itself; those of port-forward their client ends.
  const passed = asked.kind === 'portForward' ? upstream : answeringPings(machineClock, upstream)
  return switched((socket, head) => passUpgrade(machineClock, socket, head, passed))
}

const switched = (serve: (socket: Duplex, head: Uint8Array) => unknown): ApiResponse => ({
  kind: 'upgrade',
  status: 101,
  takeOver: (socket, head) => void serve(socket as Duplex, head),
})

/** At the runtime's streaming server. `spdy`: the protocols to ask it for by SPDY/3.1; undefined: what the client asks for. */
async function connected(real: RealRuntime, asked: SessionRequest, request: ApiRequest, spdy: string | undefined) {
  const url = new URL(await real.session(asked))
  const backend = createHttpsClient({ server: url.origin, insecureSkipTlsVerify: true })
  const headers: Record<string, string> = {}
  for (const [key, value] of Object.entries(request.headers))
    if (value !== undefined && !NOT_PASSED.has(key) && !key.startsWith(':')) headers[key] = value
  return backend.upgrade({
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: spdy === undefined ? headers : spdyHeaders(headers, spdy),
    signal: request.signal,
  })
}

/** What is this connection's own. */
const NOT_PASSED = new Set(['authorization', 'host', 'content-length', 'transfer-encoding'])

type RuntimeStatus = ReturnType<Kubelet['runtimeStatus']>

function sessionOf(
  kind: 'exec' | 'attach' | 'portForward',
  query: URLSearchParams,
  streams: Streams | undefined,
  pod: Pod,
  container: string,
  status: RuntimeStatus,
): SessionRequest {
  if (streams === undefined || kind === 'portForward') {
    const sandbox = latestSandbox(status)
    if (sandbox === undefined || sandbox.state !== 'ready') throw new Refused(500, 'sandbox is not running')
    return {
      kind: 'portForward',
      podSandboxId: sandbox.id,
      ports: query.getAll('port').flatMap((text) => text.split(',').map(Number)),
    }
  }
  const latest = latestContainer(status, container)
  if (latest === undefined || latest.state !== 'running')
    throw new Refused(
      500,
      kind === 'exec'
        ? `container not found (${JSON.stringify(container)})`
        : `container ${container} not found in pod ${nameOf(pod)}_${namespaceOf(pod)}`,
    )
  const asked = { containerId: latest.id, ...streams }
  if (kind === 'exec') return { kind, command: query.getAll('command'), ...asked }
  // Whether it has a terminal was settled when it started, and does not depend on what is asked for.
  const all = [...specOf(pod).containers, ...initContainersOf(pod), ...ephemeralContainersOf(pod)]
  return { kind, ...asked, tty: all.some(({ name, tty }) => name === container && tty === true) }
}

type Streams = Omit<Extract<SessionRequest, { readonly kind: 'attach' }>, 'kind' | 'containerId'>

/** By the names that kubelets have for them, which are not those of the API server. @throws Refused */
export function streamsOf(query: URLSearchParams): Streams {
  const has = (name: string) => query.get(name) === '1'
  const tty = has('tty')
  const stdin = has('input')
  const stdout = has('output')
  // A terminal has one stream for both.
  const stderr = !tty && has('error')
  if (!stdin && !stdout && !stderr) throw new Refused(400, 'you must specify at least 1 of stdin, stdout, stderr')
  return { tty, stdin, stdout, stderr }
}
