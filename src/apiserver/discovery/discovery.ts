/**
 * Discovery: /api, /apis, /apis/GROUP, /apis/GROUP/VERSION and their aggregated form (apidiscovery.k8s.io/v2, KEP-3352),
 * made from the scheme's rows and kept until those of the group change.
 */
import { createHash, type Hash } from 'node:crypto'
import { encodeYaml } from '../../api/codec/encode-yaml.ts'
import { asKubeObject, type Json, type JsonObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Scheme } from '../../api/scheme/resource.ts'
import { isBuiltinGroup } from '../../api/scheme/scheme.ts'
import { noSuchResource, notAllowed } from '../../api/status.ts'
import { encodeJson, prettyJson } from '../../api/values/json.ts'
import type { Aggregator, RemoteGroupVersion } from '../aggregation/aggregator.ts'
import { CONTENT_TYPES, type Encoding, encodingOfKind, negotiate, wantsPretty } from '../handlers/negotiate.ts'
import { objectBytes } from '../handlers/protobuf.ts'
import { type DiscoveryGroup, servedGroup, servedGroups } from './groups.ts'
import { aggregatedGroup, groupDocument, resourceList } from './lists.ts'
import { discoveryBytes } from './message.ts'

const AGGREGATED_KIND = { as: 'APIGroupDiscoveryList', g: 'apidiscovery.k8s.io', v: 'v2' }
const AGGREGATED_HEAD: JsonObject = { kind: AGGREGATED_KIND.as, apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} }

function aggregatedType(encoding: Encoding): string {
  const { as, g, v } = AGGREGATED_KIND
  return `${CONTENT_TYPES[encoding]};g=${g};v=${v};as=${as}`
}

interface Document {
  /** Number of the state that the document was made from: as long as it is the same, so is the document. */
  readonly generation: string
  readonly bytes: readonly Uint8Array[]
  /** Of aggregated ones; the same in every encoding. */
  readonly etag: string
}

export interface DiscoveryOptions {
  readonly scheme: Scheme
  /** `host:port`, as clients of this machine reach the server. */
  readonly serverAddress: () => string
  /**
   * What other servers serve, for clients on a wire. Components of this process have no use for it, but must know of those that do not
   * answer: a namespace whose content is unknown is not empty.
   */
  readonly aggregator?: Pick<Aggregator, 'remotes' | 'generation'>
}

type Remotes = readonly RemoteGroupVersion[]

/** What a path asks for: of one group, or of all. */
interface Asked {
  readonly root: 'api' | 'apis'
  /** undefined: all groups. */
  readonly group: DiscoveryGroup | undefined
  readonly version: string | undefined
}

/** Answers a discovery path; undefined when the path is none. @throws StatusError 404, 405, 406 */
export function createDiscovery(options: DiscoveryOptions): (request: ApiRequest) => ApiResponse | undefined {
  const { scheme, aggregator } = options
  const kept = new Map<string, Document>()
  const aggregatedOf = createAggregatedGroups(scheme)

  function documentOf(key: string, generation: string, make: () => Omit<Document, 'generation'>): Document {
    let document = kept.get(key)
    if (document?.generation !== generation) {
      document = { generation, ...make() }
      kept.set(key, document)
    }
    return document
  }

  /** Those of groups that are gone go with the next change. */
  let sweptAt = 0
  function sweep(): void {
    if (sweptAt === scheme.generation) return
    sweptAt = scheme.generation
    if (kept.size > MOST_KEPT) kept.clear()
  }

  return (request) => {
    const path = request.path.replace(/\/+$/, '')
    if (path !== '/api' && path !== '/apis' && !path.startsWith('/api/') && !path.startsWith('/apis/')) return undefined
    const [, root, ...parts] = path.split('/')
    if (parts.length > (root === 'api' ? 1 : 2)) return undefined
    const isRoot = parts.length === 0
    // The aggregated form is served at the two roots alone, and not at /apis/ with a slash.
    const aggregates = isRoot && !(root === 'apis' && request.path.endsWith('/'))
    const aggregated = aggregates
      ? encodingOfKind(request.headers['accept'] ?? '', AGGREGATED_KIND, ['json', 'yaml', 'protobuf'])
      : undefined
    const isOwn = request.connection === undefined
    const remotes = (aggregator?.remotes() ?? []).filter(({ resources }) => !isOwn || resources === undefined)
    const asked = askedOf(scheme, root as 'api' | 'apis', parts, remotes)
    if (asked === undefined) return undefined
    // Put together from what several servers serve: lists of groups, and what is no built-in group.
    const isShared = root === 'apis' && (parts.length < 2 || !isBuiltinGroup(parts[0] as string))
    // kube-apiserver answers these whatever the method.
    if (request.method !== 'GET' && !isShared) throw notAllowed()
    const connection = request.connection ?? { remoteAddress: '' }
    const negotiated =
      aggregated === undefined
        ? negotiate({ ...request, connection }, { anyRange: isShared })
        : { encoding: aggregated, pretty: wantsPretty(request) }
    const { encoding } = negotiated
    const laidOut = (bytes: readonly Uint8Array[]) =>
      negotiated.pretty && encoding === 'json' ? [prettyBytes(bytes)] : bytes
    const key = `${aggregated ? 'aggregated ' : ''}${isOwn ? 'own ' : ''}${remotes.length > 0 ? 'whole ' : ''}${encoding} ${path}`
    const own = asked.group === undefined ? scheme.generation : scheme.groups().get(asked.group.name)?.generation
    const generation = `${own ?? ''} ${remotes.length > 0 ? aggregator?.generation : ''}`
    sweep()
    if (aggregated === undefined) {
      const { bytes } = documentOf(key, generation, () => ({
        bytes: [encode(plainDocument(scheme, asked, remotes, options.serverAddress), encoding)],
        etag: '',
      }))
      return { kind: 'bytes', status: 200, contentType: CONTENT_TYPES[encoding], bytes: laidOut(bytes) }
    }
    const groups = () => (root === 'api' ? [CORE] : servedGroups(scheme, remotes))
    const { bytes, etag } = documentOf(key, generation, () => aggregatedOf(groups(), remotes, encoding))
    const headers = { etag, vary: 'Accept', 'cache-control': 'public' }
    if (request.headers['if-none-match'] === etag)
      return { kind: 'bytes', status: 304, headers, contentType: '', bytes: [] }
    return { kind: 'bytes', status: 200, headers, contentType: aggregatedType(encoding), bytes: laidOut(bytes) }
  }
}

const MOST_KEPT = 1000
const CORE: DiscoveryGroup = { name: '', versions: ['v1'] }

/** undefined when nothing is served at the path. @throws StatusError 404 for a version that a built-in group has not */
function askedOf(
  scheme: Scheme,
  root: 'api' | 'apis',
  [first, version]: readonly string[],
  remotes: Remotes,
): Asked | undefined {
  if (first === undefined) return { root, group: undefined, version: undefined }
  if (root === 'api') {
    if (first !== 'v1') throw noSuchResource()
    return { root, group: CORE, version: first }
  }
  const group = servedGroup(scheme, first, remotes)
  if (group === undefined) return undefined
  if (version === undefined || group.versions.includes(version)) return { root, group, version }
  // No server answers for a version that no definition of the group has.
  if (!isBuiltinGroup(first)) return undefined
  throw noSuchResource()
}

function plainDocument(
  scheme: Scheme,
  { root, group, version }: Asked,
  remotes: Remotes,
  serverAddress: () => string,
): JsonObject {
  if (group !== undefined)
    return version === undefined
      ? { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) }
      : resourceList(scheme, group.name, version)
  if (root === 'apis')
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: servedGroups(scheme, remotes).map(groupDocument) }
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: serverAddress() }],
  }
}

type AggregatedGroups = (
  groups: readonly DiscoveryGroup[],
  remotes: Remotes,
  encoding: Encoding,
) => Omit<Document, 'generation'>

/** The aggregated list is put together from the JSON of its groups, of which only those that have changed are made anew. */
function createAggregatedGroups(scheme: Scheme): AggregatedGroups {
  let kept = new Map<string, { readonly generation: number; readonly json: Uint8Array }>()

  function jsonOf(group: DiscoveryGroup, remotes: Remotes): Uint8Array {
    const make = () => encodeJson(aggregatedGroup(scheme, group, remotes))
    const generation = scheme.groups().get(group.name)?.generation
    if (generation === undefined || remotes.some(({ group: name }) => name === group.name)) return make()
    const known = kept.get(group.name)
    if (known?.generation === generation) return known.json
    const json = make()
    kept.set(group.name, { generation, json })
    return json
  }

  return (groups, remotes, encoding) => {
    if (kept.size > 2 * groups.length + MOST_KEPT) kept = new Map()
    const items = groups.map((group) => jsonOf(group, remotes)).flatMap((json, i) => (i === 0 ? [json] : [COMMA, json]))
    // As the hash of the list's JSON without kind and apiVersion, whatever it is served as.
    const etag = `"${hashed(['{"metadata":{},"items":[', ...items, ']}'])
      .digest('hex')
      .toUpperCase()}"`
    if (encoding === 'json') return { etag, bytes: [LIST_HEAD, ...items, LIST_END] }
    const list = { ...AGGREGATED_HEAD, items: groups.map((group) => aggregatedGroup(scheme, group, remotes)) }
    return { etag, bytes: [encoding === 'protobuf' ? discoveryBytes(list) : encode(list, encoding)] }
  }
}

const COMMA = Buffer.from(',')
const LIST_HEAD = Buffer.from(`${JSON.stringify(AGGREGATED_HEAD).slice(0, -1)},"items":[`)
const LIST_END = Buffer.from(']}\n')

function hashed(parts: readonly (string | Uint8Array)[]): Hash {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash
}

/** For a client that people read with. */
const prettyBytes = (bytes: readonly Uint8Array[]) =>
  Buffer.from(prettyJson(JSON.parse(Buffer.concat(bytes).toString())))

function encode(document: JsonObject, encoding: Encoding): Uint8Array {
  if (encoding === 'yaml') return Buffer.from(encodeYaml(document as Json))
  if (encoding === 'protobuf') return objectBytes(asKubeObject(document))
  return Buffer.concat([encodeJson(document), Buffer.from('\n')])
}
