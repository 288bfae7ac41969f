/** DELETE of one object. */

import type { JsonObject, KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import { deleteObject } from '../registry/delete.ts'
import { decodeDeleteOptions } from './body.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate } from './negotiate.ts'
import { validateDeleteOptions } from './options.ts'
import { respondObject } from './respond.ts'
import { admissionAttributes, writeContext } from './write.ts'

export async function handleDelete(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, row } = resource
  const representation = negotiate(request, { row })
  const options = decodeDeleteOptions(resource)
  validateDeleteOptions(options)
  const dryRun = (options.dryRun?.length ?? 0) > 0
  const write = writeContext(resource, { dryRun })
  for (const warning of write.kindStrategy.warningsOnDelete?.(options) ?? []) write.warn(warning)
  const attributes = { dryRun, options: { ...options } }
  const deleted = await deleteObject(context.registry, write, options, (existing) =>
    admitDelete(resource, attributes, existing),
  )
  // Kubernetes says Accepted only where a cascade was asked for in the old way.
  const status = !deleted.removed && options.orphanDependents === false ? 202 : 200
  return respondObject(resource, deleted.answer, representation, status)
}

/** Both halves of admission see a deletion, and neither can change anything. */
export async function admitDelete(
  resource: ResourceRequest,
  options: { readonly dryRun: boolean; readonly options: JsonObject },
  existing: KubeObject,
): Promise<void> {
  const { admission } = resource.context
  const attributes = admissionAttributes(resource, 'DELETE', options, undefined, existing)
  await admission.mutate(attributes)
  await admission.validate(attributes)
}
