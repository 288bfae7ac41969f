/** For tests: a look at a cluster that holds the given objects, and nothing else. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { parseApiVersion } from '../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { createClusterReader } from '../cluster-reader.ts'
import type { Look } from './look.ts'

const CLUSTER_WIDE = new Set([
  'Node',
  'Namespace',
  'APIService',
  'ValidatingAdmissionPolicy',
  'ValidatingWebhookConfiguration',
  'ClusterRole',
  'ClusterRoleBinding',
])

/** Plurals are as most are: the kind in lower case and an s. */
export const givenResource = (apiVersion: string, kind: string): NamedResource => ({
  ...parseApiVersion(apiVersion),
  resource: `${kind.toLowerCase()}s`,
  kind,
  namespaced: !CLUSTER_WIDE.has(kind),
  verbs: ['get', 'list', 'delete'],
  singular: '',
  shortNames: [],
  categories: [],
})

export interface GivenCluster {
  readonly objects: readonly Fields[]
  /** In milliseconds since the epoch. */
  readonly now: number
  /** Kinds that are served though no object of them is given: `apiVersion` and kind. */
  readonly served?: readonly (readonly [apiVersion: string, kind: string])[]
  /** Paths of lists that are refused. */
  readonly refused?: readonly string[]
  /** Requests that may be made; 200 where it is not given. */
  readonly budget?: number
  /** Told of each request, its path and its query. */
  readonly onRequest?: (path: string) => void
}

export function lookAt({ objects, now, served = [], refused = [], budget = 200, onRequest }: GivenCluster): Look {
  const kinds = new Map<string, NamedResource>()
  for (const [apiVersion, kind] of [...objects.map((one) => [one['apiVersion'], one['kind']] as const), ...served])
    kinds.set(`${apiVersion} ${kind}`, givenResource(apiVersion, kind))
  const resources = [...kinds.values()]
  const reader = createClusterReader(
    simulatedRuntime(1).clock,
    {
      inProcess: false,
      async send({ path, query }: ApiRequest): Promise<ApiResponse> {
        onRequest?.(`${path}?${query}`)
        if (refused.includes(path)) {
          const message = `${path} is forbidden: User "u" cannot list it`
          throw new StatusError(403, 'Forbidden', message)
        }
        const named = objects.find((one) => pathOf(one) === path)
        const inAll = objects.filter((one) => isIn(path, one) && isSelected(one, query))
        const isOfOne = /\/(nodes|namespaces|pods|leases|serviceaccounts|customresourcedefinitions)\/[^/]+$/.test(path)
        if (named === undefined && isOfOne) throw new StatusError(404, 'NotFound', `${path} not found`)
        const answer = named ?? { kind: 'List', metadata: {}, items: inAll }
        const bytes = [Buffer.from(JSON.stringify(answer))]
        return { kind: 'bytes', status: 200, contentType: 'application/json', bytes }
      },
    },
    { budget, requestMs: 1000, totalMs: 10_000, userAgent: 'test' },
  )
  const found = {
    resources,
    everyVersion: [],
    stale: [],
    ofResource: (group: string, resource: string) =>
      resources.find((one) => one.group === group && one.resource === resource),
    ofKind: (group: string, kind: string) => resources.find((one) => one.group === group && one.kind === kind),
  }
  return { reader, kinds: found, now, dryRun: false, audited: [], path: [], examined: new Map() } as unknown as Look
}

const rootOf = (apiVersion: string) => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`)
const spaceOf = ({ metadata }: Fields) => (metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`)
const listOf = (object: Fields, space: string) =>
  `${rootOf(object['apiVersion'])}${space}/${givenResource(object['apiVersion'], object['kind']).resource}`

const pathOf = (object: Fields): string => `${listOf(object, spaceOf(object))}/${object['metadata'].name}`
const isIn = (path: string, object: Fields): boolean =>
  path === listOf(object, '') || path === listOf(object, spaceOf(object))

function isSelected(object: Fields, query: URLSearchParams): boolean {
  const { metadata, involvedObject, reason } = object as KubeObject & Fields
  const fields: Fields = {
    reason,
    'metadata.name': metadata.name,
    'involvedObject.uid': involvedObject?.['uid'],
    'involvedObject.name': involvedObject?.['name'],
  }
  return (query.get('fieldSelector') ?? '')
    .split(',')
    .filter((term) => term !== '')
    .every((term) => fields[term.split('=')[0] ?? ''] === term.split('=')[1])
}
