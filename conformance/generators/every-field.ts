/**
 * Every field of every type that objects are made of, set once: what a server keeps, drops because the feature behind it is off, or
 * refuses. The types are those of the asked cluster's own OpenAPI documents; the objects are valid ones that reach the type.
 */
import type { Asker } from '../ask.ts'
import type { Case, Step } from '../recording.ts'
import type { CorpusEntry } from './mutations.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects and schemas of any kind
type Any = any

/** OpenAPI schemas by definition, and the definition of each `apiVersion kind`. */
export interface ApiTypes {
  readonly schemas: Readonly<Record<string, Any>>
  readonly kinds: ReadonlyMap<string, string>
}

/** The types of the groups that the cluster itself serves. @throws when the cluster serves no OpenAPI v3. */
export async function readTypes(asker: Asker): Promise<ApiTypes> {
  const read = async (path: string) => JSON.parse((await asker.call({ m: 'GET', p: path })).text)
  const { paths } = await read('/openapi/v3')
  const schemas: Record<string, Any> = {}
  for (const [path, { serverRelativeURL }] of Object.entries<Any>(paths))
    if (/^apis?\/.*v\d/.test(path)) Object.assign(schemas, (await read(serverRelativeURL)).components?.schemas)
  const kinds = new Map<string, string>()
  for (const [definition, schema] of Object.entries(schemas))
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
      if (schema.properties?.metadata) kinds.set(`${group ? `${group}/` : ''}${version} ${kind}`, definition)
  return { schemas, kinds }
}

type Path = readonly (string | number)[]

interface Setting {
  readonly path: Path
  readonly value: Any
  /** `definition.field`, and the value where a field has several. */
  readonly what: string
}

/** Each wrapper of a reference (`allOf` of one) is the reference; its own default stays behind. */
function resolved(types: ApiTypes, schema: Any): { readonly definition?: string; readonly schema: Any } {
  const reference: string | undefined = schema.$ref ?? schema.allOf?.[0]?.$ref
  if (reference === undefined) return { schema }
  const definition = reference.slice(reference.lastIndexOf('/') + 1)
  return { definition, schema: types.schemas[definition] }
}

const THEN = '2026-01-01T00:00:00Z'

/** Values of a field that say something: of an enum each. A struct has what it requires, and nothing else. */
function samples(types: ApiTypes, given: Any, depth = 0): readonly Any[] {
  const { definition, schema } = resolved(types, given)
  if (definition?.endsWith('.Quantity')) return ['1']
  if (definition?.endsWith('.IntOrString')) return [1]
  if (definition?.endsWith('.MicroTime')) return ['2026-01-01T00:00:00.000000Z']
  if (schema.enum) return schema.enum.filter((value: Any) => value !== '')
  switch (schema.type) {
    case 'string':
      return [schema.format === 'date-time' ? THEN : schema.format === 'byte' ? 'eA==' : 'x']
    case 'integer':
    case 'number':
      return [1]
    case 'boolean':
      return [true]
    case 'array':
      return [[samples(types, schema.items, depth + 1)[0]]]
    case 'object':
      if (schema.additionalProperties) return [{ a: samples(types, schema.additionalProperties, depth + 1)[0] }]
      return [requiredOnly(types, schema, depth)]
    default:
      return [{ a: 1 }]
  }
}

function requiredOnly(types: ApiTypes, { properties = {}, required = [] }: Any, depth: number): Any {
  if (depth > 6) return {}
  return Object.fromEntries(
    required
      .filter((name: string) => properties[name])
      .map((name: string) => [name, samples(types, properties[name], depth + 1)[0]]),
  )
}

const isStruct = (schema: Any) => schema.type === 'object' && schema.properties !== undefined
/** Types that hold themselves, or that the server alone fills. */
const PASSED_OVER = /\.(ManagedFieldsEntry|JSONSchemaProps)$/

/** Every field below `value`, which may be absent: then what leads to it is made of what its types require. */
function* settings(types: ApiTypes, given: Any, value: Any, path: Path, seen: Set<string>): Generator<Setting> {
  const { definition, schema } = resolved(types, given)
  if (schema.type === 'array') {
    const items: readonly Any[] = value?.length > 0 ? value : [undefined]
    for (const [i, item] of items.entries()) yield* settings(types, schema.items, item, [...path, i], seen)
    return
  }
  if (!isStruct(schema)) {
    if (schema.additionalProperties && isStruct(resolved(types, schema.additionalProperties).schema)) {
      const key = Object.keys(value ?? { a: 1 })[0]!
      yield* settings(types, schema.additionalProperties, value?.[key], [...path, key], seen)
    }
    return
  }
  if (definition === undefined || PASSED_OVER.test(definition)) return
  const isNew = !seen.has(definition)
  seen.add(definition)
  for (const [name, field] of Object.entries<Any>(schema.properties)) {
    const here = [...path, name]
    if (path.length === 0 && ['apiVersion', 'kind', 'metadata'].includes(name)) continue
    const present = value?.[name]
    if (isNew)
      for (const sample of samples(types, field)) {
        const text = typeof sample === 'object' ? '' : `=${sample}`
        if (present === undefined || (text !== '' && present !== sample && resolved(types, field).schema.enum))
          yield { path: here, value: sample, what: `${definition}.${name}${text}` }
      }
    if (isNew || present !== undefined) yield* settings(types, field, present, here, seen)
  }
}

/** A copy with the value at the path; what is missing on the way is made of what its types require. */
function withSetting(types: ApiTypes, root: Any, object: Any, { path, value }: Setting): Any {
  const copy = structuredClone(object)
  let at = copy
  let given: Any = root
  for (const [i, key] of path.entries()) {
    const { schema } = resolved(types, given)
    given = schema.type === 'array' ? schema.items : (schema.properties?.[key] ?? schema.additionalProperties)
    if (i === path.length - 1) at[key] = structuredClone(value)
    else {
      at[key] ??= structuredClone(samples(types, given)[0])
      at = at[key]
    }
  }
  return copy
}

const MOST = 25
const notUpdated = /Binding$|APIService|Namespace|CustomResource|FlowSchema/

interface Asked {
  readonly entry: CorpusEntry
  readonly name: string
  readonly part: 'object' | 'status'
  readonly settings: readonly (Setting & { readonly object: Any })[]
}

function* asked(types: ApiTypes, corpus: readonly CorpusEntry[], everyKind: boolean): Generator<Asked> {
  const everywhere = new Set<string>()
  const byKind = new Map<string, Set<string>>()
  for (const entry of corpus) {
    const { apiVersion, kind } = entry.object
    const definition = types.kinds.get(`${apiVersion} ${kind}`)
    if (definition === undefined) continue
    const of = `${apiVersion} ${kind}`
    if (!byKind.has(of)) byKind.set(of, new Set())
    const seen = everyKind ? byKind.get(of)! : everywhere
    const root = { $ref: `#/${definition}` }
    const all = [...settings(types, root, entry.object, [], seen)]
    for (const part of ['object', 'status'] as const) {
      const mine = all.filter(({ path }) => (path[0] === 'status') === (part === 'status'))
      for (let i = 0; i < mine.length; i += MOST)
        yield {
          entry,
          name: `${kind} ${entry.object.metadata.name}: ${part} ${i}`,
          part,
          settings: mine
            .slice(i, i + MOST)
            .map((one) => ({ ...one, object: withSetting(types, root, entry.object, one) })),
        }
    }
  }
}

const about = ({ what, path }: Setting) => `dryRun=All&x=${encodeURIComponent(`${what} ${path.join('.')}`)}`

/** Each field of a new object, of one that is replaced, and of a status. `everyKind`: of every kind that has the type. */
export function everyField(types: ApiTypes, corpus: readonly CorpusEntry[], everyKind = false): readonly Case[] {
  return [...asked(types, corpus, everyKind)].map(({ entry: { path, object }, name, part, settings: list }) => {
    const at = `${path}/${object.metadata.name}`
    const updated = !notUpdated.test(object.kind)
    const send = (m: string, p: string, body: Any): Step => ({ m, p, b: JSON.stringify(body) })
    return {
      name,
      serial: !path.includes('$NS'),
      steps: [
        ...(part === 'object' ? list.map((one) => send('POST', `${path}?${about(one)}`, one.object)) : []),
        ...(updated
          ? [
              send('POST', path, object),
              ...list.map((one) => send('PUT', `${at}${part === 'status' ? '/status' : ''}?${about(one)}`, one.object)),
              { m: 'DELETE', p: `${at}?gracePeriodSeconds=0` },
            ]
          : []),
      ],
    }
  })
}
