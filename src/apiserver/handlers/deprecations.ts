/** Resources whose every request is answered with a warning. */
import { apiVersionOf } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'

const DEPRECATED: Readonly<Record<string, string>> = {
  'v1 Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  'v1 ComponentStatus': 'v1 ComponentStatus is deprecated in v1.19+',
}

const known = new WeakMap<ResourceRow, string | undefined>()

export function deprecationWarning(row: ResourceRow): string | undefined {
  if (row.custom !== undefined) return row.custom.deprecationWarning
  if (row.group !== '') return undefined
  if (!known.has(row)) known.set(row, DEPRECATED[`${apiVersionOf(row.group, row.version)} ${row.kind}`])
  return known.get(row)
}
