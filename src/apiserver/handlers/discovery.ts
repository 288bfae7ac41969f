/**
 * Discovery: /api, /apis, /apis/GROUP, /apis/GROUP/VERSION and their aggregated form (apidiscovery.k8s.io/v2, KEP-3352),
 * made from the scheme's rows and kept until they change.
 */
import { createHash } from 'node:crypto'
import { encodeJson } from '../../api/codec/json.ts'
import { apiVersionOf, asKubeObject, type Fields, type Json, type JsonObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { ResourceRow, Scheme, SubresourceRow } from '../../api/scheme/resource.ts'
import { builtinGroups } from '../../api/scheme/scheme.ts'
import type { Aggregator, RemoteGroupVersion } from '../aggregation/aggregator.ts'
import { discoveryBytes } from './discovery-message.ts'
import { CONTENT_TYPES, type Encoding, encodingOfKind, negotiate } from './negotiate.ts'
import { objectBytes } from './protobuf.ts'
import { noSuchResource, notAllowed } from './route.ts'
import { encodeYaml } from './yaml.ts'

const AGGREGATED_KIND = { as: 'APIGroupDiscoveryList', g: 'apidiscovery.k8s.io', v: 'v2' }

function aggregatedType(encoding: Encoding): string {
  const { as, g, v } = AGGREGATED_KIND
  return `${CONTENT_TYPES[encoding]};g=${g};v=${v};as=${as}`
}

export interface DiscoveryGroup {
  readonly name: string
  readonly versions: readonly string[]
}

/** Named groups in the order of /apis: the built-in ones in Kubernetes' order, then those of custom resources by name. */
export function servedGroups(scheme: Scheme, remotes: readonly RemoteGroupVersion[] = []): readonly DiscoveryGroup[] {
  const own = ownGroups(scheme)
  const added = new Map<string, string[]>()
  for (const { group, version } of remotes) {
    if (own.some(({ name, versions }) => name === group && versions.includes(version))) continue
    added.set(group, [...(added.get(group) ?? []), version])
  }
  const extended = own.map(({ name, versions }) => ({ name, versions: [...versions, ...(added.get(name) ?? [])] }))
  const names = new Set(own.map(({ name }) => name))
  return [
    ...extended,
    ...[...added].filter(([name]) => !names.has(name)).map(([name, versions]) => ({ name, versions })),
  ]
}

function ownGroups(scheme: Scheme): readonly DiscoveryGroup[] {
  const versions = new Map<string, string[]>()
  for (const row of scheme.rows()) {
    if (row.group === '') continue
    const known = versions.get(row.group)
    if (known === undefined) versions.set(row.group, [row.version])
    else if (!known.includes(row.version)) known.push(row.version)
  }
  const builtin = builtinGroups().map((group) => group.name)
  const custom = [...versions.keys()].filter((name) => !builtin.includes(name)).sort()
  return [...builtin.filter((name) => versions.has(name)), ...custom].map((name) => {
    const preferred = builtinGroups().find((group) => group.name === name)
    const served = versions.get(name)!
    const order = preferred?.versions.map(({ version }) => version) ?? [...served].sort(byPriority)
    return { name, versions: order.filter((version) => served.includes(version)) }
  })
}

/** Versions in Kubernetes' order: v2 before v1 before v1beta2 before v1alpha1, anything else by name behind. */
export function byPriority(a: string, b: string): number {
  const [left, right] = [versionRank(a), versionRank(b)]
  for (const [i, value] of left.entries()) if (value !== right[i]) return right[i]! - value
  return a < b ? -1 : a > b ? 1 : 0
}

function versionRank(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (match === null) return [0, 0, 0]
  const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1
  return [stage, Number(match[1]), Number(match[3] ?? 0)]
}

interface Documents {
  readonly generation: number
  readonly byKey: Map<string, Document>
}

interface Document {
  readonly bytes: Uint8Array
  /** The same in every encoding. */
  readonly etag: string
}

export interface DiscoveryOptions {
  readonly scheme: Scheme
  /** `host:port`, as clients of this machine reach the server. */
  readonly serverAddress: () => string
  /** What other servers serve, for clients on a wire: components of this process have no use for it. */
  readonly aggregator?: Pick<Aggregator, 'remotes' | 'generation'>
}

/** Answers a discovery path; undefined when the path is none. @throws StatusError 404, 405, 406 */
export function createDiscovery(options: DiscoveryOptions): (request: ApiRequest) => ApiResponse | undefined {
  const { scheme, aggregator } = options
  let documents: Documents = { generation: -1, byKey: new Map() }

  return (request) => {
    const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path
    if (path !== '/api' && path !== '/apis' && !path.startsWith('/api/') && !path.startsWith('/apis/')) return undefined
    const [, root, ...parts] = path.split('/')
    if (parts.length > (root === 'api' ? 1 : 2)) return undefined
    const isRoot = parts.length === 0
    // The aggregated form is served at the two roots alone, and not at /apis/ with a slash.
    const aggregates = isRoot && !(root === 'apis' && request.path.endsWith('/'))
    const asked = aggregates
      ? encodingOfKind(request.headers['accept'] ?? '', AGGREGATED_KIND, ['json', 'yaml', 'protobuf'])
      : undefined
    const aggregated = asked !== undefined
    const remotes = request.connection === undefined ? [] : (aggregator?.remotes() ?? [])
    const make = documentOf(scheme, root as 'api' | 'apis', parts, options.serverAddress, aggregated, remotes)
    if (make === undefined) return undefined
    // Put together from what several servers serve: lists of groups, and what is no built-in group.
    const isShared = root === 'apis' && (parts.length < 2 || !builtinGroups().some(({ name }) => name === parts[0]))
    // Of those Kubernetes looks at no method.
    if (request.method !== 'GET' && !isShared) throw notAllowed()
    const generation = scheme.generation + (aggregator?.generation ?? 0)
    if (documents.generation !== generation) documents = { generation, byKey: new Map() }
    const connection = request.connection ?? { remoteAddress: '' }
    const encoding = asked ?? negotiate({ ...request, connection }, { anyRange: isShared }).encoding
    const key = `${aggregated ? 'aggregated ' : ''}${remotes.length > 0 ? 'whole ' : ''}${encoding} ${path}`
    let document = documents.byKey.get(key)
    if (document === undefined) {
      const made = make()
      const bytes = aggregated && encoding === 'protobuf' ? discoveryBytes(made) : encode(made, encoding)
      document = { bytes, etag: aggregated ? etagOf(made) : '' }
      documents.byKey.set(key, document)
    }
    const { bytes, etag } = document
    if (!aggregated) return { kind: 'bytes', status: 200, contentType: CONTENT_TYPES[encoding], bytes: [bytes] }
    const headers = { etag, vary: 'Accept', 'cache-control': 'public' }
    if (request.headers['if-none-match'] === etag)
      return { kind: 'bytes', status: 304, headers, contentType: '', bytes: [] }
    return { kind: 'bytes', status: 200, headers, contentType: aggregatedType(encoding), bytes: [bytes] }
  }
}

function etagOf({ kind: _, apiVersion: __, ...list }: JsonObject): string {
  return `"${createHash('sha512').update(encodeJson(list)).digest('hex').toUpperCase()}"`
}

function encode(document: JsonObject, encoding: Encoding): Uint8Array {
  if (encoding === 'yaml') return Buffer.from(encodeYaml(document as Json))
  if (encoding === 'protobuf') return objectBytes(asKubeObject(document))
  return Buffer.concat([encodeJson(document), Buffer.from('\n')])
}

function documentOf(
  scheme: Scheme,
  root: 'api' | 'apis',
  parts: readonly string[],
  serverAddress: () => string,
  aggregated: boolean,
  remotes: readonly RemoteGroupVersion[],
): (() => JsonObject) | undefined {
  if (root === 'api') {
    if (parts.length === 0)
      return aggregated
        ? () => aggregatedList(scheme, [{ name: '', versions: ['v1'] }], [])
        : () => ({
            kind: 'APIVersions',
            versions: ['v1'],
            serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: serverAddress() }],
          })
    if (parts[0] !== 'v1') throw noSuchResource()
    return () => resourceList(scheme, '', 'v1')
  }
  if (parts.length === 0)
    return aggregated
      ? () => aggregatedList(scheme, servedGroups(scheme, remotes), remotes)
      : () => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: servedGroups(scheme, remotes).map(groupDocument) })
  const [name = '', version] = parts
  const group = servedGroups(scheme, remotes).find((served) => served.name === name)
  if (group === undefined) return undefined
  if (version === undefined) return () => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) })
  if (!group.versions.includes(version)) {
    // Nobody answers for a version that no definition of the group has.
    if (!builtinGroups().some((builtin) => builtin.name === name)) return undefined
    throw noSuchResource()
  }
  return () => resourceList(scheme, name, version)
}

function groupDocument({ name, versions }: DiscoveryGroup): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: apiVersionOf(name, version), version }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

const rowsOf = (scheme: Scheme, group: string, version: string): readonly ResourceRow[] =>
  scheme
    .rows()
    .filter((row) => row.group === group && row.version === version)
    .sort((a, b) => (a.resource < b.resource ? -1 : 1))

function resourceList(scheme: Scheme, group: string, version: string): JsonObject {
  const resources = rowsOf(scheme, group, version).flatMap((row): JsonObject[] => [
    {
      name: row.resource,
      singularName: row.singular,
      namespaced: row.namespaced,
      kind: row.kind,
      verbs: row.verbs,
      ...(row.shortNames.length ? { shortNames: row.shortNames } : {}),
      ...(row.categories.length ? { categories: row.categories } : {}),
      ...(row.storageVersionHash ? { storageVersionHash: row.storageVersionHash } : {}),
    },
    ...subresourcesOf(row).map((sub) => ({
      name: `${row.resource}/${sub.name}`,
      singularName: '',
      namespaced: row.namespaced,
      ...(sub.group !== row.group || sub.version !== row.version ? { group: sub.group, version: sub.version } : {}),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ])
  // The core group's list has no apiVersion of its own, as on a real server.
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(group, version),
    resources,
  }
}

function aggregatedList(
  scheme: Scheme,
  groups: readonly DiscoveryGroup[],
  remotes: readonly RemoteGroupVersion[],
): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => {
        const remote = remotes.find((candidate) => candidate.group === name && candidate.version === version)
        if (remote !== undefined) return remoteVersion(remote)
        return {
          version,
          resources: rowsOf(scheme, name, version).map((row) => aggregatedResource(row)),
          freshness: 'Current',
        }
      }),
    })),
  }
}

/** What another server tells of itself by APIResourceList, in the aggregated form; stale while it cannot be reached. */
function remoteVersion({ version, resources }: RemoteGroupVersion): JsonObject {
  if (resources === undefined) return { version, freshness: 'Stale' }
  const kind = (resource: Fields) => ({
    group: resource['group'] ?? '',
    version: resource['version'] ?? '',
    kind: resource['kind'] ?? '',
  })
  const own = resources.filter(({ name }) => !String(name).includes('/'))
  return {
    version,
    resources: own.map((resource) => {
      const subresources = resources.filter(({ name }) => String(name).startsWith(`${resource['name']}/`))
      return {
        resource: resource['name'],
        responseKind: kind(resource),
        scope: resource['namespaced'] ? 'Namespaced' : 'Cluster',
        singularResource: resource['singularName'] ?? '',
        verbs: resource['verbs'] ?? [],
        ...(resource['shortNames']?.length ? { shortNames: resource['shortNames'] } : {}),
        ...(resource['categories']?.length ? { categories: resource['categories'] } : {}),
        ...(subresources.length
          ? {
              subresources: subresources.map((sub) => ({
                subresource: String(sub['name']).slice(String(resource['name']).length + 1),
                responseKind: kind(sub),
                verbs: sub['verbs'] ?? [],
              })),
            }
          : {}),
      }
    }),
    freshness: 'Current',
  }
}

/** By name; of custom resources as their definition has them. */
function subresourcesOf(row: ResourceRow): readonly SubresourceRow[] {
  const byName = [...row.subresources].sort((a, b) => (a.name < b.name ? -1 : 1))
  return row.custom === undefined ? byName : byName.reverse()
}

/** A response kind of the resource's own group and version leaves both empty, but for custom resources. */
function aggregatedResource(row: ResourceRow): JsonObject {
  const responseKind = ({ group, version, kind }: Pick<ResourceRow, 'group' | 'version' | 'kind'>) => {
    const implied = row.custom === undefined && group === row.group && version === row.version
    return implied ? { group: '', version: '', kind } : { group, version, kind }
  }
  return {
    resource: row.resource,
    responseKind: responseKind(row),
    scope: row.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: row.singular,
    verbs: row.verbs,
    ...(row.shortNames.length ? { shortNames: row.shortNames } : {}),
    ...(row.categories.length ? { categories: row.categories } : {}),
    ...(row.subresources.length
      ? {
          subresources: subresourcesOf(row).map((sub) => ({
            subresource: sub.name,
            responseKind: responseKind(sub),
            verbs: sub.verbs,
          })),
        }
      : {}),
  }
}
