/**
 * node tools/typed-clients.ts: writes src/cluster/typed-clients.ts, the names by which a program asks for the clients of built-in
 * resources, from the scheme: `client.apps.deployments('ns')`. Of a resource in several versions it takes the newest.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { builtinScheme } from '../src/api/scheme/scheme.ts'
import { clientMethodName, groupName } from '../src/cluster/client-names.ts'

const FILE = new URL('../src/cluster/typed-clients.ts', import.meta.url)
const TYPES = new URL('../src/api/generated/types.ts', import.meta.url)

export function typedClients(): string {
  const names = new Map<string, string>()
  for (const [, definition = '', name = ''] of readFileSync(TYPES, 'utf8').matchAll(
    /^\/\*\* (io\.k8s\.\S+) \*\/\nexport type (\w+) /gm,
  ))
    names.set(definition, name)
  const used = new Set<string>()
  const groups: string[] = []
  for (const group of builtinScheme().groups().values()) {
    const lines: string[] = []
    for (const row of group.versions.flatMap((version) => group.rows(version))) {
      const isNewest = group.versions.findLast((version) =>
        group.rows(version).some(({ resource }) => resource === row.resource),
      )
      if (isNewest !== row.version) continue
      const type = names.get(row.schema.definition)
      if (type === undefined) throw new Error(`${row.schema.definition} has no type`)
      used.add(type)
      lines.push(`    ${clientMethodName(row)}: ${row.namespaced ? 'Namespaced' : 'ClusterScoped'}<${type}>`)
    }
    groups.push(
      `  readonly ${groupName(group.name)}: {\n${lines
        .sort()
        .map((line) => line.replace('    ', '    readonly '))
        .join('\n')}\n  }`,
    )
  }
  return `// Written by tools/typed-clients.ts; do not edit.
import type {
${[...used]
  .sort()
  .map((name) => `  ${name},`)
  .join('\n')}
} from '../api/generated/types.ts'
import type { KubeObject, ResourceClient } from '../client/client.ts'

/** Of one namespace; without one: of all, for lists and watches. */
export type Namespaced<T extends KubeObject> = (namespace?: string) => ResourceClient<T>
export type ClusterScoped<T extends KubeObject> = () => ResourceClient<T>

/** Clients of the built-in resources, by the first word of their group (\`core\` for the one without a name). */
export interface TypedClients {
${groups.join('\n')}
}
`
}

if (import.meta.main) writeFileSync(FILE, typedClients())
