/** Kinds that are asked, not stored: access reviews, token reviews. */
import type { KubeObject } from '../../../api/object.ts'
import type { ApiResponse } from '../../../api/request.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { notAllowed } from '../../../api/status.ts'
import { inNamespace, wipeSystemFields } from '../../registry/metadata.ts'
import { decodeObject } from '../body.ts'
import type { ResourceRequest } from '../context.ts'
import { negotiate } from '../negotiate.ts'
import { writeOptions } from '../options.ts'
import { encoded, shaped } from '../respond.ts'
import { admissionAttributes, optionsObject, trackManager, writeContext } from '../write.ts'

export async function createReview(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, info, user, warnings } = resource
  const { row } = endpoint
  const review = context.reviews?.[`${row.group}/${row.kind}`]
  if (review === undefined) throw notAllowed()
  const representation = negotiate(request, { kind: endpoint, tables: false })
  const options = writeOptions('CreateOptions', request.query)
  const write = writeContext(resource, { dryRun: options.dryRun })
  const decoded = decodeObject(resource, row, options.fieldValidation)
  const placed = asksSomething(row)
    ? inNamespace(wipeSystemFields(decoded), row.namespaced, info.namespace)
    : bare(decoded)
  const tracked = await trackManager(resource, write, options, undefined, placed)
  const attributes = { dryRun: options.dryRun, options: optionsObject(options) }
  const admitted = await context.admission.mutate(
    admissionAttributes(resource, 'CREATE', attributes, tracked, undefined),
  )
  await context.admission.validate(admissionAttributes(resource, 'CREATE', attributes, admitted, undefined))
  const answer = await review(admitted, { user, namespace: info.namespace, now: write.now })
  return encoded(201, shaped(context, request, endpoint, answer, representation), representation, warnings)
}

/** A kind without a spec is an answer alone: what a client writes into it is passed over, metadata and all. */
const asksSomething = ({ schema }: ResourceRow): boolean =>
  schema.type === 'struct' && schema.fields.some(({ name }) => name === 'spec')

const bare = ({ apiVersion, kind }: KubeObject): KubeObject => ({ apiVersion, kind, metadata: {} })
