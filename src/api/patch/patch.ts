/**
 * patch: the three patches that change an object without owning it: JSON patch (RFC 6902), merge patch (RFC 7386) and
 * Kubernetes' strategic merge patch. Called by the patch handler, which decodes, defaults and stores what comes out.
 * Knows Schema, not kinds. Server-side apply is in the room fields.
 */
import { goText, wrongForm } from '../fields/go-text.ts'
import { asKubeObject, type Json, type JsonObject, type KubeObject } from '../object.ts'
import { goQuote } from '../quote.ts'
import type { StructSchema } from '../schema/schema.ts'
import type { StrictProblem } from '../schema/strict-problem.ts'
import { badRequest, StatusError } from '../status.ts'
import { escapedForHtml } from '../values/json.ts'
import { isMap } from '../values/maps-and-lists.ts'
import { applyJsonPatch, decodeJsonPatch, jsonPatchPaths } from './json-patch.ts'
import { applyMergePatch, mergePatchPaths } from './merge-patch.ts'
import { asMerged, inGoOrder, sortedText, type Touched } from './patched-text.ts'
import { restoreError, withIntegersWrapped } from './restore.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

export type PatchType = 'json' | 'merge' | 'strategic'

export interface ApplyPatchOptions {
  readonly type: PatchType
  /** The parsed body. A body that is not JSON is `notJson()`. */
  readonly patch: Json
  readonly live: KubeObject
  readonly schema: StructSchema
  /** As the request asks; Kubernetes' default is Warn. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
}

export interface PatchResult {
  /** The patched object, not yet decoded: subtrees that the patch does not touch are those of `live`. */
  readonly object: KubeObject
  /** What is strictly wrong with the patch itself (`json patch unknown field "[0].x"`). */
  readonly strictErrors: readonly StrictProblem[]
  /** The same with its fields in the order in which Kubernetes decodes them, where that decides what is found wrong first. */
  inOrder(): KubeObject
  /** The 422 for a result that cannot be decoded; `message` is the decoder's. */
  invalid(message: string): StatusError
}

/** As deep as an object may be. */
const MAX_DEPTH = 1000

/** The answer to a patch whose body is not JSON. */
export const notJson = (): StatusError => badRequest('invalid JSON patch')

/**
 * Applies a patch to an object (in the version of the request).
 *
 * @throws StatusError as Kubernetes answers: 400 for a body of the wrong form, 413 for too many operations, 422 for
 * operations that do not apply, 500 for a strategic merge patch that contradicts the schema
 */
export function applyPatch(options: ApplyPatchOptions): PatchResult {
  const { type, patch, live, schema } = options
  const shown = (object: Json, touched: Touched | undefined) => escapedForHtml(sortedText(object, touched))
  if (isDeeperThan(patch, MAX_DEPTH)) throw notJson()
  switch (type) {
    case 'json': {
      const { operations, strictErrors } = decodeJsonPatch(patch)
      const object = applyJsonPatch(live as Json, operations)
      const paths = () => jsonPatchPaths(operations)
      return result(object, strictErrors, () => shown(object, paths()), paths)
    }
    case 'merge': {
      const object = mergePatched(options)
      const paths = () => mergePatchPaths(live as Json, patch)
      return result(object, [], () => shown(object, paths()), paths)
    }
    case 'strategic': {
      if (patch === null) return result(live as Json, [], () => 'map[]')
      if (!isMap(patch)) throw badRequest(wrongForm(patch, 'map[string]interface {}'))
      const object = applyStrategicMergePatch(live as JsonObject, patch, schema)
      const shownPatch = () => goText(asMerged(patch, live as Json, schema))
      const wrong = restoreError(object, schema, live as Json)
      if (wrong !== undefined) throw result(object, [], shownPatch).invalid(wrong)
      return result(withIntegersWrapped(object, schema, live as Json), [], shownPatch)
    }
  }
}

function mergePatched({ patch, live, fieldValidation = 'Warn' }: ApplyPatchOptions): Json {
  if (patch === null) throw badRequest('Invalid JSON Patch')
  if (isMap(patch)) return applyMergePatch(live as Json, patch)
  if (fieldValidation !== 'Ignore') {
    throw badRequest(`error decoding patch: ${wrongForm(patch, 'map[string]interface {}')}`)
  }
  if (!Array.isArray(patch)) throw badRequest('Invalid JSON Patch')
  const made = result(patch, [], () => JSON.stringify(patch))
  throw made.invalid(
    'couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  )
}

function result(
  object: Json,
  strictErrors: readonly StrictProblem[],
  text: () => string,
  paths: () => Touched | undefined = () => undefined,
): PatchResult {
  const invalid = (message: string) => {
    const cause = `Invalid value: ${goQuote(text())}: ${message}`
    return new StatusError(422, 'Invalid', ` "" is invalid: patch: ${cause}`, {
      causes: [{ reason: 'FieldValueInvalid', message: cause, field: 'patch' }],
    })
  }
  // A JSON patch may replace the whole document by something else.
  if (!isMap(object)) {
    throw invalid(
      `couldn't get version/kind; json parse error: ${wrongForm(object, 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }')}`,
    )
  }
  return {
    object: asKubeObject(object),
    strictErrors,
    inOrder: () => asKubeObject(inGoOrder(object, paths()) as JsonObject),
    invalid,
  }
}

/** Without recursion, so that no body exhausts the stack. */
function isDeeperThan(value: Json, limit: number): boolean {
  let level: Json[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true
    const below: Json[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      for (const inner of Array.isArray(item) ? item : Object.values(item)) {
        if (typeof inner === 'object' && inner !== null) below.push(inner as Json)
      }
    }
    level = below
  }
  return false
}
