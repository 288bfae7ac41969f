/** One call of a webhook: the AdmissionReview that is sent, and what may be made of the answer (admission.k8s.io/v1). */
import type { Fields, Json, KubeObject } from '../../../api/object.ts'
import type { UserInfo } from '../../../api/request.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { internalError, StatusError } from '../../../api/status.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { createHttpsClient, type HttpsClient } from '../../../http/client.ts'
import type { AdmissionAttributes, CacheReads } from '../plugin.ts'
import { endpointOf, type WebhookEndpoint } from './endpoint.ts'
import { networkError } from './network-error.ts'

export interface WebhookAnswer {
  readonly allowed: boolean
  readonly patch: Json | undefined
  readonly status: Fields | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** What is sent of a request, in the version the webhook's rules name. */
export interface Reviewed {
  readonly row: ResourceRow
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

export interface WebhookCaller {
  /** @throws Error: the webhook could not be asked, or its answer is none */
  call(hook: Fields, review: Fields, uid: string, mayPatch: boolean): Promise<WebhookAnswer>
}

const MAX_ANSWER_BYTES = 7 * 1024 * 1024
/** Connections of so many webhooks are kept. */
const MAX_CLIENTS = 200

export const user = ({ name, uid, groups, extra }: UserInfo) => ({
  username: name,
  ...(uid ? { uid } : {}),
  ...(groups.length > 0 ? { groups } : {}),
  ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
})

const kindOf = ({ group, version, kind }: ResourceRow, subresource: string, row: ResourceRow) => {
  const sub = subresource === '' ? undefined : row.subresources.find((candidate) => candidate.name === subresource)
  return sub !== undefined && sub.kind !== kind
    ? { group: sub.group, version: sub.version, kind: sub.kind }
    : { group, version, kind }
}

export function reviewOf(attributes: AdmissionAttributes, { row, object, oldObject }: Reviewed, uid: string): Fields {
  const { subresource, name, namespace, operation, dryRun, options } = attributes
  const resource = ({ group, version, resource }: ResourceRow) => ({ group, version, resource })
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: kindOf(row, subresource, row),
      resource: resource(row),
      ...(subresource === '' ? {} : { subResource: subresource }),
      requestKind: kindOf(attributes.row, subresource, attributes.row),
      requestResource: resource(attributes.row),
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: user(attributes.user),
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun,
      options: optionsOf(operation, options),
    },
  }
}

/** What the request's options are to a webhook: a patch is an update, or a create where it makes the object. */
function optionsOf(operation: string, options: Readonly<Record<string, unknown>>): Fields | null {
  const { kind: _, apiVersion: _v, force: _f, ...rest } = options
  if (operation === 'CONNECT') return Object.keys(options).length === 0 ? null : options
  const name = operation[0] + operation.slice(1).toLowerCase()
  return { kind: `${name}Options`, apiVersion: 'meta.k8s.io/v1', ...rest }
}

export function createWebhookCaller(runtime: Runtime, reads: CacheReads): WebhookCaller {
  const clients = new Map<string, HttpsClient>()
  const clientOf = ({ server, ca, serverName }: WebhookEndpoint): HttpsClient => {
    const key = JSON.stringify([server, ca, serverName])
    const known = clients.get(key)
    if (known !== undefined) return known
    if (clients.size >= MAX_CLIENTS) {
      const [oldest] = clients.keys()
      clients.get(oldest as string)?.close()
      clients.delete(oldest as string)
    }
    // A name in the handshake is a host's, never an address.
    const named = /[a-z]/i.test(serverName) && !serverName.includes(':')
    const client = createHttpsClient({ server, ...(ca === undefined ? {} : { ca }), ...(named ? { serverName } : {}) })
    clients.set(key, client)
    return client
  }
  return {
    async call(hook, review, uid, mayPatch) {
      const timeoutSeconds: number = hook['timeoutSeconds'] ?? 10
      const config: Fields = hook['clientConfig'] ?? {}
      const timeout = new AbortController()
      const timer = runtime.clock.setTimer(timeoutSeconds * 1000, 'webhook', () => timeout.abort())
      const url = urlOf(config, timeoutSeconds)
      try {
        const endpoint = endpointOf(config, timeoutSeconds, reads)
        const answer = await clientOf(endpoint).send({
          method: 'POST',
          path: endpoint.path,
          headers: {
            accept: 'application/json, */*',
            'content-type': 'application/json',
            'user-agent': 'kube-apiserver-admission',
          },
          body: JSON.stringify(review),
          signal: timeout.signal,
        })
        const text = await limited(answer.chunks())
        if (answer.status !== 200) throw new Failure(`failed to call webhook: ${rejected(answer.status)}`)
        return parseAnswer(text, String(answer.headers['content-type'] ?? ''), uid, mayPatch)
      } catch (error) {
        if (error instanceof StatusError) throw error
        if (error instanceof Failure) throw new Error(error.message)
        throw new Error(
          `failed to call webhook: Post ${JSON.stringify(url)}: ${networkError(error, timeout.signal.aborted, config)}`,
          { cause: error },
        )
      } finally {
        timer.cancel()
      }
    },
  }
}

/** An answer came, and is none. */
class Failure extends Error {}

function urlOf(config: Fields, timeoutSeconds: number): string {
  const service: Fields | undefined = config['service']
  const base = service
    ? `https://${service['name']}.${service['namespace']}.svc:${service['port'] ?? 443}/${String(service['path'] ?? '').replace(/^\//, '')}`
    : String(config['url'] ?? '')
  return `${base}${base.includes('?') ? '&' : '?'}timeout=${timeoutSeconds}s`
}

async function limited(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > MAX_ANSWER_BYTES)
      throw new Failure(`failed to call webhook: received response larger than ${MAX_ANSWER_BYTES} bytes`)
    parts.push(chunk)
  }
  return Buffer.concat(parts).toString('utf8')
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  403: 'unknown',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  413: 'Request entity too large: limit is 3145728',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
}

/** What a client makes of an answer that is an error without a Status. */
function rejected(code: number): string {
  const words = STATUS_WORDS[code]
  if (words !== undefined) return words
  if (code >= 500) return 'an error on the server ("unknown") has prevented the request from succeeding'
  return `the server responded with the status code ${code} but did not return more information`
}

const INVALID = 'received invalid webhook response'

function parseAnswer(text: string, contentType: string, uid: string, mayPatch: boolean): WebhookAnswer {
  if (text === '')
    throw new Failure(
      `failed to call webhook: 0-length response with status code: 200 and content type: ${contentType}`,
    )
  const review = parsedObject(text)
  const { apiVersion = '', kind = '', response } = review
  if (kind !== 'AdmissionReview' || !String(apiVersion).startsWith('admission.k8s.io/'))
    throw new Failure(
      `failed to call webhook: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  if (apiVersion !== 'admission.k8s.io/v1')
    throw new Failure(
      `failed to call webhook: converting (${apiVersion.split('/')[1]}.AdmissionReview) to (v1.AdmissionReview): unknown conversion`,
    )
  if (!response) throw new Failure(`${INVALID}: webhook response was absent`)
  if (response.uid !== uid)
    throw new Failure(
      `${INVALID}: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`,
    )
  return {
    allowed: response.allowed === true,
    patch: patchOf(response, mayPatch),
    status: response.status,
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
    auditAnnotations: response.auditAnnotations ?? {},
  }
}

function parsedObject(text: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Anything else is YAML to the decoder, and a bare word a string.
    value = text
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw new Failure(
    `failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal ${kind} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  )
}

/** The operations; undefined when there are none. */
function patchOf({ patch, patchType }: Fields, mayPatch: boolean): Json | undefined {
  const has = typeof patch === 'string' && patch !== ''
  if (!mayPatch) {
    if (has) throw new Failure(`${INVALID}: validating webhook may not return response.patch`)
    if (patchType) throw new Failure(`${INVALID}: validating webhook may not return response.patchType`)
    return undefined
  }
  if (has && !patchType) throw new Failure(`${INVALID}: webhook returned response.patch but not response.patchType`)
  if (!has && patchType) throw new Failure(`${INVALID}: webhook returned response.patchType but not response.patch`)
  if (!has) return undefined
  let operations: Json
  try {
    operations = JSON.parse(Buffer.from(patch, 'base64').toString('utf8'))
  } catch (error) {
    throw internalError(error)
  }
  if (Array.isArray(operations) && operations.length === 0) return undefined
  if (patchType !== 'JSONPatch') throw internalError(new Error(`unsupported patch type ${JSON.stringify(patchType)}`))
  return operations
}

/** The refusal of a webhook: at least a 400, in its own words where it has any. */
export function denial(name: string, status: Fields | undefined): StatusError {
  const code = typeof status?.['code'] === 'number' && status['code'] >= 400 ? status['code'] : 400
  const by = `admission webhook ${JSON.stringify(name)} denied the request`
  const reason: string = status?.['reason'] ?? ''
  const said: string = status?.['message'] || reason
  return new StatusError(
    code,
    reason,
    said === '' ? `${by} without explanation` : `${by}: ${said}`,
    status?.['details'],
  )
}
