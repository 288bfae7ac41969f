/** The client of an embedded cluster: that of every component, and beside it one of each built-in resource with its type. */
import { builtinScheme } from '../api/scheme/scheme.ts'
import type { Client, KubeObject, ResourceClient } from '../client/client.ts'
import { clientMethodName, groupName } from './client-names.ts'
import type { TypedClients } from './typed-clients.ts'

export interface TypedClient extends Client, TypedClients {
  /** Any other resource, by its plural: `client.custom<Widget>('example.com/v1', 'widgets', 'ns')`. */
  custom<T extends KubeObject = KubeObject>(apiVersion: string, resource: string, namespace?: string): ResourceClient<T>
}

export function typedClient(client: Client): TypedClient {
  const inNamespace = <T extends KubeObject>(all: ResourceClient<T>, namespace: string | undefined) =>
    namespace === undefined ? all : all.namespace(namespace)
  const groups: Record<string, Record<string, (namespace?: string) => ResourceClient>> = {}
  for (const one of builtinScheme().groups().values()) {
    const clients: Record<string, (namespace?: string) => ResourceClient> = {}
    // The newest version comes last.
    for (const { group, version, resource, kind } of one.versions.flatMap((each) => one.rows(each)))
      clients[clientMethodName({ kind, resource })] = (namespace) =>
        inNamespace(client.resource({ group, version, resource }), namespace)
    groups[groupName(one.name)] = clients
  }
  const custom: TypedClient['custom'] = <T extends KubeObject>(
    apiVersion: string,
    resource: string,
    namespace?: string,
  ) => {
    const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    return inNamespace(client.resource<T>({ group, version: version ?? '', resource }), namespace)
  }
  // tools/typed-clients.ts writes the type from the same table.
  return Object.assign({ ...client, custom }, groups) as object as TypedClient
}
