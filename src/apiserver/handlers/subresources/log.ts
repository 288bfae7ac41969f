/** GET pods/NAME/log: the kubelet of the pod's node is asked, and what it sends passed on as it comes (API concept: PodLogOptions). */
import type { KubeObject } from '../../../api/object.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { badRequest, internalError, notFound, StatusError } from '../../../api/status.ts'
import { type FieldError, forbiddenField, invalid, invalidError } from '../../../api/validation/errors.ts'
import type { HttpsAnswer } from '../../../http/client.ts'
import { limitedBytes } from '../../../http/fetch.ts'
import { isSimulatedNode, type KubeletLocation } from '../../nodes/kubelets.ts'
import { networkError } from '../../webhooks/network-error.ts'
import type { ResourceHandler, ResourceRequest } from '../context.ts'
import { int64Parameter } from '../options.ts'
import { containerOf, nodeOf } from './pod-location.ts'
import { isOn } from './session-options.ts'

/** Of what a kubelet says instead of a log. */
const MAX_REFUSAL_BYTES = 50_000

export const getLog: ResourceHandler = async (resource) => {
  const { context, info, request } = resource
  checkOptions(request.query, info.name)
  const pod = context.reads.get('', 'pods', info.namespace, info.name)
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, info.name)
  const container = containerOf(pod, request.query.get('container') ?? '')
  // Nothing has run yet, so nothing was written.
  if ((pod['spec']?.nodeName ?? '') === '') return { kind: 'bytes', status: 204, contentType: '', bytes: [] }
  return logOf(resource, locate(resource, pod), target(resource, container))
}

function locate({ context, request }: ResourceRequest, pod: KubeObject): KubeletLocation {
  const node = nodeOf(context.reads, pod)
  const name = node.metadata.name ?? ''
  const location = context.kubelets.locate(node, { insecure: isOn(request.query, 'insecureSkipTLSVerifyBackend') })
  if (!isSimulatedNode(node)) return location
  // Not 503, on which clients ask again and again.
  const message = `the logs of node ${name} cannot be read from this server: simulated containers write none`
  throw new StatusError(501, 'NotImplemented', message)
}

/** The path and query by which a kubelet is asked for the log. */
function target({ info, request }: ResourceRequest, container: string): string {
  const query = new URLSearchParams()
  for (const name of ['follow', 'previous', 'timestamps']) if (isOn(request.query, name)) query.set(name, 'true')
  for (const name of ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes', 'stream']) {
    const value = request.query.get(name)
    if (value !== null && value !== '') query.set(name, value)
  }
  if (query.get('stream') === 'All') query.delete('stream')
  query.sort()
  const path = `/containerLogs/${info.namespace}/${info.name}/${encodeURIComponent(container)}`
  return query.size === 0 ? path : `${path}?${query}`
}

async function logOf(
  { context, request, info }: ResourceRequest,
  location: KubeletLocation,
  path: string,
): Promise<ApiResponse> {
  let answer: HttpsAnswer
  try {
    answer = await location.client.send({ method: 'GET', path, signal: request.signal })
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
  return { kind: 'stream', status: 200, contentType: 'text/plain', chunks: answer.chunks() }
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
    errors.push(forbiddenField('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (seconds !== undefined && seconds < 1) errors.push(invalid('sinceSeconds', seconds, 'must be greater than 0'))
  if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, name, errors)
}
