/** The JSON of what is about to be stored, in which a part that recurs (api/parts.ts) is written as it was written before. */
import type { Fields, ManagedFieldsEntry, SpecAndStatus } from '../../api/object.ts'
import type { Parts, WrittenPart } from '../../api/parts.ts'
import { jsonText } from '../../api/values/json.ts'

/** As jsonText, of an object whose metadata ends with its managedFields. */
export function storedText(object: SpecAndStatus, parts: Parts): string {
  const spec = parts.written(object.spec, jsonText)
  if (spec === undefined) return jsonText(object)
  const { kind, apiVersion, metadata, ...rest } = object
  const { managedFields, ...others } = metadata
  const head = jsonText({ kind, apiVersion, metadata: others }).slice(0, -'}}'.length)
  const comma = head.endsWith('{') ? '' : ','
  const entries = managedFields?.map((entry) => entryText(entry, parts))
  const managed = entries === undefined ? '' : `${comma}"managedFields":[${entries.join()}]`
  return `${head}${managed}},${fieldsText(rest, parts, spec)}}`
}

function entryText(entry: ManagedFieldsEntry, parts: Parts): string {
  const { fieldsV1, subresource, ...rest } = entry
  if (fieldsV1 === undefined) return jsonText(entry)
  const last = subresource === undefined ? '' : `,"subresource":${JSON.stringify(subresource)}`
  return `${jsonText(rest).slice(0, -1)},"fieldsV1":{${fieldsText(fieldsV1, parts)}}${last}}`
}

/** The fields without their braces. `spec` is how a field of that name is written. */
function fieldsText(fields: Fields, parts: Parts, spec?: WrittenPart): string {
  let text = ''
  for (const name in fields) {
    const value = fields[name]
    if (value === undefined) continue
    const written = spec !== undefined && name === 'spec' ? spec : parts.written(value, jsonText)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${written?.text() ?? jsonText(value)}`
  }
  return text
}
