/** PUT of an object or of one of its subresources. */
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import { checkName, dedupeOwnerReferences, inNamespace, requireName } from '../registry/metadata.ts'
import { updateObject } from '../registry/update-and-retry-on-conflict.ts'
import { decodeObject } from './body.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate } from './negotiate.ts'
import { writeOptions } from './options.ts'
import { respondWritten } from './respond.ts'
import { admissionAttributes, askedOnce, optionsObject, trackManager, writeContext } from './write.ts'

export async function handleUpdate(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, info } = resource
  const { row } = endpoint
  requireName(info)
  const representation = negotiate(request, { kind: endpoint })
  const options = writeOptions('UpdateOptions', request.query)
  const write = writeContext(resource, { dryRun: options.dryRun })
  const decoded = inNamespace(decodeObject(resource, row, options.fieldValidation), row.namespaced, info.namespace)
  checkName(decoded, info.name)
  const sent = dedupeOwnerReferences(decoded, false, write.warn)
  const fresh = askedOnce(context)
  const attributes = { dryRun: options.dryRun, options: optionsObject(options), charges: new Map(), fresh }

  const updated = await updateObject(context.registry, write, {
    ...(sent.metadata.uid === undefined ? {} : { uid: sent.metadata.uid }),
    async next(existing) {
      const live = existing && (await endpoint.worked.asRequested(existing))
      const tracked = await endpoint.worked.ofRequest(await trackManager(resource, write, options, live, sent))
      return admitUpdate(resource, attributes, tracked, existing, write.warn)
    },
    ...validators(resource, attributes),
  })
  return respondWritten(resource, updated.object, representation, {
    status: updated.created ? 201 : 200,
    dryRun: options.dryRun,
  })
}

type Attributes = Parameters<typeof admissionAttributes>[2]

/** Validating admission of an update, or of the create that an update of nothing is. */
export function validators(resource: ResourceRequest, attributes: Attributes) {
  const { admission } = resource.context
  return {
    validateCreate: (object: KubeObject) =>
      admission.validate(admissionAttributes(resource, 'CREATE', attributes, object, undefined)),
    validateUpdate: (object: KubeObject, old: KubeObject) =>
      admission.validate(admissionAttributes(resource, 'UPDATE', attributes, object, old)),
  }
}

/** Mutating admission of an update, or of the create that an update of nothing is. */
export async function admitUpdate(
  resource: ResourceRequest,
  attributes: Attributes,
  object: KubeObject,
  existing: KubeObject | undefined,
  warn: (message: string) => void,
): Promise<KubeObject> {
  const operation = existing === undefined ? 'CREATE' : 'UPDATE'
  const admitted = await resource.context.admission.mutate(
    admissionAttributes(resource, operation, attributes, object, existing),
  )
  resource.request.served?.trace?.step('mutating admission')
  return admitted === object ? object : dedupeOwnerReferences(admitted, true, warn)
}
