/** Which kinds a policy is about, and what the server says of them. */
import { typeOfOpenApi } from '../../api/cel/openapi-types.ts'
import type { Type } from '../../api/cel/types.ts'
import type { ValidatingAdmissionPolicySpec } from '../../api/generated/types.ts'
import { parseApiVersion } from '../../api/object.ts'
import type { Client, DiscoveredResource } from '../../client/client.ts'

/** More than these are not looked at. */
const mostKinds = 10

export interface PolicyKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Those of the rules without wildcards, each resource that there is; sorted. */
export function kindsOf(
  { matchConstraints }: ValidatingAdmissionPolicySpec,
  everyVersion: readonly DiscoveredResource[],
): readonly PolicyKind[] {
  const kinds = new Map<string, PolicyKind>()
  for (const rule of matchConstraints?.resourceRules ?? []) {
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
        kinds.set(policyKindText(found), { group, version, kind })
      }
  }
  return [...kinds.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, mostKinds)
    .map(([, kind]) => kind)
}

/** As Kubernetes writes it. */
export const policyKindText = ({ group, version, kind }: PolicyKind): string => `${group}/${version}, Kind=${kind}`

/** undefined when the server says nothing of the kind. */
interface OpenApiSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

export async function typeOfKind(client: Client, { group, version, kind }: PolicyKind): Promise<Type | undefined> {
  const path = group === '' ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${group}/${version}`
  const { status, body } = await client.raw('GET', path)
  if (status !== 200) return undefined
  const document: { readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> } } =
    JSON.parse(body)
  const schemas = document.components?.schemas ?? {}
  const name = Object.keys(schemas).find((candidate) =>
    (schemas[candidate]?.['x-kubernetes-group-version-kind'] ?? []).some(
      (own) => own.group === group && own.version === version && own.kind === kind,
    ),
  )
  return name === undefined ? undefined : typeOfOpenApi(schemas, name)
}

export function kindOfParams({ paramKind }: ValidatingAdmissionPolicySpec): PolicyKind | undefined {
  const { apiVersion, kind = '' } = paramKind ?? {}
  return apiVersion === undefined ? undefined : { ...parseApiVersion(apiVersion), kind }
}
