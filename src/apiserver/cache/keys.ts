/** Where objects are stored: the keys of Kubernetes' own layout. */
import { pathSegmentName } from '../../api/names/name-formats.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { badRequest } from '../../api/status.ts'

/** /registry/<prefix>/[namespace/]name, the very layout of Kubernetes. */
export function storageKey(row: ResourceRow, namespace: string, name: string): string {
  return row.namespaced
    ? `/registry/${row.storagePrefix}/${namespace}/${name}`
    : `/registry/${row.storagePrefix}/${name}`
}

/** The key of an object named in a path, which need not be a name that any object can have. @throws StatusError 400 */
export function namedKey(row: ResourceRow, namespace: string, name: string): string {
  const [problem] = pathSegmentName(name)
  if (problem !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`)
  return storageKey(row, namespace, name)
}

/** The prefix under which a list of `namespace` ('' for all) lies. */
export function storageRange(row: ResourceRow, namespace: string): string {
  return row.namespaced && namespace !== ''
    ? `/registry/${row.storagePrefix}/${namespace}/`
    : `/registry/${row.storagePrefix}/`
}
