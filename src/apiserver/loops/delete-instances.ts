/**
 * What goes with a definition is deleted straight in the store, as kube-apiserver was seen to do it: admission is not asked, and the
 * audit log has nothing of it.
 */
import type { ResourceRow } from '../../api/scheme/resource.ts'
import type { CacheEntry } from '../cache/entry.ts'
import { failuresOf, unreadableList } from '../cache/unreadable.ts'
import type { ResourceRequest, ServerContext } from '../handlers/context.ts'
import { deleteEach } from '../handlers/deletecollection.ts'
import { API_SERVER } from '../loopback.ts'

export type DeleteInstances = (row: ResourceRow, instances: readonly CacheEntry[]) => Promise<void>

/** @param signal ends it between two deletes */
export const instanceDeleter =
  (context: ServerContext, signal: AbortSignal): DeleteInstances =>
  async (row, instances) => {
    const { group, version, resource } = row
    const path = `/apis/${group}/${version}/${resource}`
    const named = { subresource: '', namespace: '', name: '' }
    const request: ResourceRequest = {
      context,
      request: {
        method: 'DELETE',
        path,
        query: new URLSearchParams(),
        headers: { 'user-agent': 'kube-apiserver' },
        user: API_SERVER,
        signal,
      },
      info: { isResource: true, verb: 'deletecollection', path, group, version, resource, ...named },
      user: API_SERVER,
      endpoint: context.endpointOf(row),
      subresource: undefined,
      warnings: [],
    }
    // What cannot be read is not deleted, nor is anything beside it.
    const unread = failuresOf(instances)
    if (unread.length > 0) throw unreadableList(row, unread)
    const { served } = request.endpoint
    if (served.byWebhook) await served.entries(instances)
    await deleteEach(request, instances, {}, () => signal.throwIfAborted())
  }
