/**
 * openapi: which OpenAPI documents there are and what is in them, from the scheme's rows and the published schemas. Nothing
 * is kept but hashes: a document is made when it is asked for, in small steps, since there may be thousands of definitions. A hash is made anew when the rows of its group have changed, of
 * custom resources out of what their definitions say: no document is made to know whether it is another.
 */
import { createHash } from 'node:crypto'
import { apiVersionOf, type JsonObject, parseApiVersion } from '../../api/object.ts'
import type { ResourceRow, Scheme, SchemeGroup } from '../../api/scheme/resource.ts'
import { GROUPS_WITH_OWN_SERVERS, isBuiltinGroup, knownApiVersions } from '../../api/scheme/scheme.ts'
import type { Steps } from '../../base/turns.ts'
import { type CustomSchema, customSchemas, isByDefinition } from './custom.ts'
import { jsonInSteps } from './json-in-steps.ts'
import {
  BUILTIN_FORMS,
  CUSTOM_FORMS,
  groupPathItem,
  type PathItem,
  pathItemsOf,
  type RowFacts,
  SERVICE_PATHS,
  versionPathItem,
} from './operations.ts'
import { closure, published, withGroupVersions } from './schemas.ts'
import { v2Document } from './v2.ts'
import { v3Document } from './v3.ts'

export interface Documents {
  /** Names of the v3 documents (`apis/apps/v1`), sorted, with the hash of each. Is true of the moment at which its last step ends. */
  index(): Steps<ReadonlyMap<string, string>>
  /** Of the rows and definitions that there are when it is called, however many steps it then takes; undefined for a name that is not there. */
  v3(name: string): Steps<JsonObject> | undefined
  v2(): Steps<JsonObject>
  /** Of all documents in an index. */
  v2Hash(index: ReadonlyMap<string, string>): string
}

/**
 * Goes into the hashes of custom resources' documents: raised whenever such a document comes to be made otherwise (what is said
 * in it included), since clients keep one for as long as its hash stays.
 */
export const CUSTOM_FORM = 1

const BUILTIN_INFO = { title: 'Kubernetes', version: '1.37' }
const CUSTOM_INFO = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }

export function hashOf(...pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha512')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex').toUpperCase()
}

/** Whether a delete that removes an object of the resource is answered with it. */
export type ReturnsDeleted = (row: ResourceRow) => boolean

export function createDocuments(
  scheme: Scheme,
  customSchema: CustomSchema,
  returnsDeleted: ReturnsDeleted = () => false,
): Documents {
  let index: { readonly generation: number; readonly byName: ReadonlyMap<string, string> } | undefined
  /** By name, each with the generation of its group. */
  const hashes = new Map<string, { readonly generation: number; readonly hash: string }>()

  function* hashOfDocument(name: string): Steps<string> {
    const [, group = '', version = ''] = name.split('/')
    const rows = scheme.groups().get(group)?.rows(version) ?? []
    const digests = rows.map(({ openApi }) => openApi.byDefinition?.digest)
    if (digests.length > 0 && !digests.includes(undefined))
      return hashOf(JSON.stringify([CUSTOM_FORM, name, ...digests.sort()]))
    const document = documents.v3(name)
    return document === undefined ? '' : hashOf(...(yield* jsonInSteps(yield* document)))
  }

  function* currentIndex(): Steps<ReadonlyMap<string, string>> {
    // Definitions may have changed in the meantime: then what has changed is looked at again.
    while (index?.generation !== scheme.generation) {
      const { generation: whole } = scheme
      const names = namesOf(scheme)
      for (const name of names) {
        yield
        const { generation } = groupOf(scheme, name)
        if (hashes.get(name)?.generation === generation) continue
        hashes.set(name, { generation, hash: yield* hashOfDocument(name) })
      }
      const there = new Set(names)
      for (const name of hashes.keys()) if (!there.has(name)) hashes.delete(name)
      const byName = new Map(names.map((name) => [name, hashes.get(name)?.hash ?? '']))
      index = { generation: whole, byName }
    }
    return index.byName
  }

  /** What the definitions say now: they may change while a document is made. */
  function schemasNow(rows: readonly ResourceRow[]): CustomSchema {
    const schemas = new Map(rows.filter(isByDefinition).map((row) => [row, customSchema(row)]))
    return (row) => schemas.get(row)
  }

  function versionDocument(group: string, version: string): Steps<JsonObject> | undefined {
    const rows = scheme.groups().get(group)?.rows(version) ?? []
    if (rows.length === 0) return undefined
    const schemaOf = schemasNow(rows)
    const custom = rows.every(isByDefinition)
    return (function* () {
      const items = yield* pathsOf(rows, returnsDeleted)
      if (!custom) items.push(versionPathItem(group, version))
      const { schemas: builtin, descriptions } = yield* published()
      const own = yield* customSchemas(rows, schemaOf, descriptions)
      const versions = custom ? customVersions() : [CORE, ...(group === '' ? [] : [{ group, version }])]
      const schemas = withGroupVersions(yield* closure(definitionsOf(items), own, builtin), versions)
      const info = custom ? CUSTOM_INFO : BUILTIN_INFO
      return yield* v3Document({ info, items, schemas, secured: !custom, descriptions })
    })()
  }

  function* plainDocument(item: PathItem): Steps<JsonObject> {
    const { schemas: builtin, descriptions } = yield* published()
    const schemas = yield* closure(definitionsOf([item]), builtin)
    return yield* v3Document({ info: BUILTIN_INFO, items: [item], schemas, secured: true, descriptions })
  }

  function* wholeDocument(rows: readonly ResourceRow[], groups: Iterable<string>, schemaOf: CustomSchema) {
    const items: PathItem[] = [...Object.values(SERVICE_PATHS)]
    for (const group of groups) if (group !== '') items.push(groupPathItem(group))
    for (const { group, version } of versionsOf(rows.filter((row) => !isByDefinition(row))))
      items.push(versionPathItem(group, version))
    items.push(...(yield* pathsOf(rows, returnsDeleted)))
    const { schemas, descriptions } = yield* published()
    const own = yield* customSchemas(rows, schemaOf, descriptions)
    const all = yield* closure(definitionsOf(items), own, schemas)
    return yield* v2Document(items, withGroupVersions(all, everyVersion()), descriptions)
  }

  const documents: Documents = {
    index: currentIndex,
    v3(name) {
      const service = Object.hasOwn(SERVICE_PATHS, name) ? SERVICE_PATHS[name] : undefined
      if (service !== undefined) return plainDocument(service)
      const [root, ...parts] = name.split('/')
      if (root === 'api') return parts.length === 1 ? versionDocument('', parts[0] as string) : undefined
      if (root !== 'apis' || parts.length === 0 || parts.length > 2 || parts[0] === '') return undefined
      const [group = '', version] = parts
      if (version !== undefined) return versionDocument(group, version)
      return builtinGroupsOf(scheme).has(group) ? plainDocument(groupPathItem(group)) : undefined
    },
    v2() {
      const rows = scheme.rows()
      return wholeDocument(rows, builtinGroupsOf(scheme), schemasNow(rows))
    },
    v2Hash: (all) => hashOf(JSON.stringify([...all])),
  }
  return documents
}

function* pathsOf(rows: readonly ResourceRow[], returnsDeleted: ReturnsDeleted): Steps<PathItem[]> {
  const items: PathItem[] = []
  for (const row of rows) {
    yield
    items.push(...pathItemsOf(row, factsOf(row, returnsDeleted)))
  }
  return items
}

function factsOf(row: ResourceRow, returnsDeleted: ReturnsDeleted): RowFacts {
  return {
    definition: row.openApi.definition,
    forms: isByDefinition(row) ? CUSTOM_FORMS : BUILTIN_FORMS,
    // Namespaces are answered whole while they end, and documented otherwise. Custom resources never are, and to ask would compile them.
    returnsDeleted: !isByDefinition(row) && !row.isOwnNamespace && returnsDeleted(row),
  }
}

function definitionsOf(items: readonly PathItem[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { operations } of items)
    for (const { body, answer } of operations) {
      if (body !== undefined) names.add(body.definition)
      if (answer !== undefined) names.add(answer)
    }
  return names
}

function versionsOf(rows: readonly ResourceRow[]): readonly { readonly group: string; readonly version: string }[] {
  return [...new Set(rows.map(({ group, version }) => apiVersionOf(group, version)))].map(parseApiVersion)
}

function builtinGroupsOf(scheme: Scheme): ReadonlySet<string> {
  return new Set([...scheme.groups().keys()].filter(isBuiltinGroup))
}

/** What a document is about: a group, or, of the paths of the service, no rows at all. */
function groupOf(scheme: Scheme, name: string): Pick<SchemeGroup, 'generation'> {
  if (Object.hasOwn(SERVICE_PATHS, name)) return UNCHANGING
  const [root, group = ''] = name.split('/')
  return scheme.groups().get(root === 'api' ? '' : group) ?? UNCHANGING
}

const UNCHANGING = { generation: 0 }

function namesOf(scheme: Scheme): readonly string[] {
  const names = Object.keys(SERVICE_PATHS)
  for (const { name, versions } of scheme.groups().values()) {
    if (name !== '' && isBuiltinGroup(name)) names.push(`apis/${name}`)
    for (const version of versions) names.push(name === '' ? `api/${version}` : `apis/${name}/${version}`)
  }
  return names.sort()
}

/** Registered without being served, beside those of the built-in API. */
const MACHINERY = [
  'admission.k8s.io/v1',
  'admission.k8s.io/v1beta1',
  'imagepolicy.k8s.io/v1alpha1',
  'internal.apiserver.k8s.io/v1alpha1',
  'lifecycle.k8s.io/v1alpha1',
  'apiregistration.k8s.io/v1beta1',
]

const CORE = { group: '', version: 'v1' }
/** What the server of custom resources does not know. */
const NOT_CUSTOM = new Set([...GROUPS_WITH_OWN_SERVERS, 'admission.k8s.io', 'imagepolicy.k8s.io'])
const customVersions = () => everyVersion().filter(({ group }) => !NOT_CUSTOM.has(group))

function everyVersion(): readonly { readonly group: string; readonly version: string }[] {
  return [...new Set([...knownApiVersions(), ...MACHINERY])]
    .map(parseApiVersion)
    .sort((a, b) => (a.group === b.group ? (a.version < b.version ? -1 : 1) : a.group < b.group ? -1 : 1))
}
