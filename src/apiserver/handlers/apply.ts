/** PATCH with application/apply-patch+yaml: server-side apply (KEP-555), over the pure functions of api/fields. */

import { parseYaml } from '../../api/codec/yaml.ts'
import { applyServerSide, nameOfApplied } from '../../api/fields/apply.ts'
import type { Scale } from '../../api/generated/types.ts'
import { apiVersionOf, asJson, type Json, type JsonObject, type KubeObject } from '../../api/object.ts'
import { ConversionError } from '../../api/objects/annotated-fields.ts'
import { strictText, strictWarnings } from '../../api/schema/strict-problem.ts'
import { badRequest, conflict, StatusError } from '../../api/status.ts'
import { exactInteger, type JsonNode, NumberNode, ObjectNode } from '../../api/values/json.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { KindReader } from '../registry/endpoint.ts'
import { checkName, dedupeOwnerReferences, inNamespace } from '../registry/metadata.ts'
import { groupResource, type WriteContext } from '../registry/registry.ts'
import type { ResourceRequest } from './context.ts'
import type { WriteQuery } from './options.ts'
import { comparingVersions } from './other-versions.ts'
import { managerOf } from './write.ts'

/** Gives the next state of the object in the version of the request; `live` is undefined when the apply creates. */
export function applier(
  resource: ResourceRequest,
  options: WriteQuery,
  write: WriteContext,
): (live: KubeObject | undefined) => Promise<KubeObject> {
  const { request, endpoint, info } = resource
  const { row } = endpoint
  const { applied, refuseDuplicates } = applyBody(resource, options)
  return async (live) => {
    const uid = applied['metadata'] instanceof Object ? (applied['metadata'] as JsonObject)['uid'] : undefined
    if (live === undefined && typeof uid === 'string' && uid !== '')
      throw conflict(
        groupResource(row),
        info.name,
        `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
      )
    const { object } = await comparingVersions(resource, write, (others) =>
      applyServerSide({
        live,
        applied,
        schema: row.schema,
        apiVersion: apiVersionOf(row.group, row.version),
        kind: row.kind,
        manager: managerOf(request, options),
        force: options.force ?? false,
        subresource: write.subresource,
        time: write.now,
        ...(write.strategy.resetFields === undefined ? {} : { resetFields: write.strategy.resetFields }),
        ...others,
      }),
    )
    refuseDuplicates()
    const decoded = decodeApplied(object, applied, resource.endpoint.reader)
    const placed = inNamespace(resource.endpoint.reader.defaulted(decoded), row.namespaced, info.namespace)
    checkName(placed, info.name)
    const timed = write.kindStrategy.timedDefaults?.(placed, write.now) ?? placed
    return dedupeOwnerReferences(timed, false, write.warn)
  }
}

/** @throws StatusError 500, as Kubernetes has it, for what cannot be converted */
function decodeApplied(object: KubeObject, applied: JsonObject, reader: KindReader): KubeObject {
  try {
    return reader.decode({ kind: 'object', object }, { fieldValidation: 'Ignore', applied: true }).object
  } catch (error) {
    const name = nameOfApplied(applied)
    if (error instanceof StatusError && error.cause instanceof ConversionError)
      throw unconverted(`failed to convert to unversioned (${name}): ${error.cause.message}`, error.cause)
    const converted = reader.converted(object, error)
    if (!('misfit' in converted)) return converted
    const kind = name.slice(name.indexOf('; ') + 2)
    const why = `unable to convert unstructured object to ${kind}: ${converted.misfit}`
    throw unconverted(`failed to convert new object (${name}) to proper version: ${why}`, error)
  }
}

const unconverted = (message: string, cause: unknown) => new StatusError(500, '', message, undefined, { cause })

/** A Scale's status has no manager. */
const SCALE_STATUS = [['f:status']]

/** What an apply makes of a Scale that has its managedFields. */
export function scaleApplier(
  resource: ResourceRequest,
  options: WriteQuery,
  target: KindReader,
): (scale: Scale) => KubeObject {
  const { applied, refuseDuplicates } = applyBody(resource, options)
  const { clock } = resource.context.runtime
  return (live) => {
    const { object } = applyServerSide({
      live,
      applied,
      schema: target.schema,
      apiVersion: apiVersionOf(target.group, target.version),
      kind: target.kind,
      manager: managerOf(resource.request, options),
      force: options.force ?? false,
      subresource: 'scale',
      time: formatTime(clock.now()),
      resetFields: SCALE_STATUS,
      ...(resource.endpoint.scale.isConvertible ? {} : { convertible: false }),
    })
    refuseDuplicates()
    return target.decode({ kind: 'object', object }, { fieldValidation: 'Ignore', applied: true }).object
  }
}

export interface AppliedBody {
  readonly applied: JsonObject
  /** Keys written twice are refused only once the apply itself has gone well. @throws StatusError 400 */
  refuseDuplicates(): void
}

const nothingToRefuse = () => {}

/** The configuration in the body, YAML or JSON. @throws StatusError 400 */
export function applyBody(resource: ResourceRequest, options: WriteQuery): AppliedBody {
  const body = decodedBody(resource, options)
  const { served } = resource.request
  if (served?.audit !== undefined) served.audit.requestBody = body.applied
  return body
}

function decodedBody({ request, warnings }: ResourceRequest, { fieldValidation }: WriteQuery): AppliedBody {
  const { body } = request
  if (body?.kind === 'object') return { applied: asJson(body.object), refuseDuplicates: nothingToRefuse }
  const text = Buffer.from(body?.bytes ?? []).toString('utf8')
  let parsed: ReturnType<typeof parseYaml>
  try {
    parsed = parseYaml(text)
  } catch (error) {
    // What does not begin as JSON is made JSON of first.
    const step = /^\s*\{/.test(text) ? 'error decoding patch: error converting YAML to JSON' : 'error encoding patch'
    throw badRequest(`${step}: ${messageOf(error)}`, error)
  }
  if (fieldValidation === 'Warn') warnings.push(...parsed.strict.flatMap(strictWarnings))
  const refuseDuplicates = () => {
    if (fieldValidation === 'Strict' && parsed.strict.length > 0)
      throw badRequest(
        `error strict decoding patch: error converting YAML to JSON: ${parsed.strict.map(strictText).join(', ')}`,
      )
  }
  if (parsed.node === null) return { applied: {}, refuseDuplicates }
  if (!(parsed.node instanceof ObjectNode)) {
    const kind = Array.isArray(parsed.node)
      ? 'array'
      : parsed.node instanceof NumberNode
        ? 'number'
        : typeof parsed.node
    throw badRequest(
      `error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    )
  }
  return { applied: plain(parsed.node) as JsonObject, refuseDuplicates }
}

function plain(node: JsonNode): Json {
  if (node instanceof NumberNode)
    return (/^-?\d+$/.test(node.text) ? exactInteger(node.text) : Number(node.text)) as number
  if (Array.isArray(node)) return node.map(plain)
  if (!(node instanceof ObjectNode)) return node
  const object: { [key: string]: Json } = {}
  // `__proto__` is a key like any other.
  for (const [key, value] of node.entries)
    Object.defineProperty(object, key, { value: plain(value), enumerable: true, configurable: true, writable: true })
  return object
}
