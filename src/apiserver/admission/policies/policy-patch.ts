/** JSON patches that expressions make: operations with values of CEL, and the object that comes of them. */
import { misnamed } from '../../../api/cel/mutation.ts'
import { jsonOf } from '../../../api/cel/native.ts'
import { CelError, MessageValue, type Value } from '../../../api/cel/values.ts'
import { decoderProblem } from '../../../api/codec/refusals.ts'
import { asJson, asKubeObject, type Json, type KubeObject } from '../../../api/object.ts'
import type { JsonPatchOperation } from '../../../api/patch/json-patch.ts'
import { internalError } from '../../../api/status.ts'
import type { KindReader } from '../../registry/endpoint.ts'
import { applyOperations, reasonOf, TestFailed } from '../webhooks/json-patch.ts'
import { MutationError } from './mutation-error.ts'

/**
 * The object with the patch applied; the same one when a test of the patch fails.
 *
 * @throws MutationError for a patch that does not apply, StatusError 500 for one that makes something unreadable
 */
export function applyPolicyPatch(made: Value, object: KubeObject, reader: KindReader): KubeObject {
  const operations = operationsOf(made)
  // Nothing in an object is null, and nothing is as good as null here.
  const never = operations.findIndex(({ op, value }) => op === 'test' && value === null)
  let patched: Json
  try {
    patched = applyOperations(asJson(object), never < 0 ? operations : operations.slice(0, never))
    if (never >= 0) return object
  } catch (error) {
    if (error instanceof TestFailed) return object
    throw new MutationError(`JSON Patch: ${(error as Error).message}`)
  }
  if (patched === asJson(object)) return object
  try {
    const decoded = reader.decode(
      { kind: 'object', object: asKubeObject(patched) },
      {
        fieldValidation: reader.undeclared,
        patched: true,
      },
    ).object
    return reader.defaulted(decoded)
  } catch (error) {
    const isConversion = decoderProblem(error)?.kind === 'conversion'
    throw internalError(new Error(`${isConversion ? 'failed to convert object: ' : ''}${reasonOf(error)}`))
  }
}

function operationsOf(made: Value): readonly JsonPatchOperation[] {
  if (!Array.isArray(made)) throw new MutationError('type conversion error: a list is expected')
  return made.map((item: Value): JsonPatchOperation => {
    if (!(item instanceof MessageValue) || item.type.name !== 'JSONPatch')
      throw new MutationError('type conversion error: a JSONPatch is expected')
    const text = (name: string): string => (item.fields.get(name) as string | undefined) ?? ''
    const value = item.fields.get('value')
    return {
      op: text('op'),
      path: text('path'),
      from: text('from') || undefined,
      value: value === undefined ? undefined : jsonValue(value),
    }
  })
}

function jsonValue(value: Value): Json {
  if (value instanceof MessageValue) {
    const wrong = misnamed(value, value.type.name)
    if (wrong !== undefined) throw new MutationError(`type mismatch: ${wrong}`)
  }
  try {
    return jsonOf(value)
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    throw new MutationError(
      `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`,
    )
  }
}
