/**
 * codec: bytes to objects and back. A request's body becomes an object: the one way in for every body, whatever its encoding,
 * and for objects from components in this process. Handlers call `decodeBody` with the kind that the path expects (the row's,
 * or its subresource's), and `decodeOptions` for the DeleteOptions of a DELETE. Knows schemas and the scheme's kinds; knows no
 * handlers.
 */

import { type DecodeProblem, otherProblem, problemText } from '../decode-problem.ts'
import { apiVersionOf, asKubeObject, type Json, type JsonObject, type KubeObject } from '../object.ts'
import { annotationReader, ConversionError, withAnnotations } from '../objects/annotated-fields.ts'
import { noParts, type Parts } from '../parts.ts'
import type { RequestBody } from '../request.ts'
import { schemaOf } from '../schema/builtin.ts'
import type { Writable } from '../schema/canonical.ts'
import { type ExactResult, walkExactly } from '../schema/field-validation.ts'
import type { StructSchema } from '../schema/schema.ts'
import { type StrictProblem, strictError } from '../schema/strict-problem.ts'
import { countKeys, walkQuickly } from '../schema/walk.ts'
import { badRequest, type StatusError } from '../status.ts'
import { jsonNodeOf, ObjectNode } from '../values/json.ts'
import {
  type BodySource,
  type ExpectedKind,
  exactly,
  kindOf,
  openBody,
  openOfKind,
  type ProtobufDecoder,
  type Quick,
} from './body-source.ts'
import { conversionProblem, type Kind, kindIn } from './kinds.ts'
import { cannotBeHandled } from './refusals.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

export interface DecodeOptions {
  /** The outcome of an apply: nulls in a custom resource were asked for, and are left for validation to refuse. */
  readonly applied?: boolean
  readonly fieldValidation: FieldValidation
  readonly decodeProtobuf?: ProtobufDecoder
  /** What is remembered of specs of the kind; custom resources have none. */
  readonly parts?: Parts
  /** The object comes from a patch: a custom resource may say there what it wants to be, validation judges it. */
  readonly patched?: boolean
}

export interface Decoded {
  /** In canonical form, with the kind and apiVersion expected. Belongs to the caller until it is shared. */
  readonly object: KubeObject
  /** What is to be warned of (fieldValidation Warn). */
  readonly strict: readonly StrictProblem[]
}

/**
 * The object in a create or update body.
 *
 * An absent kind or apiVersion is taken from `expected`. In-process objects pass the same walk and are never mutated.
 *
 * @throws StatusError 400 with Kubernetes' words for what is wrong, 415 for a content type it does not read
 */
export function decodeBody(body: RequestBody | undefined, expected: ExpectedKind, options: DecodeOptions): Decoded {
  let source = openOfKind(body, expected, options.decodeProtobuf, options.parts)
  let actual = kindOf(source, expected)
  if (!isSame(actual, expected) && source.quick !== undefined) {
    source = exactly(source)
    actual = kindOf(source, expected)
  }
  const refuse = (problem: DecodeProblem | string, cause?: unknown) => cannotBeHandled(actual, expected, problem, cause)

  if (isSame(actual, expected)) return finish(source, expected, options, refuse)

  if (actual.version === '') throw refuse(`Object 'apiVersion' is missing in '${source.text()}'`)
  const known = kindIn(expected.group, actual)
  if (known === undefined) throw refuse(notRegistered(actual))
  let decoded: Decoded | undefined
  if (known.definition !== undefined) {
    decoded = finish(source, { ...actual, schema: schemaOf(known.definition) }, { fieldValidation: 'Warn' }, refuse)
  }
  const problem = conversionProblem(known, expected)
  if (problem !== undefined) throw refuse(problem)
  if (options.fieldValidation === 'Strict' && decoded !== undefined && decoded.strict.length > 0)
    throw refuse(strictError(decoded.strict))
  // Eviction is read in both of its versions; they are alike.
  if (decoded === undefined && known.group === expected.group && expected.kind === 'Eviction')
    return finish(source, expected, options, refuse)
  throw badRequest(
    `the API version in the data (${apiVersionOf(actual.group, actual.version)}) does not match the expected API version (${apiVersionOf(expected.group, expected.version)})`,
  )
}

/**
 * The canonical form of fields that are in this process already (a patched object, a defaulted part) with what a decoder
 * would say against them, for callers with words of their own: nothing is thrown. `value` is not changed.
 */
export function decodeFields(value: JsonObject | KubeObject, schema: StructSchema): ExactResult {
  const object = walkQuickly(value, schema, undefined)
  if (object !== undefined) return { object, strict: [] }
  if (Number.isNaN(countKeys(value))) return { object: {}, error: otherProblem('exceeded max depth'), strict: [] }
  return walkExactly(jsonNodeOf(value), schema)
}

function isSame(actual: Kind, expected: Kind): boolean {
  return actual.kind === expected.kind && actual.group === expected.group && actual.version === expected.version
}

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'

/**
 * The DeleteOptions in a DELETE's body, of whatever group and version; undefined for an empty body. Unknown fields are
 * ignored, as Kubernetes does here.
 *
 * @throws StatusError 400, 415
 */
export function decodeOptions(
  body: RequestBody | undefined,
  options: { readonly decodeProtobuf?: ProtobufDecoder } = {},
): KubeObject | undefined {
  if (body === undefined || (body.kind === 'bytes' && body.bytes.length === 0)) return undefined
  const expected: ExpectedKind = { ...META, kind: 'DeleteOptions', schema: schemaOf(DELETE_OPTIONS) }
  const source = openBody(body, expected, options.decodeProtobuf, (message) => badRequest(message), noParts)
  const actual = kindOf(source, expected)
  if (actual.kind !== 'DeleteOptions') {
    const isMeta = actual.group === META.group && actual.version === META.version
    if (isMeta && kindIn('', actual) !== undefined)
      throw badRequest(`converting (v1.${actual.kind}) to (v1.DeleteOptions): unknown conversion`)
    throw badRequest(notRegistered(actual))
  }
  const refuse = (problem: DecodeProblem | string) =>
    badRequest(typeof problem === 'string' ? problem : problemText(problem))
  return finish(source, expected, { fieldValidation: 'Ignore' }, refuse).object
}

const META = { group: 'meta.k8s.io', version: 'v1' }

function notRegistered({ group, version, kind }: Kind): string {
  return `no kind "${kind}" is registered for version "${apiVersionOf(group, version)}" in scheme "pkg/runtime/scheme.go:111"`
}

function finish(
  source: BodySource,
  expected: ExpectedKind,
  { fieldValidation, parts = noParts }: DecodeOptions,
  refuse: (problem: DecodeProblem | string, cause?: unknown) => StatusError,
): Decoded {
  const { quick } = source
  // Before the walk, which may change what is sent.
  const clearsManagers = sendsNoManagers(source)
  let object =
    quick === undefined ? undefined : walkQuickly(quick.value, expected.schema, quick.keys, { ...quick, parts })
  if (object !== undefined && quick !== undefined) rememberSpec(quick, object, parts)
  let strict: readonly StrictProblem[] = source.strict
  if (object === undefined) {
    const { node } = quick === undefined ? source : exactly(source)
    const result = walkExactly(node(), expected.schema)
    if (result.error !== undefined) throw refuse(result.error)
    object = result.object
    strict = [...source.strict, ...result.strict]
  }
  if (clearsManagers) object = { ...object, metadata: { ...(object['metadata'] as JsonObject), managedFields: [{}] } }
  object = withFieldsRead(object, expected.schema, refuse)
  if (fieldValidation === 'Strict' && strict.length > 0) throw refuse(strictError(strict))
  return {
    object: withKind(object, expected),
    strict: fieldValidation === 'Warn' ? strict : [],
  }
}

/** An empty list of managers clears them, as one of an empty entry does; canonical form knows no empty list. */
function sendsNoManagers({ quick, node }: BodySource): boolean {
  const memberOf = (value: unknown, key: string): unknown =>
    value instanceof ObjectNode
      ? value.entries.findLast(([name]) => name === key)?.[1]
      : (value as Readonly<Record<string, unknown>> | null | undefined)?.[key]
  const sent = memberOf(memberOf(quick === undefined ? node() : quick.value, 'metadata'), 'managedFields')
  return Array.isArray(sent) && sent.length === 0
}

/** What stands for fields in the object's annotations is read before anything that is merely strict is told of. */
function withFieldsRead(
  object: Writable,
  schema: StructSchema,
  refuse: (message: string, cause: unknown) => StatusError,
): Writable {
  const read = annotationReader(schema.definition)
  const { metadata } = object as { metadata?: JsonObject & { annotations?: Readonly<Record<string, string>> } }
  if (read === undefined || !metadata?.annotations) return object
  try {
    const annotations = read(metadata.annotations)
    return annotations === metadata.annotations
      ? object
      : { ...object, metadata: withAnnotations(metadata, annotations) }
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error
    throw refuse(error.message, error)
  }
}

/** A spec with which nothing is wrong is known when it comes again. */
function rememberSpec({ recurring }: Quick, { metadata, spec }: Writable, parts: Parts): void {
  if (recurring === undefined || typeof spec !== 'object' || spec === null) return
  // What is stored has a name. Reviews and requests for tokens have none: theirs may be secret.
  const { name, generateName } = (metadata ?? {}) as { name?: string; generateName?: string }
  if (name || generateName) parts.remember(recurring.text, spec as JsonObject, recurring.keys)
}

/** Kind and apiVersion come first, whether the body had them or not. */
function withKind(object: { [key: string]: Json | undefined }, { group, version, kind }: ExpectedKind): KubeObject {
  const apiVersion = apiVersionOf(group, version)
  if (object['kind'] === kind && object['apiVersion'] === apiVersion) return asKubeObject(object)
  return asKubeObject({ ...{ kind, apiVersion }, ...object, kind, apiVersion })
}
