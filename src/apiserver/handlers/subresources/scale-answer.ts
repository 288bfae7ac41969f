/** A Scale in the form that was asked for: itself, its metadata, or a Table of one row. */
import type { Scale } from '../../../api/generated/types.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { goTypeOfKind } from '../../../api/scheme/go-packages.ts'
import type { SubresourceRow } from '../../../api/scheme/resource.ts'
import { getOrInsertComputed } from '../../../base/get-or-insert.ts'
import type { ShownKind } from '../../registry/endpoint.ts'
import type { ResourceRequest } from '../context.ts'
import type { Representation } from '../negotiate.ts'
import { encoded, shaped } from '../respond.ts'
import { shownKind } from '../shown-kind.ts'

export function respondScale(resource: ResourceRequest, scale: Scale, representation: Representation): ApiResponse {
  const { context, request, warnings } = resource
  const answer = shaped(context, request, scaleOf(resource), scale, representation)
  return encoded(200, answer, representation, warnings)
}

const kinds = new WeakMap<SubresourceRow, ShownKind>()

/** The Scale as a kind of its own, for printing and for messages. */
function scaleOf({ endpoint, subresource }: ResourceRequest): ShownKind {
  return getOrInsertComputed(kinds, subresource as SubresourceRow, (scale) => {
    const { group, version, kind } = scale
    const goType = goTypeOfKind(scale)
    return shownKind({ ...endpoint.row, group, version, kind, resource: 'scales', goType, columns: [] })
  })
}
