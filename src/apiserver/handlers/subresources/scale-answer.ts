/** A Scale in the form that was asked for: itself, its metadata, or a Table of one row. */
import type { Scale } from '../../../api/generated/types.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { goTypeOfKind } from '../../../api/scheme/go-packages.ts'
import type { ResourceRow, SubresourceRow } from '../../../api/scheme/resource.ts'
import type { ShownKind } from '../../registry/endpoint.ts'
import type { ResourceRequest } from '../context.ts'
import type { Representation } from '../negotiate.ts'
import { tablePrinterOf } from '../printers/table.ts'
import { encoded, shaped } from '../respond.ts'

export function respondScale(resource: ResourceRequest, scale: Scale, representation: Representation): ApiResponse {
  const { context, request, warnings } = resource
  const answer = shaped(context, request, scaleOf(resource), scale, representation)
  return encoded(200, answer, representation, warnings)
}

const kinds = new WeakMap<SubresourceRow, ShownKind>()

/** The Scale as a kind of its own, for printing and for messages. */
function scaleOf({ endpoint, subresource }: ResourceRequest): ShownKind {
  const { row } = endpoint
  const scale = subresource as SubresourceRow
  let made = kinds.get(scale)
  if (made === undefined) {
    const { group, version, kind } = scale
    const goType = goTypeOfKind(scale)
    const scales: ResourceRow = { ...row, group, version, kind, resource: 'scales', goType, columns: [] }
    const printer = tablePrinterOf(scales)
    made = { row: scales, printer: () => printer }
    kinds.set(scale, made)
  }
  return made
}
