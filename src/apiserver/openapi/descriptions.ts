/**
 * descriptions: what the types and fields of the built-in API are for, in sentences of our own. They stand in descriptions/ as
 * text that people can read and edit, and are read when a document is made, so that they cost nothing before.
 *
 * A file has a line `group NAME` before the types of that group (`*` for what all kinds have in common), a line
 * `Type: sentence` for each type, and below it a line `  field: sentence` for each field. `Type like Other: sentence` takes the
 * fields it does not name from another type, `like group.Other` from another group's. All versions of a type share its text.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '../../api/object.ts'

export interface TypeDescription {
  readonly text: string
  /** As the file has them: without those of the type it is like. */
  readonly fields: ReadonlyMap<string, string>
  /** `group.Type` whose fields it has too. */
  readonly like?: string
}

/** By `group.Type`, such as `core.Pod`. */
export type Descriptions = ReadonlyMap<string, TypeDescription>

/** Beside this file, in sources and in bundles. */
const FOLDER = new URL('./descriptions/', import.meta.url)

/** @throws Error when the files cannot be read or are not in the form above: a broken installation, never a user's mistake */
export function readDescriptions(): Descriptions {
  const types = new Map<string, TypeDescription>()
  for (const name of readdirSync(FOLDER).sort())
    if (name.endsWith('.txt')) parseDescriptions(readFileSync(new URL(name, FOLDER), 'utf8'), types)
  for (const [name, { like }] of types)
    if (like !== undefined && !types.has(like)) throw new Error(`${name} is like ${like}, which has no description`)
  return types
}

const LINE =
  /^(?:group (?<group>\S+)|(?<type>\S+)(?: like (?<like>\S+))?: (?<text>\S.*)| {2}(?<field>\S+): (?<sentence>\S.*))$/

/** Adds what a file says to `into`. */
export function parseDescriptions(file: string, into: Map<string, TypeDescription>): void {
  let group: string | undefined
  let fields: Map<string, string> | undefined
  for (const line of file.split('\n')) {
    if (line === '') continue
    const found = LINE.exec(line)?.groups
    if (found === undefined) throw new Error(`no description: ${JSON.stringify(line)}`)
    const { type, text, field, sentence } = found
    if (found['group'] !== undefined) {
      group = found['group']
      fields = undefined
    } else if (type !== undefined && text !== undefined) {
      if (group === undefined) throw new Error(`the group of ${type} is not named`)
      const name = `${group}.${type}`
      if (into.has(name)) throw new Error(`${name} is described twice`)
      fields = new Map()
      const { like } = found
      into.set(name, {
        text,
        fields,
        ...(like === undefined ? {} : { like: like.includes('.') ? like : `${group}.${like}` }),
      })
    } else if (field !== undefined && sentence !== undefined) {
      if (fields === undefined) throw new Error(`the type of field ${field} is not named`)
      if (fields.has(field)) throw new Error(`${field} is described twice in a type`)
      fields.set(field, sentence)
    }
  }
}

/** `core.Pod` for `io.k8s.api.core.v1.Pod`: the version is left out. */
export function describedName(definition: string): string {
  const parts = definition.split('.')
  const type = parts.pop()
  if (/^v\d/.test(parts.at(-1) ?? '')) parts.pop()
  return `${parts.at(-1)}.${type}`
}

/** A field's sentence, the type's own or that of a type it is like; undefined when there is none. */
export function fieldText(descriptions: Descriptions, name: string, field: string): string | undefined {
  let type = descriptions.get(name)
  while (type !== undefined && !type.fields.has(field))
    type = type.like === undefined ? undefined : descriptions.get(type.like)
  return type?.fields.get(field)
}

const GVKS = 'x-kubernetes-group-version-kind'

/** A published schema with what is said of it and of its properties. */
export function describe(descriptions: Descriptions, definition: string, schema: JsonObject): JsonObject {
  const name = describedName(definition)
  const kind = name.slice(name.indexOf('.') + 1)
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>
  const common = GVKS in schema ? commonDescriptions(descriptions, kind, itemOf(properties)) : undefined
  const text = descriptions.get(name)?.text ?? common?.text
  return {
    ...(text === undefined ? {} : { description: text }),
    ...schema,
    ...(schema['properties'] === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([field, property]) => {
              const sentence = fieldText(descriptions, name, field) ?? common?.fields.get(field)
              // OpenAPI ignores what stands beside a reference.
              return [
                field,
                sentence === undefined || '$ref' in property ? property : { description: sentence, ...property },
              ]
            }),
          ),
        }),
  }
}

/** The kind of a list's items; undefined for what is no list. */
function itemOf(properties: Readonly<Record<string, JsonObject>>): string | undefined {
  const items = properties['items']?.['items'] as JsonObject | undefined
  const reference = items?.['$ref'] ?? (items?.['allOf'] as readonly JsonObject[] | undefined)?.[0]?.['$ref']
  return typeof reference === 'string' ? reference.slice(reference.lastIndexOf('.') + 1) : undefined
}

/** What is said of every object of a kind, or of a list when the kind of its items is given. */
export function commonDescriptions(descriptions: Descriptions, kind: string, item?: string): TypeDescription {
  const filled = (text: string) => text.replaceAll('{kind}', kind).replaceAll('{item}', item ?? '')
  const object = descriptions.get('*.Object')
  const list = item === undefined ? undefined : descriptions.get('*.List')
  const fields = [...(object?.fields ?? []), ...(list?.fields ?? [])]
  return {
    text: filled(list?.text ?? ''),
    fields: new Map(fields.map(([field, text]) => [field, filled(text)])),
  }
}
