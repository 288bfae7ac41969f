/** Policies in front of a request, without a server: what tests of both kinds of policies share. */

import type { Fields, KubeObject } from '../../../api/object.ts'
import { noParts } from '../../../api/parts.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { builtinScheme } from '../../../api/scheme/scheme.ts'
import { builtinReader } from '../../endpoints/builtin-reader.ts'
import type { CacheReads } from '../../reads.ts'
import type { ResourceEndpoint } from '../../registry/endpoint.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin, AdmissionPluginFactory } from '../plugin.ts'
import { noReinvocation } from '../reinvocation.ts'

const apiVersion = 'admissionregistration.k8s.io/v1'
const row = builtinScheme().find('', 'v1', 'configmaps')!
export const maps = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

export interface Given {
  readonly name: string
  readonly spec: Fields
  readonly binding?: Fields
}

/** The plugin over policies with a binding each of the same name, and ConfigMaps as params. */
export function pluginOver(
  factory: AdmissionPluginFactory,
  kind: 'mutating' | 'validating',
  given: readonly Given[],
  configMaps: readonly KubeObject[] = [],
): AdmissionPlugin {
  const policies = given.map(({ name, spec }) => ({
    apiVersion,
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [maps] }, ...spec },
  }))
  const bindings = given.map(({ name, binding }) => ({
    apiVersion,
    metadata: { name },
    spec: { policyName: name, ...binding },
  }))
  const lists: Readonly<Record<string, readonly object[]>> = {
    [`${kind}admissionpolicies`]: policies,
    [`${kind}admissionpolicybindings`]: bindings,
    configmaps: configMaps,
  }
  const list = (resource: string) => (lists[resource] ?? []) as readonly KubeObject[]
  const reads = {
    list: (_group: string, resource: string) => list(resource),
    get: (_group: string, resource: string, _namespace: string, name: string) =>
      list(resource).find(({ metadata }) => metadata.name === name),
  } as unknown as CacheReads
  const host = {
    scheme: builtinScheme(),
    authorizer: { authorize: () => ({ verdict: 'allow', reason: '' }) },
    generationOf: () => () => 1,
    endpointOf,
  } as unknown as AdmissionHost
  return factory(reads, host)
}

const itself = (object: KubeObject) => object

/** Of a kind that is served as it is stored. */
export const endpointOf = (row: ResourceRow): ResourceEndpoint =>
  ({
    row,
    reader: builtinReader(row),
    readerOf: builtinReader,
    served: { object: itself, now: itself },
    worked: { admitted: itself },
    parts: noParts,
  }) as Partial<Record<keyof ResourceEndpoint, unknown>> as ResourceEndpoint

export const configMap = (data: Readonly<Record<string, string>>, name = 'a'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n' },
  data,
})

export function creating(object: KubeObject, more: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  return {
    operation: 'CREATE',
    endpoint: endpointOf(row),
    subresource: '',
    namespace: 'n',
    name: object.metadata.name ?? '',
    object,
    oldObject: undefined,
    user: { name: 'u', groups: [] },
    dryRun: false,
    options: {},
    warn() {},
    reinvocation: noReinvocation(),
    ...more,
  }
}
