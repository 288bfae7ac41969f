/** What one reflector has been told: its watch must never go back, and must end where a list would. */
import type { KubeObject } from '../../../src/api/object.ts'
import type { WatchEvent } from '../../../src/api/request.ts'

export interface View {
  readonly path: string
  readonly query: URLSearchParams
  /** resourceVersion reached; undefined before the first list. */
  readonly version: number | undefined
  /** resourceVersions by `namespace/name`. */
  readonly items: ReadonlyMap<string, string>
  replace(objects: readonly KubeObject[], resourceVersion: string): void
  /** A watch begins at this version. */
  resume(resourceVersion: string): void
  apply(event: WatchEvent): void
}

export const viewKey = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`

export function createView(path: string, query: URLSearchParams, failed: (reason: string) => void): View {
  const items = new Map<string, string>()
  let version: number | undefined

  function apply({ type, object }: WatchEvent): void {
    if (type === 'ERROR') return
    const reached = Number(object.metadata.resourceVersion)
    if (!(reached > (version ?? 0)) && !(type === 'BOOKMARK' && reached === version))
      failed(`watch of ${path}: ${type} ${object.metadata.name} at ${reached} after ${version}`)
    version = reached
    if (type === 'BOOKMARK') return
    const key = viewKey(object)
    if (items.has(key) !== (type !== 'ADDED'))
      failed(`watch of ${path}: ${type} of ${key}, which was ${items.has(key) ? '' : 'not '}there`)
    if (type === 'DELETED') items.delete(key)
    else items.set(key, object.metadata.resourceVersion ?? '')
  }

  return {
    path,
    query,
    items,
    get version() {
      return version
    },
    replace(objects, resourceVersion) {
      items.clear()
      for (const object of objects) items.set(viewKey(object), object.metadata.resourceVersion ?? '')
      if (version !== undefined && Number(resourceVersion) < version)
        failed(`list of ${path} goes back from ${version} to ${resourceVersion}`)
      version = Number(resourceVersion)
    },
    resume(resourceVersion) {
      if (Number(resourceVersion) !== version)
        failed(`watch of ${path} begins at ${resourceVersion}, the last was at ${version}`)
    },
    apply,
  }
}
