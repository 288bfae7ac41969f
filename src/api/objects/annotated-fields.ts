/**
 * Annotations that are fields inside Kubernetes. Fields that apps/v1 and autoscaling/v1 have given up live on in them, and
 * become fields again when an object is converted; what once stood for a pod's init containers is only dropped. So they are
 * read at decoding: what cannot be read refuses the object there, and what has no meaning is gone before anything else
 * sees it, managedFields included.
 */
import type { Fields, JsonObject, ObjectMeta } from '../object.ts'
import { goQuote } from '../quote.ts'
import { parseWithKeys } from '../values/json.ts'
import { type Int64, parseInt64 } from './integers.ts'

type Annotations = Readonly<Record<string, string>>

/** Of a DaemonSet: how often its template changed. */
export const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'
/** Of a Deployment: the revision to go back to, 0 for the last one. */
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to'

/** An annotation cannot become the field that it stands for. */
export class ConversionError extends Error {}

/**
 * Annotations as they are once their fields have been read.
 *
 * @returns the same ones where nothing changes
 * @throws ConversionError
 */
type Reader = (annotations: Annotations) => Annotations

const readers: Readonly<Record<string, Reader>> = {
  'io.k8s.api.apps.v1.DaemonSet': (annotations) => {
    const text = textOf(annotations, TEMPLATE_GENERATION)
    return text === undefined ? annotations : withText(annotations, TEMPLATE_GENERATION, String(int64In(text)))
  },
  'io.k8s.api.apps.v1.Deployment': (annotations) => {
    const text = textOf(annotations, ROLLBACK_TO)
    if (text === undefined) return annotations
    if (text === '') return without(annotations, [ROLLBACK_TO])
    try {
      return withText(annotations, ROLLBACK_TO, String(int64In(text)))
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error
      throw new ConversionError(`failed to parse annotation[${ROLLBACK_TO}]=${text} as int64: ${error.message}`)
    }
  },
}

/** What reads the annotations of objects of a type; undefined for nearly all. */
export const annotationReader = (definition: string): Reader | undefined =>
  Object.hasOwn(readers, definition) ? readers[definition] : undefined

/** @throws ConversionError in the words of Go's strconv */
function int64In(text: string): Int64 {
  const value = parseInt64(text)
  if (value !== undefined) return value
  const problem = /^[+-]?[0-9]+$/.test(text) ? 'value out of range' : 'invalid syntax'
  throw new ConversionError(`strconv.ParseInt: parsing ${goQuote(text)}: ${problem}`)
}

const textOf = (annotations: Annotations, name: string): string | undefined =>
  Object.hasOwn(annotations, name) ? annotations[name] : undefined

const withText = (annotations: Annotations, name: string, text: string): Annotations =>
  annotations[name] === text ? annotations : { ...annotations, [name]: text }

/** Metadata with these annotations, without the field when there are none. */
export function withAnnotations(metadata: Fields, annotations: Annotations): Fields {
  if (Object.keys(annotations).length > 0) return { ...metadata, annotations }
  const { annotations: _, ...rest } = metadata
  return rest
}

const without = (annotations: Annotations, names: readonly string[]): Annotations =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => !names.includes(name)))

/** The metadata of an object or a template without some annotations; undefined when it has none of them. */
export function withoutAnnotations(
  { metadata }: { readonly metadata?: ObjectMeta | null },
  names: readonly string[],
): Fields | undefined {
  const annotations = metadata?.annotations
  if (!annotations || !names.some((name) => Object.hasOwn(annotations, name))) return undefined
  return withAnnotations(metadata, without(annotations, names))
}

/** Init containers of a pod or a template, before they had a field. */
export const INIT_CONTAINERS = ['alpha', 'beta'].flatMap((stage) =>
  ['init-containers', 'init-container-statuses'].map((name) => `pod.${stage}.kubernetes.io/${name}`),
)

const AUTOSCALER = 'autoscaling.alpha.kubernetes.io/'
/** Of an autoscaling/v1 HorizontalPodAutoscaler: fields of v2, as JSON. */
export const AUTOSCALER_METRICS = `${AUTOSCALER}metrics`
export const AUTOSCALER_CURRENT = `${AUTOSCALER}current-metrics`
export const AUTOSCALER_CONDITIONS = `${AUTOSCALER}conditions`
export const AUTOSCALER_BEHAVIOR = `${AUTOSCALER}behavior`
export const AUTOSCALER_FIELDS = [AUTOSCALER_METRICS, AUTOSCALER_CURRENT, AUTOSCALER_CONDITIONS, AUTOSCALER_BEHAVIOR]

/** The list in an annotation; empty when it holds none. */
export function annotatedList(annotations: Annotations, name: string): readonly JsonObject[] {
  const value = parsed(annotations, name)
  return Array.isArray(value) ? value : []
}

/** The object in an annotation; undefined when it holds none, or one without fields. */
export function annotatedObject(annotations: Annotations, name: string): JsonObject | undefined {
  const value = parsed(annotations, name)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.keys(value).length === 0 ? undefined : (value as JsonObject)
}

/** Those of an autoscaler that hold nothing: they are dropped. */
export const emptyAutoscalerFields = (annotations: Annotations): readonly string[] =>
  AUTOSCALER_FIELDS.filter((name) =>
    name === AUTOSCALER_BEHAVIOR
      ? annotatedObject(annotations, name) === undefined
      : annotatedList(annotations, name).length === 0,
  )

function parsed(annotations: Annotations, name: string): unknown {
  const text = textOf(annotations, name)
  if (text === undefined) return undefined
  try {
    return parseWithKeys(text)
  } catch {
    return undefined
  }
}
