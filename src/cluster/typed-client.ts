/** The client of an embedded cluster: that of every component, and beside it one of each built-in resource with its type. */
import { builtinScheme } from '../api/scheme/scheme.ts'
import { StatusError } from '../api/status.ts'
import type { Client, KubeObject, ResourceClient } from '../client/client.ts'
import { clientMethodName, groupName } from './client-names.ts'
import type { TypedClients } from './typed-clients.ts'

export interface TypedClient extends Client, TypedClients {
  /** Any other resource, by its plural: `client.custom<Widget>('example.com/v1', 'widgets', 'ns')`. */
  custom<T extends KubeObject = KubeObject>(apiVersion: string, resource: string, namespace?: string): ResourceClient<T>
}

export function typedClient(untraced: Client): TypedClient {
  const client: Client = { ...untraced, resource: (gvr) => traced(untraced.resource(gvr)) }
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

/** Refusals have no trace of their own (StatusError): here they get that of the call, which a failed test points at. */
function traced<T extends KubeObject>(client: ResourceClient<T>): ResourceClient<T> {
  const withCall =
    <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await method.apply(client, args)
      } catch (error) {
        if (error instanceof StatusError && error.code < 500) Error.captureStackTrace(error)
        throw error
      }
    }
  return {
    gvr: client.gvr,
    get: withCall(client.get),
    list: withCall(client.list),
    listAnswer: withCall(client.listAnswer),
    watch: withCall(client.watch),
    create: withCall(client.create),
    update: withCall(client.update),
    patch: withCall(client.patch),
    delete: withCall(client.delete),
    deleteCollection: withCall(client.deleteCollection),
    namespace: (namespace) => traced(client.namespace(namespace)),
  }
}
