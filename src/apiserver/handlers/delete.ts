/** DELETE of one object. */

import type { JsonObject, KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import { forbidden } from '../../api/status.ts'
import { attributesOf } from '../auth/authorizer.ts'
import { deleteObject } from '../registry/delete.ts'
import { groupResource } from '../registry/registry.ts'
import { decodeDeleteOptions } from './body.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate } from './negotiate.ts'
import { validateDeleteOptions } from './options.ts'
import { respondStored, respondWritten, sharesBytes } from './respond.ts'
import { admissionAttributes, writeContext } from './write.ts'

export async function handleDelete(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint } = resource
  const { row } = endpoint
  const representation = negotiate(request, { kind: endpoint })
  const options = decodeDeleteOptions(resource)
  validateDeleteOptions(options)
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) await authorizeUnsafeDelete(resource)
  const dryRun = (options.dryRun?.length ?? 0) > 0
  const write = writeContext(resource, { dryRun })
  for (const warning of write.kindStrategy.warningsOnDelete?.(options) ?? []) write.warn(warning)
  const why = write.kindStrategy.whyUndeletable?.(write.name)
  if (why !== undefined) throw forbidden(groupResource(row), write.name, why)
  const attributes = { dryRun, options: { ...options } }
  const deleted = await deleteObject(context.registry, write, options, (existing) =>
    admitDelete(resource, attributes, existing),
  )
  // Kubernetes says Accepted only where a cascade was asked for in the old way.
  const status = !deleted.removed && options.orphanDependents === false ? 202 : 200
  const { asWritten } = deleted
  if (asWritten !== undefined && sharesBytes(resource, representation))
    return respondStored(resource, asWritten(), representation, status)
  return respondWritten(resource, deleted.answer(), representation, { status, dryRun })
}

const UNSAFE_DELETE = 'unsafe-delete-ignore-read-errors'

/** @throws StatusError 403 where the user may delete the object, but not one that cannot be read (KEP-3926) */
async function authorizeUnsafeDelete({ context, info, user, endpoint, request }: ResourceRequest): Promise<void> {
  const { row } = endpoint
  const refused = (message: string) => forbidden(groupResource(row), info.name, message)
  if (info.subresource !== '')
    throw refused(
      'ignoreStoreReadErrorWithClusterBreakingPotential delete option is not allowed on a subresource or non-resource request',
    )
  const attributes = attributesOf(user, { ...info, verb: UNSAFE_DELETE }, request.query)
  const { verdict, reason, error } = await context.authorizer.authorize(attributes)
  if (verdict === 'allow') return
  if (error !== undefined) throw refused(`error while checking permission for "${UNSAFE_DELETE}", ${error}`)
  throw refused(`not permitted to do "${UNSAFE_DELETE}", reason: ${reason}`)
}

/** Both halves of admission see a deletion, and neither can change anything. */
export async function admitDelete(
  resource: ResourceRequest,
  options: { readonly dryRun: boolean; readonly options: JsonObject },
  existing: KubeObject | undefined,
): Promise<void> {
  const { admission } = resource.context
  const attributes = admissionAttributes(resource, 'DELETE', options, undefined, existing)
  await admission.mutate(attributes)
  await admission.validate(attributes)
}
