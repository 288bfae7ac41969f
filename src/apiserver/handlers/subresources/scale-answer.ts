/** A Scale in the form that was asked for: itself, its metadata, or a Table of one row. */
import type { Scale } from '../../../api/generated/types.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { goTypeOfKind } from '../../../api/scheme/go-packages.ts'
import type { ResourceRow, SubresourceRow } from '../../../api/scheme/resource.ts'
import type { ResourceRequest } from '../context.ts'
import type { Representation } from '../negotiate.ts'
import { encoded, shaped } from '../respond.ts'

export function respondScale(resource: ResourceRequest, scale: Scale, representation: Representation): ApiResponse {
  const { context, request, warnings } = resource
  const answer = shaped(context, request, scaleRow(resource), scale, representation)
  return encoded(200, answer, representation, warnings)
}

const rows = new WeakMap<SubresourceRow, ResourceRow>()

/** The Scale as a kind of its own, for printing and for messages. */
function scaleRow({ row, subresource }: ResourceRequest): ResourceRow {
  const scale = subresource as SubresourceRow
  let made = rows.get(scale)
  if (made === undefined) {
    const { group, version, kind } = scale
    made = { ...row, group, version, kind, resource: 'scales', goType: goTypeOfKind(scale), columns: [] }
    rows.set(scale, made)
  }
  return made
}
