/** Which kinds a policy is about, and what the server says of them. */
import { typeOfOpenApi } from '../../api/cel/openapi-types.ts'
import type { Type } from '../../api/cel/types.ts'
import { type Fields, parseApiVersion } from '../../api/object.ts'
import type { Client, DiscoveredResource } from '../../client/client.ts'

/** More than these are not looked at. */
const mostKinds = 10

export interface PolicyKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Those of the rules without wildcards, each resource that there is; sorted. */
export function kindsOf(policy: Fields, everyVersion: readonly DiscoveredResource[]): readonly PolicyKind[] {
  const kinds = new Map<string, PolicyKind>()
  for (const rule of (policy['matchConstraints']?.resourceRules ?? []) as readonly Fields[]) {
    const { apiGroups = [], apiVersions = [], resources = [] } = rule
    const all: readonly string[] = [...apiGroups, ...apiVersions, ...resources]
    if (all.some((name) => name.includes('*'))) continue
    for (const found of everyVersion)
      if (
        apiGroups.includes(found.group) &&
        apiVersions.includes(found.version) &&
        resources.includes(found.resource)
      ) {
        const { group, version, kind } = found
        kinds.set(textOf(found), { group, version, kind })
      }
  }
  return [...kinds.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, mostKinds)
    .map(([, kind]) => kind)
}

/** As Kubernetes writes it. */
export const textOf = ({ group, version, kind }: PolicyKind): string => `${group}/${version}, Kind=${kind}`

/** undefined when the server says nothing of the kind. */
export async function typeOfKind(client: Client, { group, version, kind }: PolicyKind): Promise<Type | undefined> {
  const path = group === '' ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${group}/${version}`
  const { status, body } = await client.raw('GET', path)
  if (status !== 200) return undefined
  const schemas: Readonly<Record<string, Fields>> = JSON.parse(body).components?.schemas ?? {}
  const name = Object.keys(schemas).find((candidate) =>
    ((schemas[candidate]?.['x-kubernetes-group-version-kind'] ?? []) as readonly Fields[]).some(
      (own) => own['group'] === group && own['version'] === version && own['kind'] === kind,
    ),
  )
  return name === undefined ? undefined : typeOfOpenApi(schemas, name)
}

export function kindOfParams(policy: Fields): PolicyKind | undefined {
  const { apiVersion, kind } = (policy['paramKind'] ?? {}) as Fields
  return apiVersion === undefined ? undefined : { ...parseApiVersion(apiVersion), kind }
}
