/**
 * What every path of the API takes and answers, by rule from the scheme's rows: the one model that OpenAPI v2 and v3 are
 * written from. Operation ids, tags and parameters are those of kube-apiserver.
 */
import type { GroupVersionKind } from '../../api/object.ts'
import type { ResourceRow, SubresourceRow } from '../../api/scheme/resource.ts'
import { type Descriptions, fieldText } from './descriptions.ts'
import {
  CONNECT,
  DELETE,
  DELETE_COLLECTION,
  GET_CUSTOM,
  LIST,
  LOG,
  NAME,
  NAMESPACE,
  PATCH,
  type Parameter,
  PRETTY,
  REST,
  WRITE,
} from './parameters.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface OpenApiOperation {
  readonly method: Method
  readonly tag: string
  readonly id: string
  readonly action?: string
  readonly gvk?: GroupVersionKind
  /** The kind of the resource, and the subresource that it is about. */
  readonly about?: { readonly kind: string; readonly part?: string }
  /** What it does, among the sentences about operations; the action unless given. */
  readonly text?: string
  readonly parameters: readonly Parameter[]
  /** Definition of the body. */
  readonly body?: { readonly definition: string; readonly required: boolean } | undefined
  /** What the path accepts; undefined where OpenAPI v2 says nothing of it. */
  readonly consumes?: readonly string[]
  readonly produces: readonly string[]
  readonly codes: readonly number[]
  /** Definition of the answer; undefined for text. */
  readonly answer?: string
}

/** @throws Error for an operation without a description: a mistake in these rules */
export function operationText(descriptions: Descriptions, { action, text, about, id }: OpenApiOperation): string {
  const key = text ?? (about?.part === undefined ? action : `${action}-part`)
  const found = key === undefined ? undefined : fieldText(descriptions, 'http.Operation', key)
  if (found === undefined) throw new Error(`operation ${id} has no description`)
  return found.replaceAll('{kind}', about?.kind ?? '').replaceAll('{part}', about?.part ?? '')
}

export interface PathItem {
  readonly path: string
  readonly operations: readonly OpenApiOperation[]
}

/** In what the operations of built-in kinds and of custom resources differ. */
export interface OperationForms {
  readonly produces: readonly string[]
  /** Of lists, which may be watched. */
  readonly streams: readonly string[]
  readonly consumes: readonly string[]
  readonly get: readonly Parameter[]
  readonly patchTypes: readonly string[]
  readonly patchCodes: readonly number[]
  readonly deleteCollection: readonly Parameter[]
  /** Whether a collection is deleted by options in a body. */
  readonly deletesByBody: boolean
  /** Whether there are the old paths of watches. */
  readonly hasWatchPaths: boolean
  /** The kind that operations of a subresource name: its own, or the resource's. */
  readonly partKind: 'own' | 'resource'
}

/** What the rules need to know of a row that its schema alone does not say. */
export interface RowFacts {
  /** Definition of the kind. */
  readonly definition: string
  readonly forms: OperationForms
  /** A DELETE answers with the object, not with a Status. */
  readonly returnsDeleted: boolean
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const JSON_YAML = ['application/json', 'application/yaml']
const ENCODINGS = [...JSON_YAML, 'application/vnd.kubernetes.protobuf']
const STREAMS = [...ENCODINGS, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']
const STRATEGIC = 'application/strategic-merge-patch+json'
const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  STRATEGIC,
  'application/apply-patch+yaml',
]
const ANY = ['*/*']

export const BUILTIN_FORMS: OperationForms = {
  produces: ENCODINGS,
  streams: STREAMS,
  consumes: ANY,
  get: [PRETTY],
  patchTypes: PATCHES,
  patchCodes: [200, 201],
  deleteCollection: DELETE_COLLECTION,
  deletesByBody: true,
  hasWatchPaths: true,
  partKind: 'own',
}

export const CUSTOM_FORMS: OperationForms = {
  produces: JSON_YAML,
  streams: JSON_YAML,
  consumes: JSON_YAML,
  get: GET_CUSTOM,
  patchTypes: PATCHES.filter((type) => type !== STRATEGIC),
  patchCodes: [200],
  // They document the selection alone.
  deleteCollection: LIST,
  deletesByBody: false,
  hasWatchPaths: false,
  partKind: 'resource',
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** `rbacAuthorization` for rbac.authorization.k8s.io, `core` for the core group. */
function groupWord(group: string): string {
  if (group === '') return 'core'
  const [first = '', ...rest] = group.replace(/\.k8s\.io$/, '').split('.')
  return first + rest.map(capital).join('')
}

const tagOf = (group: string, version: string) => `${groupWord(group)}_${version}`
const wordOf = (group: string, version: string) => capital(groupWord(group)) + capital(version)

/** Paths of one resource: collections, objects, subresources and old watch paths. */
export function pathItemsOf(row: ResourceRow, facts: RowFacts): readonly PathItem[] {
  const { group, version, kind, verbs } = row
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const scope = row.namespaced ? 'namespaces/{namespace}/' : ''
  const collection = `${base}/${scope}${row.resource}`
  const word = wordOf(group, version)
  const owner = (row.namespaced ? 'Namespaced' : '') + kind
  const where = row.namespaced ? [NAMESPACE] : []
  const has = (verb: string) => verbs.includes(verb)
  const common = { tag: tagOf(group, version), gvk: { group, version, kind }, about: { kind } }
  const { forms } = facts
  const { produces, streams, consumes } = forms
  const list = { produces: streams, consumes, codes: [200], answer: `${facts.definition}List`, action: 'list' as const }
  const deleted = {
    consumes,
    produces,
    body: { definition: `${META}.DeleteOptions`, required: false },
    method: 'delete' as const,
  }

  const items: PathItem[] = []
  const add = (path: string, operations: readonly (OpenApiOperation | false)[]) => {
    const there = operations.filter((operation) => operation !== false)
    if (there.length > 0) items.push({ path, operations: there })
  }
  if (row.namespaced && has('list'))
    add(`${base}/${row.resource}`, [
      { ...common, ...list, method: 'get', id: `list${word}${kind}ForAllNamespaces`, parameters: LIST },
    ])
  add(collection, [
    has('list') && { ...common, ...list, method: 'get', id: `list${word}${owner}`, parameters: [...where, ...LIST] },
    has('create') && {
      ...common,
      ...written(facts.definition, produces, consumes, [200, 201, 202]),
      method: 'post',
      action: 'post',
      id: `create${word}${owner}`,
      parameters: [...where, ...WRITE],
    },
    has('deletecollection') && {
      ...common,
      ...deleted,
      ...(forms.deletesByBody ? {} : { body: undefined }),
      codes: [200],
      answer: `${META}.Status`,
      action: 'deletecollection',
      id: `delete${word}Collection${owner}`,
      parameters: [...where, ...forms.deleteCollection],
    },
  ])
  const object: Place = {
    common,
    word,
    owner,
    definition: facts.definition,
    forms,
    where: [NAME, ...where],
  }
  add(`${collection}/{name}`, [
    ...(has('get') ? readAndWrite(object, verbs) : []),
    has('delete') && {
      ...common,
      ...deleted,
      codes: [200, 202],
      answer: facts.returnsDeleted ? facts.definition : `${META}.Status`,
      action: 'delete',
      id: `delete${word}${owner}`,
      parameters: [...object.where, ...DELETE],
    },
  ])
  for (const sub of row.subresources) {
    const path = `${collection}/{name}/${sub.name}`
    if (sub.name in CONNECTIONS) {
      const connect = CONNECTIONS[sub.name] as readonly Method[]
      add(path, connections(object, sub, connect, false))
      if (sub.name === 'proxy') add(`${path}/{path}`, connections(object, sub, connect, true))
    } else add(path, subresource(object, sub, row))
  }
  if (has('watch') && forms.hasWatchPaths) items.push(...watchPaths(row, base, common, word, owner))
  return items
}

interface Place {
  readonly common: Pick<OpenApiOperation, 'tag' | 'about'> & { readonly gvk: GroupVersionKind }
  readonly word: string
  /** `NamespacedPod`: what operation ids name. */
  readonly owner: string
  readonly definition: string
  readonly forms: OperationForms
  readonly where: readonly Parameter[]
}

function written(
  definition: string,
  produces: readonly string[],
  consumes: readonly string[],
  codes: readonly number[],
) {
  return { body: { definition, required: true }, produces, consumes, codes, answer: definition }
}

/** get, update and patch of an object, or of a subresource that reads and writes like one. */
function readAndWrite(place: Place, verbs: readonly string[], suffix = ''): readonly (OpenApiOperation | false)[] {
  const { common, word, owner, definition, where, forms } = place
  const { produces, consumes } = forms
  const name = `${word}${owner}${suffix}`
  return [
    verbs.includes('get') && {
      ...common,
      method: 'get',
      action: 'get',
      id: `read${name}`,
      parameters: [...where, ...forms.get],
      consumes,
      produces,
      codes: [200],
      answer: definition,
    },
    verbs.includes('update') && {
      ...common,
      ...written(definition, produces, consumes, [200, 201]),
      method: 'put',
      action: 'put',
      id: `replace${name}`,
      parameters: [...where, ...WRITE],
    },
    verbs.includes('create') &&
      suffix !== '' && {
        ...common,
        ...written(definition, produces, consumes, [200, 201, 202]),
        method: 'post',
        action: 'post',
        id: `create${name}`,
        parameters: [...where, ...WRITE],
      },
    verbs.includes('patch') && {
      ...common,
      ...written(definition, produces, consumes, forms.patchCodes),
      body: { definition: `${META}.Patch`, required: true },
      consumes: forms.patchTypes,
      method: 'patch',
      action: 'patch',
      id: `patch${name}`,
      parameters: [...where, ...PATCH],
    },
  ]
}

function subresource(place: Place, sub: SubresourceRow, row: ResourceRow): readonly (OpenApiOperation | false)[] {
  const gvk = { group: sub.group, version: sub.version, kind: sub.kind }
  const suffix = capital(sub.name)
  const about = { kind: row.kind, part: sub.name }
  if (sub.name === 'log')
    return [
      {
        ...place.common,
        about,
        method: 'get',
        action: 'get',
        id: `read${place.word}${place.owner}${suffix}`,
        parameters: [...place.where, ...LOG],
        consumes: place.forms.consumes,
        produces: ['text/plain', ...place.forms.produces],
        codes: [200],
      },
    ]
  const definition = sub.kind === row.kind ? place.definition : sub.schema.definition
  const common = { ...place.common, about, ...(place.forms.partKind === 'own' ? { gvk } : {}) }
  return readAndWrite({ ...place, common, definition }, sub.verbs, suffix)
}

const EVERY_METHOD: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']
const STREAM_METHODS: readonly Method[] = ['get', 'post']
const CONNECTIONS: Readonly<Record<string, readonly Method[]>> = {
  attach: STREAM_METHODS,
  exec: STREAM_METHODS,
  portforward: STREAM_METHODS,
  proxy: EVERY_METHOD,
}

function connections(
  { common, word, owner, where }: Place,
  sub: SubresourceRow,
  methods: readonly Method[],
  withPath: boolean,
): readonly OpenApiOperation[] {
  const end = `${owner}${capital(sub.name)}${withPath ? 'WithPath' : ''}`
  const parameters = [...where, ...(withPath ? [REST] : []), ...(CONNECT[sub.kind] ?? [])]
  return methods.map((method) => ({
    ...common,
    gvk: { group: sub.group, version: sub.version, kind: sub.kind },
    about: { kind: common.gvk.kind, part: sub.name },
    text: 'connect',
    method,
    action: 'connect',
    id: `connect${word}${capital(method)}${end}`,
    parameters,
    consumes: ANY,
    produces: ANY,
    codes: [200],
  }))
}

function watchPaths(
  row: ResourceRow,
  base: string,
  common: Place['common'],
  word: string,
  owner: string,
): readonly PathItem[] {
  const scope = row.namespaced ? 'namespaces/{namespace}/' : ''
  const where = row.namespaced ? [NAMESPACE] : []
  const watch = (path: string, id: string, action: string, parameters: readonly Parameter[]): PathItem => ({
    path,
    operations: [
      {
        ...common,
        method: 'get',
        action,
        id: `watch${word}${id}`,
        parameters,
        consumes: ANY,
        produces: STREAMS,
        codes: [200],
        answer: `${META}.WatchEvent`,
      },
    ],
  })
  const all = `${base}/watch/${scope}${row.resource}`
  return [
    ...(row.namespaced
      ? [watch(`${base}/watch/${row.resource}`, `${row.kind}ListForAllNamespaces`, 'watchlist', LIST)]
      : []),
    watch(all, `${owner}List`, 'watchlist', [...where, ...LIST]),
    ...(row.verbs.includes('get') ? [watch(`${all}/{name}`, owner, 'watch', [NAME, ...where, ...LIST])] : []),
  ]
}

function service(path: string, tag: string, id: string, extra: Partial<OpenApiOperation>): PathItem {
  return {
    path,
    operations: [{ method: 'get', tag, id, parameters: [], produces: ['application/json'], codes: [200], ...extra }],
  }
}

const discovered = (kind: string) => ({ answer: `${META}.${kind}`, consumes: ENCODINGS, produces: ENCODINGS })

/** Discovery of a group version. */
export function versionPathItem(group: string, version: string): PathItem {
  const path = group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`
  return service(path, tagOf(group, version), `get${wordOf(group, version)}APIResources`, {
    ...discovered('APIResourceList'),
    text: 'version',
  })
}

export function groupPathItem(group: string): PathItem {
  const word = groupWord(group)
  return service(`/apis/${group}/`, word, `get${capital(word)}APIGroup`, { ...discovered('APIGroup'), text: 'group' })
}

/** Paths that belong to no group, by the name of their document in OpenAPI v3. */
export const SERVICE_PATHS: Readonly<Record<string, PathItem>> = {
  '.well-known/openid-configuration': service(
    '/.well-known/openid-configuration/',
    'WellKnown',
    'getServiceAccountIssuerOpenIDConfiguration',
    { text: 'issuer' },
  ),
  api: service('/api/', 'core', 'getCoreAPIVersions', { ...discovered('APIVersions'), text: 'core' }),
  apis: service('/apis/', 'apis', 'getAPIVersions', { ...discovered('APIGroupList'), text: 'groups' }),
  'openid/v1/jwks': service('/openid/v1/jwks/', 'openid', 'getServiceAccountIssuerOpenIDKeyset', {
    produces: ['application/jwk-set+json'],
    text: 'keys',
  }),
  version: service('/version/', 'version', 'getCodeVersion', {
    answer: 'io.k8s.apimachinery.pkg.version.Info',
    consumes: ['application/json'],
    text: 'build',
  }),
}
