/**
 * The schemas behind OpenAPI documents. The published ones are unpacked at first use and let go of again: documents are
 * asked for seldom, and their clients keep them.
 */
import { gunzipSync } from 'node:zlib'
import { openApiSchemas } from '../../api/generated/openapi.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import type { Steps } from '../../base/turns.ts'
import { type Descriptions, describe, readDescriptions } from './descriptions.ts'

/** By definition (`io.k8s.api.core.v1.Pod`), in the form of OpenAPI v3. */
export type Schemas = ReadonlyMap<string, JsonObject>

const PREFIX = '#/components/schemas/'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** The published schemas, and what is said of them and of custom resources. */
export interface Published {
  readonly schemas: Schemas
  readonly descriptions: Descriptions
}

let kept: WeakRef<Published> | undefined

export function* published(): Steps<Published> {
  let whole = kept?.deref()
  if (whole === undefined) {
    const descriptions = readDescriptions()
    yield
    const text = gunzipSync(Buffer.from(openApiSchemas, 'base64')).toString()
    yield
    const parsed: Record<string, JsonObject> = JSON.parse(text)
    const schemas = new Map<string, JsonObject>()
    for (const [name, schema] of Object.entries(parsed)) {
      yield
      schemas.set(name, describe(descriptions, name, schema))
    }
    whole = { schemas, descriptions }
    kept = new WeakRef(whole)
  }
  return whole
}

/** Everything that `roots` refer to, over any number of steps, by name. */
export function* closure(roots: Iterable<string>, ...sources: readonly Schemas[]): Steps<Schemas> {
  const found = new Map<string, JsonObject>()
  const open = [...roots]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    const schema = sources.map((source) => source.get(name as string)).find((one) => one !== undefined)
    if (schema === undefined) throw new Error(`no published schema for ${name}`)
    found.set(name, schema)
    references(schema, open)
    yield
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function references(value: Json | undefined, into: string[]): void {
  if (Array.isArray(value)) for (const item of value) references(item, into)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string' && inner.startsWith(PREFIX)) into.push(inner.slice(PREFIX.length))
      else references(inner, into)
    }
}

const GVKS = 'x-kubernetes-group-version-kind'

/** Options and watch events are of every group; a document names the versions it is about. */
export function withGroupVersions(
  schemas: ReadonlyMap<string, JsonObject>,
  versions: readonly { readonly group: string; readonly version: string }[],
): Map<string, JsonObject> {
  const out = new Map(schemas)
  for (const kind of ['DeleteOptions', 'WatchEvent']) {
    const schema = out.get(META + kind)
    if (schema !== undefined)
      out.set(META + kind, { ...schema, [GVKS]: versions.map(({ group, version }) => ({ group, kind, version })) })
  }
  return out
}

export const PRESERVE = 'x-kubernetes-preserve-unknown-fields'

const SHAPE = new Set(['type', 'properties', 'items', 'additionalProperties', 'required'])

/** A schema as OpenAPI v2 can say it: a reference beside nothing but extensions, no defaults, no unions. */
export function toV2(schema: JsonObject): JsonObject {
  const out: Record<string, Json | undefined> = {}
  // v2 has no word for what may be null or anything: its clients then check nothing.
  const open = schema[PRESERVE] === true || schema['nullable'] === true
  for (const [key, value] of Object.entries(schema)) {
    if (open && SHAPE.has(key)) continue
    if (key === 'default' || key === 'oneOf' || key === 'anyOf' || key === 'nullable') continue
    if (key === 'allOf' && Array.isArray(value) && value.length === 1) Object.assign(out, toV2(value[0] as JsonObject))
    else if (key === '$ref' && typeof value === 'string') out['$ref'] = value.replace(PREFIX, '#/definitions/')
    else if (key === 'properties') {
      const properties: Record<string, Json | undefined> = {}
      for (const [name, property] of Object.entries(value as JsonObject))
        properties[name] = toV2(property as JsonObject)
      out[key] = properties
    } else if ((key === 'items' || key === 'additionalProperties') && typeof value === 'object')
      out[key] = toV2(value as JsonObject)
    else out[key] = value
  }
  // The kind itself stays an object.
  if (open && GVKS in schema) {
    out['type'] = 'object'
    delete out[PRESERVE]
  }
  if (schema['oneOf'] !== undefined && out['type'] === undefined) out['type'] = 'string'
  return out
}
