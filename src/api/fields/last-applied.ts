/** The annotation of client-side `kubectl apply`, and the way from it to server-side apply. */
import type { Json, JsonObject, KubeObject } from '../object.ts'
import type { StructSchema } from '../schema/schema.ts'
import { parseWithKeys } from '../values/json.ts'
import { isList, isMap } from '../values/maps-and-lists.ts'
import { changedFields, removedFields } from './compare.ts'
import { difference, type FieldSet } from './fieldset.ts'
import { NotMergeable } from './list-item-keys.ts'
import { fieldSetOf } from './merge-applied-configuration.ts'
import { compareText } from './pathelement.ts'
import { shapeOf } from './shape.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
/** Kubernetes' limit for all annotations of an object together, in bytes. */
const MAX_ANNOTATIONS = 256 * 1024

/** The fields that client-side apply set and no other manager changed since; undefined without (readable) annotation. */
export function conflictsAllowedByLastApplied(live: KubeObject, schema: StructSchema): FieldSet | undefined {
  const annotation = live.metadata.annotations?.[LAST_APPLIED]
  if (annotation === undefined) return undefined
  const shape = shapeOf(schema)
  try {
    const last = parseWithKeys(annotation) as Json
    const set = fieldSetOf(shape, last)
    const changed = changedFields(shape, last, live as Json)
    return difference(difference(set, changed), removedFields(shape, last, live as Json))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof NotMergeable) return undefined
    throw error
  }
}

/** Keeps the annotation, where there is one, in step with what kubectl applies server-side. */
export function withLastApplied(object: KubeObject, applied: JsonObject): KubeObject {
  const annotations = object.metadata.annotations
  if (annotations?.[LAST_APPLIED] === undefined) return object
  const value = `${sortedJson(withoutAnnotation(applied))}\n`
  if (annotations[LAST_APPLIED] === value) return object
  const { [LAST_APPLIED]: _, ...others } = annotations
  const next: Record<string, string> = { ...others, [LAST_APPLIED]: value }
  let size = 0
  for (const [name, text] of Object.entries(next)) size += Buffer.byteLength(name) + Buffer.byteLength(text)
  return {
    ...object,
    metadata: { ...object.metadata, annotations: size > MAX_ANNOTATIONS ? others : next },
  }
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const metadata = applied['metadata']
  if (!isMap(metadata)) return applied
  const annotations = metadata['annotations']
  if (!isMap(annotations) || annotations[LAST_APPLIED] === undefined) return applied
  const { [LAST_APPLIED]: _, ...others } = annotations
  return { ...applied, metadata: { ...metadata, annotations: others } }
}

function sortedJson(value: Json): string {
  if (isList(value)) return `[${value.map(sortedJson).join(',')}]`
  if (!isMap(value)) return JSON.stringify(value)
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  return `{${names
    .sort(compareText)
    .map((name) => `${JSON.stringify(name)}:${sortedJson(value[name]!)}`)
    .join(',')}}`
}
