/**
 * Conversion by webhook (API concept: versions in CustomResourceDefinitions): a batch of objects goes out as a
 * ConversionReview and comes back in the version wanted. What the webhook may not touch is held to what it was.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { internalError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { createHttpsClient, type HttpsClient } from '../../http/client.ts'
import type { CacheReads } from '../admission/plugin.ts'
import { endpointOf, type WebhookEndpoint } from '../admission/webhooks/endpoint.ts'
import { sameJson } from '../registry/same.ts'

const TIMEOUT_SECONDS = 30
const MAX_CLIENTS = 32
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** @throws StatusError 500 in Kubernetes' words when the webhook fails */
export type WebhookConversion = (
  row: ResourceRow,
  objects: readonly KubeObject[],
  apiVersion: string,
) => Promise<readonly KubeObject[]>

export function createWebhookConversion(runtime: Runtime, reads: CacheReads): WebhookConversion {
  const clients = new Map<string, HttpsClient>()

  function clientOf({ server, ca, serverName }: WebhookEndpoint): HttpsClient {
    const key = JSON.stringify([server, ca, serverName])
    const known = clients.get(key)
    if (known !== undefined) return known
    if (clients.size >= MAX_CLIENTS) {
      const [oldest] = clients.keys()
      clients.get(oldest as string)?.close()
      clients.delete(oldest as string)
    }
    const named = /[a-z]/i.test(serverName) && !serverName.includes(':')
    const client = createHttpsClient({ server, ...(ca === undefined ? {} : { ca }), ...(named ? { serverName } : {}) })
    clients.set(key, client)
    return client
  }

  async function ask(config: Fields, review: unknown): Promise<Fields> {
    const endpoint = endpointOf(config, TIMEOUT_SECONDS, reads)
    const timeout = new AbortController()
    const timer = runtime.clock.setTimer(TIMEOUT_SECONDS * 1000, 'conversion webhook', () =>
      timeout.abort(new Error('context deadline exceeded')),
    )
    try {
      const answer = await clientOf(endpoint).send({
        method: 'POST',
        path: endpoint.path,
        headers: { accept: 'application/json, */*', 'content-type': 'application/json' },
        body: JSON.stringify(review),
        signal: timeout.signal,
      })
      const parts: Uint8Array[] = []
      let size = 0
      for await (const chunk of answer.chunks()) {
        size += chunk.byteLength
        if (size > MAX_ANSWER_BYTES) throw new Error('the response is too large')
        parts.push(chunk)
      }
      if (answer.status !== 200) throw new Error(`the server answered with status ${answer.status}`)
      return JSON.parse(Buffer.concat(parts).toString('utf8')) as Fields
    } finally {
      timer.cancel()
    }
  }

  return async (row, objects, apiVersion) => {
    const wanted = objects.filter((object) => object.apiVersion !== apiVersion)
    if (wanted.length === 0) return objects
    const from = (wanted[0] as KubeObject).apiVersion
    const fail = (why: string, cause?: unknown) =>
      internalError(
        new Error(`conversion webhook for ${from}, Kind=${row.kind} failed: ${why}`, { cause: cause as Error }),
      )
    const definition = reads.get(
      'apiextensions.k8s.io',
      'customresourcedefinitions',
      '',
      `${row.resource}.${row.group}`,
    )
    const webhook: Fields | undefined = definition?.['spec']?.conversion?.webhook
    if (webhook === undefined) throw fail('the definition names no webhook')
    const versions: readonly string[] = webhook['conversionReviewVersions'] ?? []
    const reviewVersion = versions.find((version) => version === 'v1' || version === 'v1beta1') ?? 'v1'
    const uid = runtime.random.uuid()
    const review = {
      kind: 'ConversionReview',
      apiVersion: `apiextensions.k8s.io/${reviewVersion}`,
      request: { uid, desiredAPIVersion: apiVersion, objects: wanted },
    }
    let answer: Fields
    try {
      answer = await ask(webhook['clientConfig'] ?? {}, review)
    } catch (error) {
      throw fail(error instanceof Error ? error.message : String(error), error)
    }
    const converted = responseObjects(answer, uid, wanted.length)
    if (typeof converted === 'string') throw fail(converted)
    const next = converted.values()
    return objects.map((object) => {
      if (object.apiVersion === apiVersion) return object
      const checked = restored(object, next.next().value as unknown as KubeObject, apiVersion, row)
      if (typeof checked === 'string') throw fail(checked)
      return checked
    })
  }
}

function responseObjects(answer: Fields, uid: string, count: number): readonly Fields[] | string {
  const response: Fields | undefined = answer?.['response']
  if (response === undefined) return 'no response provided'
  if (response['uid'] !== uid)
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`
  const { status, message } = response['result'] ?? {}
  if (status !== 'Success')
    return message === undefined || message === ''
      ? `unknown (response.result.status=${JSON.stringify(status ?? '')})`
      : message
  const objects: unknown = response['convertedObjects']
  const got = Array.isArray(objects) ? objects.length : 0
  return got === count ? (objects as readonly Fields[]) : `expected ${count} converted objects, got ${got}`
}

/** The converted object with the metadata that a conversion may not change; or what is wrong with it. */
function restored(
  original: KubeObject,
  converted: KubeObject,
  apiVersion: string,
  row: ResourceRow,
): KubeObject | string {
  if (converted?.apiVersion !== apiVersion || converted.kind !== row.kind)
    return `invalid converted object at index 0: invalid apiVersion or kind: ${String(converted?.apiVersion)}, ${String(converted?.kind)}`
  const { name, namespace, uid } = converted.metadata ?? {}
  for (const [field, value, before] of [
    ['name', name, original.metadata.name],
    ['namespace', namespace, original.metadata.namespace],
    ['uid', uid, original.metadata.uid],
  ] as const)
    if (!sameJson(value ?? '', before ?? '')) return `must not change metadata.${field}`
  const { labels, annotations } = converted.metadata
  const { labels: _l, annotations: _a, ...kept } = original.metadata
  const metadata = {
    ...kept,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
  return { ...converted, metadata }
}
