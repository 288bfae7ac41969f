/** POST to a collection. */
import type { ApiResponse } from '../../api/request.ts'
import { createObject } from '../registry/create.ts'
import { dedupeOwnerReferences, inNamespace, wipeSystemFields } from '../registry/metadata.ts'
import { decodeObject } from './body.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate } from './negotiate.ts'
import { writeOptions } from './options.ts'
import { respondWritten } from './respond.ts'
import { admissionAttributes, askedOnce, optionsObject, trackManager, writeContext } from './write.ts'

export async function handleCreate(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, info } = resource
  const { row } = endpoint
  const representation = negotiate(request, { kind: endpoint })
  const options = writeOptions('CreateOptions', request.query)
  const write = writeContext(resource, { dryRun: options.dryRun })
  const decoded = decodeObject(resource, row, options.fieldValidation)
  const fresh = askedOnce(context)
  // Quotas will want to know: the store is asked while the object is worked on.
  if (row.chargesQuota) fresh()?.catch(() => {})
  const placed = inNamespace(wipeSystemFields(decoded), row.namespaced, info.namespace)
  const single = dedupeOwnerReferences(placed, false, write.warn)
  const tracked = await endpoint.worked.ofRequest(await trackManager(resource, write, options, undefined, single))

  const attributes = { dryRun: options.dryRun, options: optionsObject(options), charges: new Map(), fresh }
  const admitted = await context.admission.mutate(
    admissionAttributes(resource, 'CREATE', attributes, tracked, undefined),
  )
  request.served?.trace?.step('mutating admission')
  const object = admitted === tracked ? tracked : dedupeOwnerReferences(admitted, true, write.warn)
  const created = await createObject(context.registry, write, object, (final) =>
    context.admission.validate(admissionAttributes(resource, 'CREATE', attributes, final, undefined)),
  )
  request.served?.trace?.step('validation, validating admission and storage')
  return respondWritten(resource, created, representation, {
    status: 201,
    dryRun: options.dryRun,
  })
}
