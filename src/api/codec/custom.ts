/**
 * Bodies of custom resources: any JSON with a kind, of which metadata is decoded like every object's, what the schema does
 * not know is taken away and what it defaults is filled in.
 */

import { type DecodeProblem, problemText } from '../decode-problem.ts'
import { invalid } from '../errors/field-errors.ts'
import { apiVersionOf, type Json, type JsonObject, type KubeObject } from '../object.ts'
import type { RequestBody } from '../request.ts'
import { schemaOf } from '../schema/builtin.ts'
import { setKey, type Writable } from '../schema/canonical.ts'
import { walkExactly } from '../schema/field-validation.ts'
import { type StrictProblem, strictError, under } from '../schema/strict-problem.ts'
import { eachEmbedded, hasEmbedded } from '../schema/structural/embedded.ts'
import {
  applyStructuralDefaults,
  dropNulls,
  isSettled,
  prune,
  sortedKeys,
} from '../schema/structural/prune-and-default.ts'
import { isObject, type Structural } from '../schema/structural/structural.ts'
import { countKeys, walkQuickly } from '../schema/walk.ts'
import { badRequest } from '../status.ts'
import {
  exactInteger,
  type JsonNode,
  jsonNodeOf,
  jsonText,
  jsonWordFor,
  NumberNode,
  ObjectNode,
} from '../values/json.ts'
import type { BodySource, ExpectedKind } from './body-source.ts'
import { kindOf, openOfKind } from './body-source.ts'
import type { Decoded, DecodeOptions } from './decode.ts'
import { cannotBeHandled } from './refusals.ts'

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** What is wrong with a body, in the decoder's words without their beginning. */
class Refused extends Error {
  readonly problem: DecodeProblem | string
  constructor(problem: DecodeProblem | string) {
    super(typeof problem === 'string' ? problem : problemText(problem))
    this.problem = problem
  }
}

/** The custom resource in a body; `structural` is undefined where its definition gives no schema. @throws StatusError 400, 415 */
export function decodeCustomBody(
  sent: RequestBody | undefined,
  expected: ExpectedKind,
  structural: Structural | undefined,
  options: DecodeOptions,
): Decoded {
  const source = openOfKind(sent, expected, options.decodeProtobuf)
  for (const [name, value] of Object.entries(source.top))
    if (value !== undefined && value !== null && typeof value !== 'string')
      throw source.refuse(
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonWordFor(jsonNodeOf(value))} into Go struct field .${name} of type string`,
      )
  const known = kindOf(source, expected)
  const strict = [...source.strict]
  const body = bodyOf(source, strict)
  const kind = typeof body['kind'] === 'string' ? body['kind'] : ''
  if (kind === '') {
    const missing = `Object 'Kind' is missing in '${options.patched === true ? jsonText(sortedKeys(body)) : source.text()}'`
    if (options.fieldValidation !== 'Ignore') throw source.refuse(missing)
    throw cannotBeHandled(known, expected, missing)
  }
  const apiVersion = typeof body['apiVersion'] === 'string' ? body['apiVersion'] : ''
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const actual = { kind, version }
  try {
    const same = kind === expected.kind && group === expected.group && version === expected.version
    const object = coerced(body, same ? structural : undefined, strict, options.applied === true)
    if (options.fieldValidation === 'Strict' && strict.length > 0) throw new Refused(strictError(strict))
    if (options.patched !== true && (group !== expected.group || version !== expected.version))
      throw badRequest(
        `the API version in the data (${apiVersionOf(group, version)}) does not match the expected API version (${apiVersionOf(expected.group, expected.version)})`,
      )
    return { object, strict: options.fieldValidation === 'Warn' ? strict : [] }
  } catch (error) {
    if (error instanceof Refused) throw cannotBeHandled(actual, expected, error.problem)
    throw error
  }
}

/** The body as plain JSON, with exact integers; fields written twice are noted. */
function bodyOf(source: BodySource, strict: StrictProblem[]): JsonObject {
  const { quick } = source
  const keys = quick === undefined ? Number.NaN : countKeys(quick.value)
  if (quick !== undefined && keys === (quick.keys ?? keys)) return quick.value as JsonObject
  const node = source.node()
  const value = plainOf(node, '', strict)
  if (Number.isNaN(countKeys(value))) throw source.refuse('exceeded max depth')
  return (isObject(value) ? value : {}) as JsonObject
}

function plainOf(node: JsonNode, path: string, strict: StrictProblem[]): Json {
  if (node instanceof NumberNode) return numberOf(node.text)
  if (Array.isArray(node)) return node.map((item, i) => plainOf(item, `${path}[${i}]`, strict))
  if (!(node instanceof ObjectNode)) return node
  const out: Writable = {}
  for (const [key, value] of node.entries) {
    const at = path === '' ? key : `${path}.${key}`
    if (Object.hasOwn(out, key)) strict.push({ kind: 'duplicate', path: at })
    setKey(out, key, plainOf(value, at, strict))
  }
  return out
}

function numberOf(text: string): Json {
  if (!/^-?\d+$/.test(text)) return Number(text)
  const value = BigInt(text)
  return value === BigInt.asIntN(64, value) ? (exactInteger(text) as number) : Number(text)
}

/** Defaults, pruning and metadata, in the order in which Kubernetes' decoders do them. @throws Refused */
function coerced(
  body: JsonObject,
  schema: Structural | undefined,
  strict: StrictProblem[],
  keepNulls: boolean,
): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = body
  if (Object.hasOwn(body, 'apiVersion') && typeof apiVersion !== 'string')
    throw new Refused('.apiVersion accessor error: <nil> is of the type <nil>, expected string')
  const meta = metadata === undefined ? {} : decodeMeta(metadata, 'metadata', strict)
  let fields: JsonObject = rest
  if (schema !== undefined) {
    fields = structured(rest, schema, strict, keepNulls)
    fields = coerceEmbedded(fields, schema, strict)
  }
  const sorted = sortedKeys(fields) as JsonObject
  return {
    kind: kind as string,
    apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
    metadata: meta,
    ...sorted,
  } as KubeObject
}

/** The fields of an object as its schema has them; what it did not know is added to `strict`. */
export function structured(
  fields: JsonObject,
  schema: Structural,
  strict?: StrictProblem[],
  keepNulls = false,
): JsonObject {
  if (isSettled(fields, schema)) return fields
  const clean = keepNulls ? fields : dropNulls(fields, schema)
  const defaulted = applyStructuralDefaults(clean, schema) as JsonObject
  const unknown: { paths: string[] } = { paths: [] }
  const pruned = prune(defaulted, schema, unknown)
  if (strict !== undefined) for (const path of unknown.paths.sort()) strict.push({ kind: 'unknown', path, plain: true })
  return pruned
}

/** The metadata that stands at `path`. @throws Refused */
function decodeMeta(value: Json, path: string, strict: StrictProblem[]): KubeObject['metadata'] {
  const schema = schemaOf(OBJECT_META)
  const quick = isObject(value) ? walkQuickly(value, schema, countKeys(value)) : undefined
  if (quick !== undefined) return quick as KubeObject['metadata']
  const exact = walkExactly(jsonNodeOf(value), schema)
  if (exact.error !== undefined) throw new Refused(exact.error)
  strict.push(...under(path, exact.strict))
  return exact.object as KubeObject['metadata']
}

/** Embedded objects' types are texts and their metadata canonical. @throws Refused */
function coerceEmbedded(fields: JsonObject, schema: Structural, strict: StrictProblem[]): JsonObject {
  if (!hasEmbedded(schema)) return fields
  const metas = new Map<Json, Json>()
  eachEmbedded(fields, schema, '', (inner, path) => {
    for (const name of ['apiVersion', 'kind']) {
      const value = inner[name]
      if (value !== undefined && typeof value !== 'string')
        throw new Refused(`${path}.${name}: ${invalid('', value, 'must be a string').message}`)
    }
    const { metadata } = inner
    if (metadata === undefined || metadata === null) return
    try {
      metas.set(metadata, decodeMeta(metadata, `${path}.metadata`, strict) as Json)
    } catch (error) {
      if (error instanceof Refused)
        throw new Refused(`${path}.metadata: ${invalid('', sortedKeys(metadata), error.message).message}`)
      throw error
    }
  })
  return metas.size === 0 ? fields : (replaced(fields, metas) as JsonObject)
}

function replaced(value: Json, by: ReadonlyMap<Json, Json>): Json {
  const other = by.get(value)
  if (other !== undefined) return other
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => replaced(item, by))
  const out: Writable = {}
  for (const [key, inner] of Object.entries(value as JsonObject))
    if (inner !== undefined) setKey(out, key, replaced(inner, by))
  return out
}
