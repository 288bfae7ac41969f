/** One call of a webhook: the AdmissionReview that is sent, and what may be made of the answer (admission.k8s.io/v1). */

import type { MutatingWebhook, ValidatingWebhook } from '../../../api/generated/types.ts'
import type { Json, JsonObject, KubeObject } from '../../../api/object.ts'
import type { UserInfo } from '../../../api/request.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { internalError, type StatusDetails, StatusError } from '../../../api/status.ts'
import { asList, asObject, asText } from '../../../api/unchecked.ts'
import { parseExactly } from '../../../api/values/json.ts'
import type { Runtime } from '../../../base/runtime.ts'
import type { CacheReads } from '../../reads.ts'
import { createWebhookClient } from '../../webhooks/client.ts'
import { type Isolation, requireReachable } from '../../webhooks/unasked.ts'
import type { AdmissionAttributes } from '../plugin.ts'

export interface WebhookAnswer {
  readonly allowed: boolean
  readonly patch: Json | undefined
  readonly status: JsonObject
  readonly warnings: readonly string[]
  readonly auditAnnotations: JsonObject
}

/** What is sent of a request, in the version the webhook's rules name. */
export interface Reviewed {
  readonly row: ResourceRow
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

export type WebhookSpec = MutatingWebhook | ValidatingWebhook

export type AdmissionReview = ReturnType<typeof reviewOf>

export interface WebhookCaller {
  /** @throws Error: the webhook could not be asked, or its answer is none */
  call(hook: WebhookSpec, review: AdmissionReview, uid: string, mayPatch: boolean): Promise<WebhookAnswer>
}

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

export function reviewOf(attributes: AdmissionAttributes, { row, object, oldObject }: Reviewed, uid: string) {
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
      requestKind: kindOf(attributes.endpoint.row, subresource, attributes.endpoint.row),
      requestResource: resource(attributes.endpoint.row),
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
function optionsOf(operation: string, options: JsonObject) {
  const { kind: _, apiVersion: _v, force: _f, ...rest } = options
  if (operation === 'CONNECT') return Object.keys(options).length === 0 ? null : options
  const name = operation[0] + operation.slice(1).toLowerCase()
  return { kind: `${name}Options`, apiVersion: 'meta.k8s.io/v1', ...rest }
}

export function createWebhookCaller(runtime: Runtime, reads: CacheReads): WebhookCaller {
  const client = createWebhookClient(runtime, reads)
  return {
    async call(hook, review, uid, mayPatch) {
      let answered: JsonObject
      try {
        answered = await client.post({
          clientConfig: hook.clientConfig,
          timeoutSeconds: hook.timeoutSeconds ?? 10,
          userAgent: 'kube-apiserver-admission',
          review,
        })
      } catch (error) {
        throw new Error(`failed to call webhook: ${(error as Error).message}`, { cause: error })
      }
      return answerOf(answered['response'], uid, mayPatch)
    },
  }
}

/** None is asked: those that could be allow, and change nothing. */
export const unaskedWebhooks =
  (isolation: Isolation) =>
  (_runtime: Runtime, reads: CacheReads): WebhookCaller => ({
    async call({ clientConfig, timeoutSeconds }) {
      try {
        requireReachable(isolation, reads, clientConfig, timeoutSeconds ?? 10)
      } catch (error) {
        throw new Error(`failed to call webhook: ${(error as Error).message}`, { cause: error })
      }
      return { allowed: true, patch: undefined, status: {}, warnings: [], auditAnnotations: {} }
    },
  })

const INVALID = 'received invalid webhook response'

function answerOf(given: Json | undefined, uid: string, mayPatch: boolean): WebhookAnswer {
  if (!given) throw new Error(`${INVALID}: webhook response was absent`)
  const response = asObject(given)
  if (response['uid'] !== uid)
    throw new Error(
      `${INVALID}: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`,
    )
  return {
    allowed: response['allowed'] === true,
    patch: patchOf(response, mayPatch),
    status: asObject(response['status']),
    warnings: asList(response['warnings']).map(String),
    auditAnnotations: asObject(response['auditAnnotations']),
  }
}

/** The operations; undefined when there are none. */
function patchOf({ patch: given, patchType }: JsonObject, mayPatch: boolean): Json | undefined {
  const patch = asText(given)
  const has = patch !== ''
  if (!mayPatch) {
    if (has) throw new Error(`${INVALID}: validating webhook may not return response.patch`)
    if (patchType) throw new Error(`${INVALID}: validating webhook may not return response.patchType`)
    return undefined
  }
  if (has && !patchType) throw new Error(`${INVALID}: webhook returned response.patch but not response.patchType`)
  if (!has && patchType) throw new Error(`${INVALID}: webhook returned response.patchType but not response.patch`)
  if (!has) return undefined
  let operations: Json
  try {
    operations = parseExactly(Buffer.from(patch, 'base64').toString('utf8')) as Json
  } catch (error) {
    throw internalError(error)
  }
  if (Array.isArray(operations) && operations.length === 0) return undefined
  if (patchType !== 'JSONPatch') throw internalError(new Error(`unsupported patch type ${JSON.stringify(patchType)}`))
  return operations
}

/** The refusal of a webhook: at least a 400, in its own words where it has any. */
export function denial(name: string, status: JsonObject): StatusError {
  const code = typeof status['code'] === 'number' && status['code'] >= 400 ? status['code'] : 400
  const by = `admission webhook ${JSON.stringify(name)} denied the request`
  const reason = asText(status['reason'])
  const said = asText(status['message']) || reason
  return new StatusError(
    code,
    reason,
    said === '' ? `${by} without explanation` : `${by}: ${said}`,
    status['details'] as StatusDetails | undefined,
  )
}
