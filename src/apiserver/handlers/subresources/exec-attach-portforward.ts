/**
 * exec, attach and port-forward of a pod: the request goes on to the kubelet of the pod's node, and from then on this server joins
 * the two connections. Clients speak SPDY/3.1 or WebSocket. What they speak is passed on as it is, but for the newest subprotocols of
 * WebSocket: kubelets that do not declare that they speak them are asked by SPDY/3.1 (API concept: KEP-4006, from SPDY to WebSockets).
 */

import type { Duplex } from 'node:stream'
import type { Node, Pod } from '../../../api/generated/types.ts'
import type { ApiRequest, ApiResponse } from '../../../api/request.ts'
import { badRequest, internalError, notFound, StatusError, serviceUnavailable } from '../../../api/status.ts'
import { subprotocolsOf } from '../../../http/channels.ts'
import type { HttpsAnswer, Upgraded } from '../../../http/client.ts'
import { limitedBytes } from '../../../http/fetch.ts'
import { passUpgrade } from '../../../http/join.ts'
import { networkError } from '../../../http/network-error.ts'
import {
  COMMAND_PROTOCOLS,
  FORWARD_PROTOCOL,
  spdyHeaders,
  TRANSLATED,
  TUNNELED,
} from '../../../http/session-protocols.ts'
import { answeringPings } from '../../../http/spdy/answered-pings.ts'
import { asksForWebSocket } from '../../../http/websocket.ts'
import { type KubeletLocation, unanswered } from '../../nodes/kubelets.ts'
import { asksForUpgrade, passedHeaders } from '../../nodes/passed-headers.ts'
import type { ResourceHandler, ResourceRequest } from '../context.ts'
import { containerOf, nodeOfPod } from './pod-location.ts'
import {
  admitConnect,
  kubeletTarget,
  optionsOfSession,
  refuseDryRun,
  type SessionOptions,
  sessionOptions,
} from './session-options.ts'

/** Of an answer that has no use: a connection with more of it is closed. */
const MAX_UNASKED_BYTES = 64 * 1024

export type SessionKind = 'exec' | 'attach' | 'portforward'

export const connectSession: ResourceHandler = async (resource) => {
  refuseDryRun(resource.request)
  const { context, request, info, subresource } = resource
  const kind = subresource?.name as SessionKind
  const options = sessionOptions(request.query)
  await admitConnect(resource, optionsOfSession(kind, options))
  const pod = context.reads.get<Pod>('', 'pods', info.namespace, info.name)
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, info.name)
  const container = kind === 'portforward' ? '' : containerOf(pod, options.container)
  const location = kubeletOf(resource, pod)
  if (!asksForUpgrade(request)) throw badRequest('Upgrade request required')
  const target = kubeletTarget(kind, { namespace: info.namespace, pod: info.name, container }, options)
  const session: Session = { resource, kind, location, target, options }
  if (asksForWebSocket(request) && !speaksNewest(nodeOfPod(context.reads, pod))) {
    const protocols = subprotocolsOf(request)
    if (kind === 'portforward' && protocols.includes(TUNNELED)) return tunneled(session)
    if (kind !== 'portforward' && protocols.includes(TRANSLATED)) return translated(session)
  }
  return passed(session)
}

/** Whether the kubelet itself speaks those subprotocols of WebSocket that older ones have to be asked for by SPDY. */
const speaksNewest = ({ status }: Node): boolean =>
  status?.declaredFeatures?.includes('ExtendWebSocketsToKubelet') === true

interface Session {
  readonly resource: ResourceRequest
  readonly kind: SessionKind
  readonly location: KubeletLocation
  readonly target: string
  readonly options: SessionOptions
}

/** @throws StatusError 400, 404 and 500 for a node that is not known, 503 for one that has nothing to be reached */
export function kubeletOf({ context }: ResourceRequest, pod: Pod, insecure = false): KubeletLocation {
  const node = nodeOfPod(context.reads, pod)
  const location = context.kubelets.locate(node, { insecure })
  if (!context.kubelets.answers(node)) throw serviceUnavailable(unanswered(node))
  return location
}

/** The kubelet speaks the client's own protocol. What it says instead of 101 is the answer. */
async function passed(session: Session): Promise<ApiResponse> {
  const { request, context } = session.resource
  const upstream = await asked(session, request, passedHeaders(request, { upgrade: true }))
  if (!('socket' in upstream)) return answered(upstream)
  const { machineClock } = context.runtime
  // Here too, for the sake of kubelets that pass pings on to their runtimes.
  const passed = session.kind === 'portforward' ? upstream : answeringPings(machineClock, upstream)
  return {
    kind: 'upgrade',
    status: 101,
    takeOver: (socket, head) => void passUpgrade(machineClock, socket as Duplex, head, passed),
  }
}

/** Bytes of SPDY in messages of a WebSocket: the kubelet gets them as they are. */
async function tunneled(session: Session): Promise<ApiResponse> {
  const { request } = session.resource
  const upstream = await asked(
    session,
    request,
    spdyHeaders(passedHeaders(request, { upgrade: true }), FORWARD_PROTOCOL),
  )
  if (!('socket' in upstream)) return answered(upstream)
  return {
    kind: 'upgrade',
    status: 101,
    takeOver: (socket, head) => {
      void import('../../../http/session-websocket.ts').then(({ tunnel }) =>
        tunnel(clientOf(session), { socket: socket as Duplex, head }, upstream),
      )
    },
  }
}

/** Channels of a WebSocket become streams of SPDY. The WebSocket comes first: what goes wrong after it is told on its error channel. */
function translated(session: Session): ApiResponse {
  const { resource, options } = session
  const { request } = resource
  return {
    kind: 'upgrade',
    status: 101,
    takeOver: (socket, head) => {
      void import('../../../http/session-websocket.ts').then(({ translate }) =>
        translate(clientOf(session), { socket: socket as Duplex, head }, options, () =>
          asked(session, request, spdyHeaders(passedHeaders(request, { upgrade: true }), COMMAND_PROTOCOLS)),
        ),
      )
    },
  }
}

const clientOf = ({ resource: { request, context } }: Session) => ({
  request,
  machineClock: context.runtime.machineClock,
})

/** @throws StatusError 500 when the kubelet cannot be reached */
async function asked(
  { location, target, resource }: Session,
  { method, signal }: ApiRequest,
  headers: Record<string, string>,
): Promise<Upgraded | HttpsAnswer> {
  try {
    // The kubelet takes both methods alike, and a body is none of either.
    return await location.client.upgrade({ method, path: target, headers, signal })
  } catch (error) {
    const attempt = {
      endpoint: { server: location.server, serverName: location.host, ca: undefined },
      nowMs: resource.context.runtime.clock.now(),
      timeout: signal,
    }
    throw internalError(new Error(`error dialing backend: ${await networkError(error, attempt)}`))
  }
}

/** What the kubelet says instead of changing protocols. @throws StatusError 500 when that is no refusal: redirects are not followed */
function answered({ status, headers, chunks }: HttpsAnswer): ApiResponse {
  if (status < 400) {
    limitedBytes(chunks(), MAX_UNASKED_BYTES).catch(() => {})
    throw new StatusError(500, '', `invalid upgrade response: status code ${status}`)
  }
  const contentType = String(headers['content-type'] ?? 'text/plain; charset=utf-8')
  return { kind: 'stream', status, contentType, chunks: chunks() }
}
