/**
 * openapi: which OpenAPI documents there are and what is in them, from the scheme's rows and the published schemas. Nothing
 * is kept but hashes: a document is made when it is asked for. A hash is made anew when the rows of its group have changed, of
 * custom resources out of what their definitions say: no document is made to know whether it is another.
 */
import { createHash } from 'node:crypto'
import { encodeJson } from '../../api/codec/json.ts'
import { apiVersionOf, type JsonObject, parseApiVersion } from '../../api/object.ts'
import type { ResourceRow, Scheme, SchemeGroup } from '../../api/scheme/resource.ts'
import { builtinKind, isBuiltinGroup, knownApiVersions } from '../../api/scheme/scheme.ts'
import { returnDeletedObjects } from '../registry/strategies/answers.ts'
import { type CustomSchema, customDefinition, customSchemas, isCustom } from './custom.ts'
import {
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
  /** Names of the v3 documents (`apis/apps/v1`), sorted, with the hash of each. */
  index(): ReadonlyMap<string, string>
  /** undefined for a name that is not there. */
  v3(name: string): JsonObject | undefined
  v2(): JsonObject
  v2Hash(): string
}

/**
 * Goes into the hashes of custom resources' documents: raised whenever such a document comes to be made otherwise (what is said
 * in it included), since clients keep one for as long as its hash stays.
 */
export const CUSTOM_FORM = 1

const BUILTIN_INFO = { title: 'Kubernetes', version: '1.37' }
const CUSTOM_INFO = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha512').update(bytes).digest('hex').toUpperCase()
}

export function createDocuments(scheme: Scheme, customSchema: CustomSchema): Documents {
  let index: { readonly generation: number; readonly byName: ReadonlyMap<string, string> } | undefined
  /** By name, each with the generation of its group. */
  let hashes = new Map<string, { readonly generation: number; readonly hash: string }>()

  function hashOfDocument(name: string): string {
    const [, group = '', version = ''] = name.split('/')
    const rows = scheme.groups().get(group)?.rows(version) ?? []
    const digests = rows.map(({ custom }) => custom?.digest)
    if (digests.length === 0 || digests.includes(undefined)) return hashOf(encodeJson(documents.v3(name) as JsonObject))
    return hashOf(Buffer.from(JSON.stringify([CUSTOM_FORM, name, ...digests.sort()])))
  }

  function currentIndex(): ReadonlyMap<string, string> {
    if (index?.generation === scheme.generation) return index.byName
    const next: typeof hashes = new Map()
    for (const name of namesOf(scheme)) {
      const { generation } = groupOf(scheme, name)
      const known = hashes.get(name)
      next.set(name, known?.generation === generation ? known : { generation, hash: hashOfDocument(name) })
    }
    hashes = next
    index = { generation: scheme.generation, byName: new Map([...next].map(([name, { hash }]) => [name, hash])) }
    return index.byName
  }

  const versionDocument = (group: string, version: string) => {
    const rows = scheme.groups().get(group)?.rows(version) ?? []
    if (rows.length === 0) return undefined
    const custom = rows.every(isCustom)
    const items = rows.flatMap((row) => pathItemsOf(row, factsOf(row)))
    if (!custom) items.push(versionPathItem(group, version))
    const { schemas: builtin, descriptions } = published()
    const own = customSchemas(rows, customSchema, descriptions)
    const versions = custom ? customVersions() : [CORE, ...(group === '' ? [] : [{ group, version }])]
    const schemas = withGroupVersions(closure(definitionsOf(items), own, builtin), versions)
    return v3Document({ info: custom ? CUSTOM_INFO : BUILTIN_INFO, items, schemas, secured: !custom, descriptions })
  }

  const plainDocument = (item: PathItem) => {
    const { schemas: builtin, descriptions } = published()
    const schemas = closure(definitionsOf([item]), builtin)
    return v3Document({ info: BUILTIN_INFO, items: [item], schemas, secured: true, descriptions })
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
      const items: PathItem[] = [...Object.values(SERVICE_PATHS)]
      for (const group of builtinGroupsOf(scheme)) if (group !== '') items.push(groupPathItem(group))
      for (const { group, version } of versionsOf(rows.filter((row) => !isCustom(row))))
        items.push(versionPathItem(group, version))
      for (const row of rows) items.push(...pathItemsOf(row, factsOf(row)))
      const { schemas, descriptions } = published()
      const own = customSchemas(rows, customSchema, descriptions)
      return v2Document(
        items,
        withGroupVersions(closure(definitionsOf(items), own, schemas), everyVersion()),
        descriptions,
      )
    },
    v2Hash: () => hashOf(Buffer.from(JSON.stringify([...currentIndex()]))),
  }
  return documents
}

function factsOf(row: ResourceRow): RowFacts {
  const builtin = builtinKind(row.group, row.version, row.kind)
  const name = row.group === '' ? row.resource : `${row.resource}.${row.group}`
  return typeof builtin === 'object'
    ? {
        definition: builtin.definition,
        custom: false,
        // Namespaces are answered whole while they end, and documented otherwise.
        returnsDeleted: returnDeletedObjects.has(name) && name !== 'namespaces',
      }
    : { definition: customDefinition(row), custom: true, returnsDeleted: false }
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
const NOT_CUSTOM = new Set(['admission.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io', 'imagepolicy.k8s.io'])
const customVersions = () => everyVersion().filter(({ group }) => !NOT_CUSTOM.has(group))

function everyVersion(): readonly { readonly group: string; readonly version: string }[] {
  return [...new Set([...knownApiVersions(), ...MACHINERY])]
    .map(parseApiVersion)
    .sort((a, b) => (a.group === b.group ? (a.version < b.version ? -1 : 1) : a.group < b.group ? -1 : 1))
}
