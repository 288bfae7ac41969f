/** ResourceClient: the requests about one resource, as paths, queries and bodies. */
import { withoutManagedFields } from '../api/metadata.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import type { ApiResponse, RequestBody, WatchEvent } from '../api/request.ts'
import { badRequest } from '../api/status.ts'
import type { StreamReader } from '../base/stream.ts'
import type {
  ClientDeleteOptions,
  ClientPatchType,
  GetOptions,
  GroupVersionResource,
  KubeList,
  ListOptions,
  ResourceClient,
  WatchOptions,
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

/** Made for nearly every request, so its methods are shared: a dozen functions of its own would outweigh what it asks. */
class Requests<T extends KubeObject> implements ResourceClient<T> {
  readonly gvr: GroupVersionResource
  readonly #requester: Requester
  readonly #namespace: string

  constructor(requester: Requester, gvr: GroupVersionResource, namespace: string) {
    this.gvr = gvr
    this.#requester = requester
    this.#namespace = namespace
  }

  async get(name: string, options: GetOptions = {}): Promise<T> {
    const request = { method: 'GET', path: this.#named(name), ...this.#accept(options, 'one') }
    return responseObject(await this.#requester.request(request)) as T
  }

  async list(options: ListOptions = {}): Promise<KubeList<T>> {
    return responseList<T>(await this.listAnswer(options), { ...options, inTurns: this.#requester.inTurns })
  }

  listAnswer(options: ListOptions = {}): Promise<ApiResponse> {
    const query = listQuery(options)
    return this.#requester.request({
      method: 'GET',
      path: this.#collection(),
      query,
      ...this.#accept(options, 'list'),
    })
  }

  async watch(options: WatchOptions, signal: AbortSignal): Promise<StreamReader<WatchEvent>> {
    const query = listQuery(options)
    query.set('watch', 'true')
    if (options.allowWatchBookmarks) query.set('allowWatchBookmarks', 'true')
    if (options.sendInitialEvents !== undefined) query.set('sendInitialEvents', String(options.sendInitialEvents))
    if (options.timeoutSeconds !== undefined) query.set('timeoutSeconds', String(options.timeoutSeconds))
    const response = await this.#requester.request({
      method: 'GET',
      path: this.#collection(),
      query,
      signal,
      ...this.#accept(options, 'one'),
    })
    if (response.kind !== 'watch') {
      responseObject(response)
      throw new Error('the server answered a watch with something else')
    }
    const events = new FailingOnErrorEvents(response.events)
    return options.withoutManagedFields === true ? new TrimmedEvents(events) : events
  }

  async create(
    object: T,
    options: WriteOptions & { readonly subresource?: string; readonly name?: string } = {},
  ): Promise<T> {
    const base = this.#collection(object.metadata?.namespace)
    const name = options.name ?? object.metadata?.name ?? ''
    const path = options.subresource ? `${base}/${encodeURIComponent(name)}/${options.subresource}` : base
    const query = writeQuery(options)
    return responseObject(await this.#requester.request({ method: 'POST', path, query, body: json(object) })) as T
  }

  async update(object: T, options: WriteOptions & { readonly subresource?: string } = {}): Promise<T> {
    const path = this.#named(object.metadata.name ?? '', options.subresource, object.metadata.namespace)
    const query = writeQuery(options)
    return responseObject(await this.#requester.request({ method: 'PUT', path, query, body: json(object) })) as T
  }

  async patch(
    name: string,
    type: ClientPatchType,
    body: JsonObject | readonly JsonObject[],
    options: WriteOptions & { readonly subresource?: string; readonly force?: boolean } = {},
  ): Promise<T> {
    const query = writeQuery(options)
    if (options.force) query.set('force', 'true')
    const path = this.#named(name, options.subresource)
    const request = { method: 'PATCH', path, query, body: json(body, patchContentTypes[type]) }
    return responseObject(await this.#requester.request(request)) as T
  }

  async delete(name: string, options?: ClientDeleteOptions): Promise<KubeObject> {
    const request = { method: 'DELETE', path: this.#named(name), ...deleteBody(options) }
    return responseObject(await this.#requester.request(request))
  }

  async deleteCollection(options?: ClientDeleteOptions, list: ListOptions = {}): Promise<void> {
    const request = { method: 'DELETE', path: this.#collection(), query: listQuery(list), ...deleteBody(options) }
    responseObject(await this.#requester.request(request))
  }

  namespace(namespace: string): ResourceClient<T> {
    return new Requests<T>(this.#requester, this.gvr, namespace)
  }

  /** @param ofObject the namespace where this client has none */
  #collection(ofObject = ''): string {
    const { group, version, resource } = this.gvr
    const namespace = this.#namespace === '' ? ofObject : this.#namespace
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    return namespace === '' ? `${root}/${resource}` : `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`
  }

  #named(name: string, subresource?: string, ofObject?: string): string {
    // What is asked of no name would reach the whole collection.
    if (!name) throw badRequest('resource name may not be empty')
    const path = `${this.#collection(ofObject)}/${encodeURIComponent(name)}`
    return subresource ? `${path}/${subresource}` : path
  }

  #accept(options: GetOptions, form: 'list' | 'one') {
    return options.metadataOnly && !this.#requester.inProcess ? { headers: { accept: metadataAccept[form] } } : {}
  }
}

export const createResourceClient = <T extends KubeObject>(
  requester: Requester,
  gvr: GroupVersionResource,
  namespace: string,
): ResourceClient<T> => new Requests<T>(requester, gvr, namespace)

function json(value: KubeObject | JsonObject | readonly JsonObject[], contentType = 'application/json'): RequestBody {
  return { kind: 'object', object: value as KubeObject, contentType }
}

function deleteBody(options: ClientDeleteOptions | undefined) {
  return { body: json({ kind: 'DeleteOptions', apiVersion: 'v1', ...(options as JsonObject | undefined) }) }
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

/** Classes, since every watch of every component has one of each: closures for each would be a tenth of what a fork holds. */
class TrimmedEvents implements StreamReader<WatchEvent> {
  readonly #events: StreamReader<WatchEvent>

  constructor(events: StreamReader<WatchEvent>) {
    this.#events = events
  }

  async next() {
    const event = await this.#events.next()
    return event && trimmedEvent(event)
  }

  drain() {
    return this.#events.drain().map(trimmedEvent)
  }

  get closed() {
    return this.#events.closed
  }

  close(error?: unknown) {
    this.#events.close(error)
  }
}

/** The same stream, whose ERROR event is thrown when its turn comes, after the events before it. */
class FailingOnErrorEvents implements StreamReader<WatchEvent> {
  readonly #events: StreamReader<WatchEvent>
  #failed: Error | undefined

  constructor(events: StreamReader<WatchEvent>) {
    this.#events = events
  }

  #fail(event: WatchEvent): Error {
    this.#failed = errorFromStatus(event.object)
    this.#events.close()
    return this.#failed
  }

  async next() {
    if (this.#failed) throw this.#failed
    const event = await this.#events.next()
    if (event?.type === 'ERROR') throw this.#fail(event)
    return event
  }

  drain() {
    if (this.#failed) return []
    const all = this.#events.drain()
    const at = all.findIndex((event) => event.type === 'ERROR')
    if (at < 0) return all
    this.#fail(all[at]!)
    return all.slice(0, at)
  }

  get closed() {
    return this.#failed === undefined && this.#events.closed
  }

  close(error?: unknown) {
    this.#events.close(error)
  }
}
