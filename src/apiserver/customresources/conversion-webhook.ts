/**
 * Conversion by webhook (API concept: versions in CustomResourceDefinitions): a batch of objects goes out as a
 * ConversionReview and comes back in the version wanted. What the webhook may not touch is held to what it was.
 */

import type { FieldError } from '../../api/errors/field-errors.ts'
import type { WebhookConversion as ConversionSpec, CustomResourceDefinition } from '../../api/generated/types.ts'
import {
  apiVersionOf,
  asJson,
  asKubeObject,
  type Json,
  type JsonObject,
  type KubeObject,
  parseApiVersion,
} from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { StatusError } from '../../api/status.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import { validateLabels } from '../../api/validation/labels.ts'
import { validateAnnotations } from '../../api/validation/meta.ts'
import { goTypeOf } from '../../api/values/go-types.ts'
import { isMap } from '../../api/values/maps-and-lists.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { CacheReads } from '../reads.ts'
import { createWebhookClient } from '../webhooks/client.ts'
import { type Isolation, requireReachable } from '../webhooks/unasked.ts'

const TIMEOUT_SECONDS = 30

/** @throws StatusError 500 without a reason, in Kubernetes' words, when the webhook fails */
export type WebhookConversion = (
  row: ResourceRow,
  objects: readonly KubeObject[],
  apiVersion: string,
) => Promise<readonly KubeObject[]>

/** In place of webhooks that are not asked: where one could be, the object says the other version, and is the same. */
export const unaskedConversion =
  (isolation: Isolation, reads: CacheReads): WebhookConversion =>
  async (row, objects, apiVersion) => {
    const other = objects.find((object) => object.apiVersion !== apiVersion)
    if (other === undefined) return objects
    try {
      requireReachable(isolation, reads, webhookOf(row, reads)?.clientConfig ?? {}, TIMEOUT_SECONDS)
    } catch (error) {
      throw failed(row, other.apiVersion, `failed: ${(error as Error).message}`, error)
    }
    return objects.map((object) => named(object, apiVersion))
  }

const named = (object: KubeObject, apiVersion: string): KubeObject =>
  object.apiVersion === apiVersion ? object : { ...object, apiVersion }

/** Nothing but its kind, as an apply leaves an object for a moment: such a one is the same in every version. */
const isEmpty = (object: KubeObject) => Object.keys(object).every((name) => name === 'apiVersion' || name === 'kind')

const failed = ({ kind }: ResourceRow, from: string, what: string, cause?: unknown) =>
  new StatusError(500, '', `conversion webhook for ${from}, Kind=${kind} ${what}`, undefined, { cause })

export function createWebhookConversion(runtime: Runtime, reads: CacheReads): WebhookConversion {
  const client = createWebhookClient(runtime, reads)
  return async (row, objects, apiVersion) => {
    const isAsked = (object: KubeObject) => object.apiVersion !== apiVersion && !isEmpty(object)
    const wanted = objects.filter(isAsked)
    if (wanted.length === 0) return objects.map((object) => named(object, apiVersion))
    const from = (wanted[0] as KubeObject).apiVersion
    const fail = (what: string, cause?: unknown) => failed(row, from, what, cause)
    const webhook = webhookOf(row, reads)
    if (webhook === undefined) throw fail('failed: the definition names no webhook')
    const uid = runtime.random.uuid()
    let review: JsonObject
    try {
      review = await client.post({
        clientConfig: webhook.clientConfig ?? {},
        timeoutSeconds: TIMEOUT_SECONDS,
        userAgent: 'kube-apiserver',
        review: reviewOf(webhook, uid, wanted, apiVersion),
      })
    } catch (error) {
      throw fail(`failed: ${(error as Error).message}`, error)
    }
    const converted = convertedObjects(review['response'], uid)
    if (typeof converted === 'string') throw fail(`failed: ${converted}`)
    if (converted.length !== wanted.length)
      throw fail(`returned ${converted.length} objects, expected ${wanted.length}`)
    converted.forEach((object, i) => {
      if (object === null) throw new StatusError(500, '', 'unexpected end of JSON input')
      const wrong = wrongVersion(object, apiVersion, row.kind)
      if (wrong !== undefined) throw fail(`returned invalid object at index ${i}: ${wrong}`)
    })
    const next = converted.values()
    return objects.map((object) => {
      if (!isAsked(object)) return named(object, apiVersion)
      const checked = restored(object, asKubeObject(next.next().value as JsonObject))
      if (typeof checked === 'string') throw fail(`returned invalid ${checked}`)
      return checked
    })
  }
}

function webhookOf({ group, resource }: ResourceRow, reads: CacheReads): ConversionSpec | undefined {
  const definition = reads.get<CustomResourceDefinition>(
    'apiextensions.k8s.io',
    'customresourcedefinitions',
    '',
    `${resource}.${group}`,
  )
  return definition?.spec?.conversion?.webhook
}

function reviewOf(
  { conversionReviewVersions }: ConversionSpec,
  uid: string,
  objects: readonly KubeObject[],
  desiredAPIVersion: string,
) {
  const version = conversionReviewVersions.find((one) => one === 'v1' || one === 'v1beta1') ?? 'v1'
  return {
    kind: 'ConversionReview',
    apiVersion: apiVersionOf('apiextensions.k8s.io', version),
    request: { uid, desiredAPIVersion, objects: objects.map(asStored) },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  }
}

/** What an apply has taken fields from may have lost its metadata with them. */
const hasMetadata = (object: KubeObject) => asJson(object)['metadata'] !== undefined

/** A stored object knows no resourceVersion. */
function asStored(object: KubeObject): KubeObject {
  if (!hasMetadata(object)) return object
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** What came back, or why it counts for nothing. */
function convertedObjects(given: Json | undefined, uid: string): readonly (JsonObject | null)[] | string {
  if (!given) return 'no response provided'
  const response = asObject(given)
  if (response['uid'] !== uid)
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`
  const { status = '', message } = asObject(response['result'])
  if (status !== 'Success') return asText(message) || `response.result.status was '${status}', not 'Success'`
  return asList(response['convertedObjects']).map((object) => (object === null ? null : asObject(object)))
}

function wrongVersion(object: JsonObject, apiVersion: string, kind: string): string | undefined {
  const { apiVersion: given = '', kind: givenKind = '' } = object
  const [want, got] = [parseApiVersion(apiVersion), parseApiVersion(String(given))]
  if (want.group !== got.group || want.version !== got.version)
    return `invalid groupVersion (expected ${apiVersion}, received ${given})`
  return givenKind === kind ? undefined : `invalid kind (expected ${kind}, received ${givenKind})`
}

/** The converted object with the metadata that a conversion may not change; or what is wrong with it. */
function restored(original: KubeObject, converted: KubeObject): KubeObject | string {
  const { name, namespace, uid, labels, annotations } = converted.metadata ?? {}
  const before: Partial<KubeObject['metadata']> = hasMetadata(original) ? original.metadata : {}
  for (const [what, now = '', was = ''] of [
    ['name', name, before.name],
    ['namespace', namespace, before.namespace],
    ['UID', uid, before.uid],
  ])
    if (now !== was) return `object: must have the same ${what}: ${was} != ${now}`
  const given = asJson(converted)['metadata']
  if (given === undefined) return 'metadata: missing metadata in converted object'
  if (!isMap(given))
    return `metadata: invalid metadata of type ${given === null ? '<nil>' : goTypeOf(given)} in converted object`
  const errors: FieldError[] = []
  validateLabels(labels, 'metadata.labels', errors)
  validateAnnotations(annotations, 'metadata.annotations', errors)
  const wrong = errors.map(({ field, message }) => `${field}: ${message}`)
  if (wrong.length > 0) return `metadata: ${wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`}`
  const { labels: _l, annotations: _a, ...kept } = before
  const metadata = {
    ...kept,
    ...(labels === undefined || labels === null ? {} : { labels }),
    ...(annotations === undefined || annotations === null ? {} : { annotations }),
  }
  return { ...converted, metadata }
}
