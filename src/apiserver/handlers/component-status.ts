/**
 * ComponentStatus (v1, deprecated): how the store and the components beside the API server are, told when asked. It is not
 * stored: there are no versions, nor is there a watch.
 */
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import { notFound } from '../../api/status.ts'
import type { ResourceHandler, ResourceRequest } from './context.ts'
import { negotiate, type Representation, requireMetadataForm } from './negotiate.ts'
import { listOptions } from './options.ts'
import { encoded, partialMetadata, shaped, tableOf } from './respond.ts'
import { selectionOf } from './selectors.ts'

export interface ComponentHealth {
  readonly name: string
  readonly healthy: boolean
  readonly message: string
}

export const getComponentStatus: ResourceHandler = (resource) => {
  const { context, request, endpoint, info, warnings } = resource
  const { row } = endpoint
  const representation = negotiate(request, { kind: endpoint })
  const found = statuses(resource).find(({ metadata }) => metadata.name === info.name)
  if (found === undefined) throw notFound({ group: '', resource: row.singular }, info.name)
  return encoded(200, shaped(context, request, endpoint, found, representation), representation, warnings)
}

export const listComponentStatuses: ResourceHandler = (resource) => {
  const { request, endpoint } = resource
  const { row } = endpoint
  const representation = negotiate(request, { streams: true, kind: endpoint })
  const selection = selectionOf(row, endpoint.strategy, listOptions(request.query))
  return respondAll(
    resource,
    statuses(resource).filter((object) => selection.matches(object)),
    representation,
  )
}

function respondAll(
  { context, request, endpoint, warnings }: ResourceRequest,
  objects: readonly KubeObject[],
  representation: Representation,
): ApiResponse {
  const { row } = endpoint
  const answer = (list: KubeObject) => encoded(200, list, representation, warnings)
  if (representation.shape === 'table') return answer(tableOf(context, request, endpoint, objects, {}, representation))
  if (representation.shape === 'metadata') {
    requireMetadataForm(representation, endpoint, true)
    const apiVersion = representation.shapeVersion
    const items = objects.map((object) => partialMetadata(object, apiVersion))
    return answer({
      kind: 'PartialObjectMetadataList',
      apiVersion,
      metadata: {},
      items: items.length === 0 ? null : items,
    })
  }
  const items = objects.map(({ kind: _, apiVersion: __, ...item }) => item)
  return answer({ kind: row.listKind, apiVersion: 'v1', metadata: {}, items })
}

function statuses({ context }: ResourceRequest): readonly KubeObject[] {
  return (context.components?.() ?? []).map(({ name, healthy, message }) => ({
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [{ type: 'Healthy', status: healthy ? 'True' : 'False', message }],
  }))
}
