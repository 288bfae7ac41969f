/** ResourceClient: the requests about one resource, as paths, queries and bodies. */
import { withoutManagedFields } from '../api/metadata.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import type { RequestBody, WatchEvent } from '../api/request.ts'
import type { StreamReader } from '../base/stream.ts'
import type {
  ClientDeleteOptions,
  ClientPatchType,
  GetOptions,
  GroupVersionResource,
  ListOptions,
  ResourceClient,
  WriteOptions,
} from './client.ts'
import { errorFromStatus, responseList, responseObject } from './response.ts'
import type { Requester } from './transport.ts'

const patchContentTypes: Record<ClientPatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}
const metadataAccept = {
  list: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  one: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
}

export function createResourceClient<T extends KubeObject>(
  requester: Requester,
  gvr: GroupVersionResource,
  namespace: string,
): ResourceClient<T> {
  const root = gvr.group === '' ? `/api/${gvr.version}` : `/apis/${gvr.group}/${gvr.version}`
  const scope = (ns: string) => (ns === '' ? root : `${root}/namespaces/${encodeURIComponent(ns)}`)
  const collection = `${scope(namespace)}/${gvr.resource}`
  const named = (name: string, subresource?: string) =>
    `${collection}/${encodeURIComponent(name)}${subresource ? `/${subresource}` : ''}`

  const accept = (options: GetOptions, form: 'list' | 'one') =>
    options.metadataOnly && !requester.inProcess ? { headers: { accept: metadataAccept[form] } } : {}

  const listAnswer = (options: ListOptions) =>
    requester.request({ method: 'GET', path: collection, query: listQuery(options), ...accept(options, 'list') })

  return {
    gvr,
    async get(name, options = {}) {
      const request = { method: 'GET', path: named(name), ...accept(options, 'one') }
      return responseObject(await requester.request(request)) as T
    },
    async list(options = {}) {
      return responseList<T>(await listAnswer(options), { ...options, inTurns: requester.inTurns })
    },
    listAnswer: (options = {}) => listAnswer(options),
    async watch(options, signal) {
      const query = listQuery(options)
      query.set('watch', 'true')
      if (options.allowWatchBookmarks) query.set('allowWatchBookmarks', 'true')
      if (options.sendInitialEvents !== undefined) query.set('sendInitialEvents', String(options.sendInitialEvents))
      if (options.timeoutSeconds !== undefined) query.set('timeoutSeconds', String(options.timeoutSeconds))
      const response = await requester.request({
        method: 'GET',
        path: collection,
        query,
        signal,
        ...accept(options, 'one'),
      })
      if (response.kind !== 'watch') {
        responseObject(response)
        throw new Error('the server answered a watch with something else')
      }
      const events = failingOnErrorEvents(response.events)
      return options.withoutManagedFields === true ? trimmedEvents(events) : events
    },
    async create(object, options = {}) {
      const ns = namespace === '' ? (object.metadata?.namespace ?? '') : namespace
      const base = ns === namespace ? collection : `${scope(ns)}/${gvr.resource}`
      const name = options.name ?? object.metadata?.name ?? ''
      const path = options.subresource ? `${base}/${encodeURIComponent(name)}/${options.subresource}` : base
      const query = writeQuery(options)
      return responseObject(await requester.request({ method: 'POST', path, query, body: json(object) })) as T
    },
    async update(object, options = {}) {
      const ns = namespace === '' ? (object.metadata.namespace ?? '') : namespace
      const path = `${scope(ns)}/${gvr.resource}/${encodeURIComponent(object.metadata.name ?? '')}${options.subresource ? `/${options.subresource}` : ''}`
      const query = writeQuery(options)
      return responseObject(await requester.request({ method: 'PUT', path, query, body: json(object) })) as T
    },
    async patch(name, type, body, options = {}) {
      const query = writeQuery(options)
      if (options.force) query.set('force', 'true')
      const path = named(name, options.subresource)
      const request = { method: 'PATCH', path, query, body: json(body, patchContentTypes[type]) }
      return responseObject(await requester.request(request)) as T
    },
    async delete(name, options) {
      return responseObject(await requester.request({ method: 'DELETE', path: named(name), ...deleteBody(options) }))
    },
    async deleteCollection(options, list = {}) {
      responseObject(
        await requester.request({
          method: 'DELETE',
          path: collection,
          query: listQuery(list),
          ...deleteBody(options),
        }),
      )
    },
    namespace: (ns) => createResourceClient<T>(requester, gvr, ns),
  }

  function json(value: KubeObject | JsonObject | readonly JsonObject[], contentType = 'application/json'): RequestBody {
    return { kind: 'object', object: value as KubeObject, contentType }
  }

  function deleteBody(options: ClientDeleteOptions | undefined) {
    return { body: json({ kind: 'DeleteOptions', apiVersion: 'v1', ...(options as JsonObject | undefined) }) }
  }
}

function listQuery(options: ListOptions): URLSearchParams {
  const query = new URLSearchParams()
  if (options.labelSelector) query.set('labelSelector', options.labelSelector)
  if (options.fieldSelector) query.set('fieldSelector', options.fieldSelector)
  if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion)
  if (options.resourceVersionMatch) query.set('resourceVersionMatch', options.resourceVersionMatch)
  if (options.limit !== undefined) query.set('limit', String(options.limit))
  if (options.continue) query.set('continue', options.continue)
  return query
}

function writeQuery(options: WriteOptions): URLSearchParams {
  const query = new URLSearchParams()
  if (options.dryRun) query.set('dryRun', 'All')
  if (options.fieldManager) query.set('fieldManager', options.fieldManager)
  return query
}

const trimmedEvent = (event: WatchEvent): WatchEvent => ({
  type: event.type,
  object: event.trimmed ?? withoutManagedFields(event.object),
})

function trimmedEvents(events: StreamReader<WatchEvent>): StreamReader<WatchEvent> {
  return {
    async next() {
      const event = await events.next()
      return event && trimmedEvent(event)
    },
    drain: () => events.drain().map(trimmedEvent),
    get closed() {
      return events.closed
    },
    close: (error) => events.close(error),
  }
}

/** The same stream, whose ERROR event is thrown when its turn comes, after the events before it. */
function failingOnErrorEvents(events: StreamReader<WatchEvent>): StreamReader<WatchEvent> {
  let failed: Error | undefined
  const fail = (event: WatchEvent): Error => {
    failed = errorFromStatus(event.object)
    events.close()
    return failed
  }
  return {
    async next() {
      if (failed) throw failed
      const event = await events.next()
      if (event?.type === 'ERROR') throw fail(event)
      return event
    },
    drain() {
      if (failed) return []
      const all = events.drain()
      const at = all.findIndex((event) => event.type === 'ERROR')
      if (at < 0) return all
      fail(all[at]!)
      return all.slice(0, at)
    },
    get closed() {
      return failed === undefined && events.closed
    },
    close: (error) => events.close(error),
  }
}
