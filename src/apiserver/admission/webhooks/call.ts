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
  call(hook: Fields, review: Fields, uid: string): Promise<WebhookAnswer>
}

const MAX_ANSWER_BYTES = 7 * 1024 * 1024
/** Connections of so many webhooks are kept. */
const MAX_CLIENTS = 200

const user = ({ name, uid, groups, extra }: UserInfo) => ({
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
      options: Object.keys(options).length === 0 ? null : options,
    },
  }
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
    async call(hook, review, uid) {
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
        if (answer.status !== 200) throw new Failure(rejected(answer.status, text))
        return parseAnswer(text, uid)
      } catch (error) {
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

/** What a client makes of an answer that is an error without a Status. */
function rejected(code: number, text: string): string {
  const known: Readonly<Record<number, string>> = {
    400: 'the server rejected our request for an unknown reason',
    401: 'the server has asked for the client to provide credentials',
    404: 'the server could not find the requested resource',
    405: 'the server does not allow this method on the requested resource',
    409: 'the server reported a conflict',
    413: 'Request entity too large: limit is 3145728',
    429: 'the server has received too many requests and has asked us to try again later',
  }
  if (code === 403) return `failed to call webhook: ${text === '' ? 'unknown' : text.slice(0, 2048)}`
  const words = known[code]
  if (words !== undefined) return `failed to call webhook: ${words}`
  if (code >= 500)
    return `failed to call webhook: an error on the server (${JSON.stringify(text === '' ? 'unknown' : text.trim().slice(0, 2048))}) has prevented the request from succeeding`
  return `failed to call webhook: the server responded with the status code ${code} but did not return more information`
}

function parseAnswer(text: string, uid: string): WebhookAnswer {
  let review: Fields
  try {
    review = JSON.parse(text)
  } catch (error) {
    throw new Failure(
      `failed to call webhook: couldn't get version/kind; json parse error: ${(error as Error).message}`,
    )
  }
  const { apiVersion = '', kind = '', response } = review ?? {}
  if (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1') {
    const [group, version] = String(apiVersion).includes('/') ? String(apiVersion).split('/') : ['', String(apiVersion)]
    throw new Failure(
      `received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${group ? `${group}/${version}` : `/${version}`}, Kind=${kind}`,
    )
  }
  if (!response) throw new Failure('webhook response was absent')
  if (response.uid !== uid)
    throw new Failure(
      `received invalid webhook response: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`,
    )
  return {
    allowed: response.allowed === true,
    patch: patchOf(response),
    status: response.status,
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
    auditAnnotations: response.auditAnnotations ?? {},
  }
}

function patchOf({ patch, patchType }: Fields): Json | undefined {
  const has = typeof patch === 'string' && patch !== ''
  if (has && patchType === undefined)
    throw new Failure('received invalid webhook response: webhook returned response.patch but not response.patchType')
  if (!has && patchType)
    throw new Failure('received invalid webhook response: webhook returned response.patchType but not response.patch')
  if (!has) return undefined
  if (patchType !== 'JSONPatch')
    throw new Failure(
      `received invalid webhook response: webhook returned invalid response.patchType of ${JSON.stringify(patchType)}`,
    )
  try {
    return JSON.parse(Buffer.from(patch, 'base64').toString('utf8'))
  } catch (error) {
    throw internalError(error)
  }
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
