/** Under test: a handler that keeps ConfigMap-like objects in memory and answers list, watch and writes. */
import type { KubeObject } from '../api/object.ts'
import type { ApiRequest, ApiResponse, Handler, WatchEvent } from '../api/request.ts'
import { alreadyExists, conflict, expired, notFound } from '../api/status.ts'
import { Stream } from '../base/stream.ts'

export interface FakeServer {
  readonly handler: Handler
  readonly requests: ApiRequest[]
  /** Writes without a request. */
  put(object: KubeObject): KubeObject
  remove(key: string): void
  get(key: string): KubeObject | undefined
  /** Ends every open watch. */
  dropWatches(error?: unknown): void
  /** Watches from below the newest version answer 410. */
  compact(): void
  /** The next request of this method fails so. */
  fail(method: string, error: Error): void
}

export function createFakeServer(): FakeServer {
  const objects = new Map<string, KubeObject>()
  const history: { version: number; event: WatchEvent }[] = []
  const watches = new Set<Stream<WatchEvent>>()
  const requests: ApiRequest[] = []
  const failures: { method: string; error: Error }[] = []
  let version = 1
  let compacted = 0

  const keyOf = (object: KubeObject) => `${object.metadata.namespace ?? ''}/${object.metadata.name}`
  const publish = (type: WatchEvent['type'], object: KubeObject) => {
    const event: WatchEvent = { type, object }
    history.push({ version, event })
    for (const watch of watches) watch.push(event)
  }
  const stamp = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { uid: `uid-${version}`, ...object.metadata, resourceVersion: String(++version) },
  })
  const put = (object: KubeObject) => {
    const key = keyOf(object)
    const old = objects.get(key)
    const stored = stamp(
      old === undefined ? object : { ...object, metadata: { ...object.metadata, uid: old.metadata.uid! } },
    )
    objects.set(key, stored)
    publish(old === undefined ? 'ADDED' : 'MODIFIED', stored)
    return stored
  }
  const remove = (key: string) => {
    const old = objects.get(key)
    if (old === undefined) return
    objects.delete(key)
    publish('DELETED', stamp(old))
  }

  const handler: Handler = async (request): Promise<ApiResponse> => {
    requests.push(request)
    const failing = failures.findIndex((failure) => failure.method === request.method)
    if (failing >= 0) throw failures.splice(failing, 1)[0]!.error
    const parts = request.path.split('/').slice(request.path.startsWith('/apis') ? 4 : 3)
    const namespace = parts[0] === 'namespaces' && parts.length > 2 ? parts[1]! : ''
    const [resource = '', name = ''] = namespace === '' ? parts : parts.slice(2)
    const key = `${namespace}/${name}`
    const gr = { group: '', resource }
    const body = request.body?.kind === 'object' ? request.body.object : undefined
    switch (request.method) {
      case 'GET': {
        if (name !== '') {
          const object = objects.get(key)
          if (object === undefined) throw notFound(gr, name)
          return { kind: 'object', status: 200, object }
        }
        if (request.query.get('watch') === 'true') return watch(Number(request.query.get('resourceVersion')), request)
        const items = [...objects.values()].map((object) => ({
          key: keyOf(object),
          revision: Number(object.metadata.resourceVersion),
          object,
          json: () => new TextEncoder().encode(JSON.stringify(object)),
        }))
        const list: KubeObject = {
          apiVersion: 'v1',
          kind: 'ConfigMapList',
          metadata: { resourceVersion: String(version) },
        }
        return { kind: 'list', status: 200, list, items }
      }
      case 'POST': {
        const object = { ...body!, metadata: { ...body!.metadata, ...(namespace ? { namespace } : {}) } }
        if (objects.has(keyOf(object))) throw alreadyExists(gr, object.metadata.name ?? '')
        return { kind: 'object', status: 201, object: put(object) }
      }
      case 'PUT': {
        const old = objects.get(key)
        if (old === undefined) throw notFound(gr, name)
        if (body!.metadata.resourceVersion !== old.metadata.resourceVersion) throw conflict(gr, name, 'changed')
        return { kind: 'object', status: 200, object: put(body!) }
      }
      case 'PATCH': {
        const old = objects.get(key)
        if (old === undefined) throw notFound(gr, name)
        return { kind: 'object', status: 200, object: put({ ...old, ...body, metadata: old.metadata }) }
      }
      default: {
        const old = objects.get(key)
        if (old === undefined) throw notFound(gr, name)
        remove(key)
        return { kind: 'object', status: 200, object: old }
      }
    }
  }

  function watch(from: number, request: ApiRequest): ApiResponse {
    if (from < compacted) throw expired('too old resource version')
    const events = new Stream<WatchEvent>({ signal: request.signal, onClose: () => watches.delete(events) })
    watches.add(events)
    for (const past of history) if (past.version > from) events.push(past.event)
    return { kind: 'watch', status: 200, contentType: 'application/json', events, encode: () => new Uint8Array() }
  }

  return {
    handler,
    requests,
    put,
    remove,
    get: (key) => objects.get(key),
    dropWatches(error) {
      for (const watch of [...watches]) watch.close(error)
    },
    compact() {
      compacted = version
    },
    fail: (method, error) => failures.push({ method, error }),
  }
}

export function configMap(name: string, data: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
}
