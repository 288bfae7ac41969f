/** GET of one object (or of its status, which is the same object). */

import type { ApiResponse } from '../../api/request.ts'
import { badRequest, notFound } from '../../api/status.ts'
import { namedKey } from '../cache/keys.ts'
import { groupResource } from '../registry/registry.ts'
import { isQueryTrue } from '../request/info.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate, type Representation } from './negotiate.ts'
import { respondStored } from './respond.ts'
import { checkResourceVersion, staleRevision, untilReached } from './wait-for-resource-version.ts'

export function handleGet(resource: ResourceRequest): ApiResponse | Promise<ApiResponse> {
  const { context, request, endpoint } = resource
  const representation = negotiate(request, { kind: endpoint })
  if (request.query.size > 0) refuseExport(request.query)
  const asked = request.query.size > 0 ? request.query.get('resourceVersion') : null
  const version = asked === null ? 0 : checkResourceVersion(asked)
  // Without a version the newest is meant, whichever server of the cluster wrote it; with 0 any will do.
  const waiting = asked === null || asked === '' ? context.caches.fresh(request.signal) : undefined
  if (waiting !== undefined) return waiting.then(() => current(resource, representation))
  if (asked !== null && asked !== '' && request.served !== undefined && request.served.staleBy > 0)
    return stale(resource, representation, version)
  if (version <= context.caches.revision) return current(resource, representation)
  return untilReached(resource, version).then(() => current(resource, representation))
}

/** @throws StatusError 400 for the old way to ask for an object without what a cluster adds to it */
function refuseExport(query: URLSearchParams): void {
  if (isQueryTrue(query.get('export')))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

function current(resource: ResourceRequest, representation: Representation): ApiResponse | Promise<ApiResponse> {
  const { context, endpoint, info } = resource
  const { row } = endpoint
  const stored = context.registry.current(endpoint, namedKey(row, info.namespace, info.name))
  if (stored === undefined) throw notFound(groupResource(row), info.name)
  return respondStored(resource, stored, representation, 200)
}

/** As it was, where the read is to show an older version (docs/faults.md). */
async function stale(resource: ResourceRequest, representation: Representation, version: number): Promise<ApiResponse> {
  const { context, endpoint, info } = resource
  const { row } = endpoint
  await untilReached(resource, version)
  const cache = context.caches.resource(row.storagePrefix)
  const revision = staleRevision(resource, cache, version)
  if (revision === undefined) return current(resource, representation)
  const key = namedKey(row, info.namespace, info.name)
  const { items } = await cache.pageAt(revision, { prefix: key, start: key, limit: 1 })
  const [entry] = items
  if (entry?.key !== key) throw notFound(groupResource(row), info.name)
  return respondStored(resource, entry, representation, 200)
}
