/** GET pods/NAME/log: the kubelet of the pod's node is asked, and what it sends passed on as it comes (API concept: PodLogOptions). */

import type { Duplex } from 'node:stream'
import { type FieldError, forbiddenField, invalid, invalidError } from '../../../api/errors/field-errors.ts'
import type { Pod } from '../../../api/generated/types.ts'
import type { ApiRequest, ApiResponse } from '../../../api/request.ts'
import { badRequest, internalError, notFound, StatusError } from '../../../api/status.ts'
import { acceptMessages, type MessagePeer, subprotocolsOf } from '../../../http/channels.ts'
import type { HttpsAnswer } from '../../../http/client.ts'
import { limitedBytes } from '../../../http/fetch.ts'
import { networkError } from '../../../http/network-error.ts'
import { asksForWebSocket } from '../../../http/websocket.ts'
import { type KubeletLocation, unanswered } from '../../nodes/kubelets.ts'
import type { ResourceHandler, ResourceRequest } from '../context.ts'
import { int64Parameter } from '../options.ts'
import { containerOf, nodeOfPod } from './pod-location.ts'
import { isOn } from './session-options.ts'

/** So much is read of a kubelet's error answer to a request for a log. */
const MAX_REFUSAL_BYTES = 50_000

export const getLog: ResourceHandler = async (resource) => {
  const { context, info, request } = resource
  checkOptions(request.query, info.name)
  const pod = context.reads.get<Pod>('', 'pods', info.namespace, info.name)
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, info.name)
  const container = containerOf(pod, request.query.get('container') ?? '')
  // Nothing has run yet, so nothing was written.
  if ((pod.spec?.nodeName ?? '') === '') return { kind: 'bytes', status: 204, contentType: '', bytes: [] }
  return logOf(resource, locate(resource, pod), target(resource, container))
}

function locate({ context, request }: ResourceRequest, pod: Pod): KubeletLocation {
  const node = nodeOfPod(context.reads, pod)
  const location = context.kubelets.locate(node, { insecure: isOn(request.query, 'insecureSkipTLSVerifyBackend') })
  if (context.kubelets.answers(node)) return location
  // Not 503, on which clients ask again and again.
  throw new StatusError(501, 'NotImplemented', unanswered(node))
}

/** The path and query by which a kubelet is asked for the log. */
function target({ info, request }: ResourceRequest, container: string): string {
  const query = new URLSearchParams()
  for (const name of ['follow', 'previous', 'timestamps']) if (isOn(request.query, name)) query.set(name, 'true')
  for (const name of ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes']) {
    const value = request.query.get(name)
    if (value !== null && value !== '') query.set(name, value)
  }
  query.sort()
  const path = `/containerLogs/${info.namespace}/${info.name}/${encodeURIComponent(container)}`
  return query.size === 0 ? path : `${path}?${query}`
}

async function logOf(
  { context, request, info }: ResourceRequest,
  location: KubeletLocation,
  path: string,
): Promise<ApiResponse> {
  const protocol = asksForWebSocket(request) ? logProtocolOf(request) : undefined
  const gone = new AbortController()
  let answer: HttpsAnswer
  try {
    const signal = protocol === undefined ? request.signal : AbortSignal.any([request.signal, gone.signal])
    answer = await location.client.send({ method: 'GET', path, signal })
  } catch (error) {
    const attempt = {
      endpoint: { server: location.server, serverName: location.host, ca: undefined },
      nowMs: context.runtime.clock.now(),
      timeout: request.signal,
    }
    const reason = await networkError(error, attempt)
    throw internalError(new Error(`Get ${JSON.stringify(location.server + path)}: ${reason}`))
  }
  if (answer.status < 200 || answer.status > 206) throw await refusalOf(answer, info.name)
  if (protocol === undefined) return { kind: 'stream', status: 200, contentType: 'text/plain', chunks: answer.chunks() }
  return {
    kind: 'upgrade',
    status: 101,
    takeOver: (socket, head) => {
      void acceptMessages(request, socket as Duplex, head, protocol).then(
        (peer) => sendLog(peer, answer, protocol, gone),
        () => gone.abort(),
      )
    },
  }
}

const BASE64 = 'base64.binary.k8s.io'
/** Without a subprotocol messages are as in the first of them. */
const LOG_PROTOCOLS = ['binary.k8s.io', BASE64]

/** @throws StatusError 400 for a WebSocket of other subprotocols */
function logProtocolOf(request: ApiRequest): string {
  const asked = subprotocolsOf(request)
  const protocol = asked.length === 0 ? '' : asked.find((one) => LOG_PROTOCOLS.includes(one))
  if (protocol === undefined) throw badRequest(`requested protocol(s) are not supported: [${asked.join(' ')}]`)
  return protocol
}

/** The log in messages, an empty one first, by which the client sees that it is heard. */
async function sendLog(peer: MessagePeer, answer: HttpsAnswer, protocol: string, gone: AbortController): Promise<void> {
  peer.closed.addEventListener('abort', () => gone.abort(), { once: true })
  peer.onMessage(() => {})
  const send = (bytes: Uint8Array) =>
    protocol === BASE64 ? peer.sendText(Buffer.from(bytes).toString('base64')) : peer.send(bytes)
  try {
    await send(new Uint8Array())
    for await (const chunk of answer.chunks()) await send(chunk)
  } catch {
    // The kubelet has broken off, or the client has gone: the connection's end tells it.
  }
  peer.close()
}

/** What the kubelet says, as an error of the API. */
async function refusalOf(answer: HttpsAnswer, name: string): Promise<StatusError> {
  let text = ''
  try {
    text = Buffer.from(await limitedBytes(answer.chunks(), MAX_REFUSAL_BYTES)).toString()
  } catch {
    // Longer than a reason is: the code alone tells.
  }
  if (answer.status === 500) return internalError(new Error(text))
  if (answer.status === 400) return badRequest(text)
  const message = `the server could not find the requested resource ( pods/log ${name})`
  if (answer.status === 404) return new StatusError(404, 'NotFound', message, { name, kind: 'pods/log' })
  return new StatusError(answer.status, '', text)
}

/** @throws StatusError 422 for PodLogOptions that contradict themselves, 400 for what is no number */
function checkOptions(query: URLSearchParams, name: string): void {
  if (query.size === 0) return
  const errors: FieldError[] = []
  const tail = int64Parameter(query, 'tailLines')
  const bytes = int64Parameter(query, 'limitBytes')
  const seconds = int64Parameter(query, 'sinceSeconds')
  if (tail !== undefined && tail < 0) errors.push(invalid('tailLines', tail, 'must be greater than or equal to 0'))
  if (bytes !== undefined && bytes < 1) errors.push(invalid('limitBytes', bytes, 'must be greater than 0'))
  if (seconds !== undefined && query.has('sinceTime'))
    errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (seconds !== undefined && seconds < 1) errors.push(invalid('sinceSeconds', seconds, 'must be greater than 0'))
  // Its feature (PodLogsQuerySplitStreams) is off by default.
  if (query.has('stream')) errors.push(forbiddenField('stream', 'may not be specified'))
  if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, name, errors)
}
