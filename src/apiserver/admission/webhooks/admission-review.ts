/** One call of a webhook: the AdmissionReview that is sent, and what may be made of the answer (admission.k8s.io/v1). */

import { parseExactly } from '../../../api/codec/json.ts'
import type { Fields, Json, KubeObject } from '../../../api/object.ts'
import type { UserInfo } from '../../../api/request.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { internalError, StatusError } from '../../../api/status.ts'
import type { Runtime } from '../../../base/runtime.ts'
import type { CacheReads } from '../../reads.ts'
import { createWebhookClient } from '../../webhooks/client.ts'
import type { AdmissionAttributes } from '../plugin.ts'

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
  const client = createWebhookClient(runtime, reads)
  return {
    async call(hook, review, uid, mayPatch) {
      let answered: Fields
      try {
        answered = await client.post({
          clientConfig: hook['clientConfig'] ?? {},
          timeoutSeconds: hook['timeoutSeconds'] ?? 10,
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

const INVALID = 'received invalid webhook response'

function answerOf(response: Fields | undefined, uid: string, mayPatch: boolean): WebhookAnswer {
  if (!response) throw new Error(`${INVALID}: webhook response was absent`)
  if (response['uid'] !== uid)
    throw new Error(
      `${INVALID}: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`,
    )
  return {
    allowed: response['allowed'] === true,
    patch: patchOf(response, mayPatch),
    status: response['status'],
    warnings: Array.isArray(response['warnings']) ? response['warnings'].map(String) : [],
    auditAnnotations: response['auditAnnotations'] ?? {},
  }
}

/** The operations; undefined when there are none. */
function patchOf({ patch, patchType }: Fields, mayPatch: boolean): Json | undefined {
  const has = typeof patch === 'string' && patch !== ''
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
