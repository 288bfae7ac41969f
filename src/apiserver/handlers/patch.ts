/** PATCH: JSON patch, merge patch, strategic merge patch, and apply (KEP-555). */

import type { Decoded } from '../../api/codec/decode.ts'
import { decoderProblem } from '../../api/codec/refusals.ts'
import { type DecodeProblem, problemText } from '../../api/decode-problem.ts'
import type { Scale } from '../../api/generated/types.ts'
import { asJson, type Json, type KubeObject } from '../../api/object.ts'
import { ConversionError } from '../../api/objects/annotated-fields.ts'
import { applyPatch, notJson, type PatchType } from '../../api/patch/patch.ts'
import { repeatedKeys } from '../../api/patch/repeated-keys.ts'
import type { ApiResponse } from '../../api/request.ts'
import { asRestored, type StrictProblem, strictError, strictWarnings } from '../../api/schema/strict-problem.ts'
import { notFound, StatusError } from '../../api/status.ts'
import { parseExactly } from '../../api/values/json.ts'
import type { KindReader, PatchedRead } from '../registry/endpoint.ts'
import { checkName, dedupeOwnerReferences, inNamespace, requireName } from '../registry/metadata.ts'
import { groupResource, type WriteContext } from '../registry/registry.ts'
import { updateObject } from '../registry/update-and-retry-on-conflict.ts'
import { applier, scaleApplier } from './apply.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate } from './negotiate.ts'
import { type WriteQuery, writeOptions } from './options.ts'
import { respondWritten } from './respond.ts'
import { admitUpdate, validators } from './update.ts'
import { askedOnce, optionsObject, trackManager, writeContext } from './write.ts'

const TYPES: Readonly<Record<string, PatchType | 'apply'>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** @throws StatusError 415 */
function patchTypeOf({ request, endpoint }: ResourceRequest): PatchType | 'apply' {
  const contentType = request.body?.contentType ?? request.headers['content-type'] ?? ''
  const mediaType = (contentType.split(';')[0] as string).trim()
  const type = Object.hasOwn(TYPES, mediaType) ? TYPES[mediaType] : undefined
  if (type === undefined || (type === 'strategic' && !endpoint.reader.mergesStrategically))
    throw endpoint.reader.unsupportedPatch()
  return type
}

export async function handlePatch(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, info } = resource
  const { row } = endpoint
  const type = patchTypeOf(resource)
  requireName(info)
  const representation = negotiate(request, { kind: endpoint })
  const options = writeOptions('PatchOptions', request.query, type === 'apply')
  const write = writeContext(resource, { dryRun: options.dryRun })
  const fresh = askedOnce(context)
  const attributes = { dryRun: options.dryRun, options: optionsObject(options), charges: new Map(), fresh }
  // Of what is not there no subresource is written, but for kinds that say so.
  const creates = type === 'apply' && (info.subresource === '' || write.strategy.allowCreateOnApply === true)
  const next = type === 'apply' ? applier(resource, options, write) : patcher(resource, type, options, write)
  const updated = await updateObject(context.registry, write, {
    forceCreate: creates,
    isApply: type === 'apply',
    async next(existing) {
      // Only an apply makes what is not there, even of kinds that a PUT may create.
      if (existing === undefined && type !== 'apply') throw notFound(groupResource(row), info.name)
      const live = existing && (await endpoint.worked.asRequested(existing))
      const object = await endpoint.worked.ofRequest(await next(live))
      return admitUpdate(resource, attributes, object, existing, write.warn)
    },
    ...validators(resource, attributes),
  })
  return respondWritten(resource, updated.object, representation, {
    status: updated.created ? 201 : 200,
    dryRun: options.dryRun,
  })
}

function patcher(resource: ResourceRequest, type: PatchType, options: WriteQuery, write: WriteContext) {
  const { endpoint, info } = resource
  const { row } = endpoint
  const patch = patchBody(resource)
  return (live: KubeObject | undefined): KubeObject | Promise<KubeObject> => {
    const { reader } = endpoint
    const decoded = reader.defaulted(patched(resource, type, patch, live as KubeObject, reader, options))
    const placed = inNamespace(decoded, row.namespaced, info.namespace)
    checkName(placed, info.name)
    return trackManager(resource, write, options, live, dedupeOwnerReferences(placed, false, write.warn))
  }
}

/** The patched object, decoded: canonical, unknown fields reported as the request asks. */
function patched(
  { warnings }: ResourceRequest,
  type: PatchType,
  { patch, repeated }: PatchBody,
  live: KubeObject,
  target: KindReader,
  options: WriteQuery,
): KubeObject {
  const { fieldValidation } = options
  const patching = { type, patch, schema: target.schema, fieldValidation }
  const result = applyPatch({ ...patching, live })
  // Messages print the object with its fields in their order, which a live one need not have.
  const inOrder = () => applyPatch({ ...patching, live: target.inFieldOrder(live) })
  const invalid = (wrong: string) => inOrder().invalid(wrong)
  const read = asRead(type, live, result.object, target)
  const decode = (object: KubeObject) =>
    target.decode(
      { kind: 'object', object },
      { fieldValidation: fieldValidation === 'Strict' ? 'Warn' : fieldValidation, patched: true },
    )
  let decoded: Decoded
  try {
    decoded = decode(read.object)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    // A strategic merge is of decoded objects: what only then cannot be converted is no fault of the patch.
    if (type === 'strategic' && error.cause instanceof ConversionError)
      throw new StatusError(500, '', error.cause.message, undefined, { cause: error.cause })
    if (decoderProblem(error) === undefined) throw error
    const first =
      problemOf(() => decode(asRead(type, live, inOrder().inOrder(), target).object)) ?? decoderProblem(error)
    throw invalid(problemText(first as DecodeProblem))
  }
  const found = strictlyFound(type, [...read.unknown, ...decoded.strict], () => {
    const ordered = asRead(type, live, inOrder().inOrder(), target)
    return [...ordered.unknown, ...decode(ordered.object).strict]
  })
  const kind = type === 'json' ? 'json patch duplicate' : 'duplicate'
  const strict = [...repeated.map((path) => ({ kind, path }) as const), ...result.strictErrors, ...found]
  if (strict.length > 0) {
    if (fieldValidation === 'Strict') throw invalid(strictError(strict))
    if (fieldValidation === 'Warn') warnings.push(...strict.flatMap(strictWarnings))
  }
  return decoded.object
}

/** Problems in the order in which Kubernetes finds them; `inOrder` gives those of the object with its fields in Go's order. */
function strictlyFound(
  type: PatchType,
  found: readonly StrictProblem[],
  inOrder: () => readonly StrictProblem[],
): readonly StrictProblem[] {
  if (type === 'strategic') return asRestored(found)
  return found.length < 2 ? found : inOrder()
}

function problemOf(decode: () => unknown): DecodeProblem | undefined {
  try {
    decode()
    return undefined
  } catch (error) {
    return decoderProblem(error)
  }
}

/** What a decoder takes for the patched object. */
function asRead(type: PatchType, live: KubeObject, patched: KubeObject, target: KindReader): PatchedRead {
  return type === 'strategic' ? { object: withKindOf(live, patched), unknown: [] } : target.asPatched(patched)
}

/** A strategic merge is of decoded objects, whose kind is known: another one that the patch names, in whichever version, counts for nothing. */
function withKindOf({ apiVersion, kind }: KubeObject, object: KubeObject): KubeObject {
  return {
    ...object,
    ...(typeof object.apiVersion === 'string' ? { apiVersion } : {}),
    ...(typeof object.kind === 'string' ? { kind } : {}),
  }
}

interface PatchBody {
  readonly patch: Json
  /** Paths of keys that its text has twice. */
  readonly repeated: readonly string[]
}

/** @throws StatusError 400 for what is not JSON */
function patchBody({ request }: ResourceRequest): PatchBody {
  const { body } = request
  const text = body?.kind === 'object' ? undefined : (body?.bytes ?? new Uint8Array())
  const patch = body?.kind === 'object' ? asJson(body.object) : parsedPatch(text as Uint8Array)
  if (request.served?.audit !== undefined) request.served.audit.requestBody = patch
  return { patch, repeated: text === undefined ? [] : repeatedKeys(text, patch) }
}

function parsedPatch(bytes: Uint8Array): Json {
  try {
    return parseExactly(Buffer.from(bytes).toString('utf8')) as Json
  } catch {
    throw notJson()
  }
}

/** What a patch of …/scale does to a Scale, which has its managedFields. */
export function patchedScale(resource: ResourceRequest): {
  readonly options: WriteQuery
  readonly type: PatchType | 'apply'
  next(scale: Scale): KubeObject
} {
  const { request, endpoint, subresource, info } = resource
  const { row } = endpoint
  const type = patchTypeOf(resource)
  const options = writeOptions('PatchOptions', request.query, type === 'apply')
  const target = endpoint.readerOf(subresource ?? row)
  const change =
    type === 'apply'
      ? scaleApplier(resource, options, target)
      : (
          (patch: PatchBody) => (scale: KubeObject) =>
            patched(resource, type, patch, scale, target, options)
        )(patchBody(resource))
  return {
    options,
    type,
    next(scale) {
      const placed = inNamespace(change(scale), true, info.namespace)
      checkName(placed, info.name)
      return placed
    },
  }
}
