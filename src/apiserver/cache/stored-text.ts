/** The JSON of what is about to be stored, in which a shared part (api/parts.ts) is written as it was written before. */
import { jsonText } from '../../api/codec/json.ts'
import type { Fields, KubeObject, ManagedFieldsEntry } from '../../api/object.ts'
import { isShared, perPart } from '../../api/parts.ts'

export const partText: (part: object) => string = perPart(jsonText)

/** As jsonText, of an object whose metadata ends with its managedFields. */
export function storedText(object: KubeObject): string {
  if (!isShared(object['spec'])) return jsonText(object)
  const { kind, apiVersion, metadata, ...rest } = object
  const { managedFields, ...others } = metadata
  const head = jsonText({ kind, apiVersion, metadata: others }).slice(0, -'}}'.length)
  const comma = head.endsWith('{') ? '' : ','
  const managed = managedFields === undefined ? '' : `${comma}"managedFields":[${managedFields.map(entryText).join()}]`
  return `${head}${managed}},${fieldsText(rest)}}`
}

function entryText(entry: ManagedFieldsEntry): string {
  const { fieldsV1, subresource, ...rest } = entry
  if (fieldsV1 === undefined) return jsonText(entry)
  const last = subresource === undefined ? '' : `,"subresource":${JSON.stringify(subresource)}`
  return `${jsonText(rest).slice(0, -1)},"fieldsV1":{${fieldsText(fieldsV1)}}${last}}`
}

/** The fields without their braces. */
function fieldsText(fields: Fields): string {
  let text = ''
  for (const name in fields) {
    const value = fields[name]
    if (value === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${isShared(value) ? partText(value) : jsonText(value)}`
  }
  return text
}
