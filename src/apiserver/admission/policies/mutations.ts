/** The mutations of a policy: an expression each, and how what it makes changes the object. */

import { OVER_LIMIT, RESULT_LIMIT } from '../../../api/cel/cost-limits.ts'
import type { Budget } from '../../../api/cel/eval-within-cost-limit.ts'
import { misnamed } from '../../../api/cel/mutation.ts'
import { configurationOf } from '../../../api/cel/native.ts'
import { CelError, MessageValue, type Value } from '../../../api/cel/values.ts'
import { weightOf } from '../../../api/cel/weight.ts'
import { decoderProblem } from '../../../api/codec/refusals.ts'
import { problemOfValue } from '../../../api/decode-problem.ts'
import { atomicPaths } from '../../../api/fields/atomics.ts'
import { merge } from '../../../api/fields/merge-applied-configuration.ts'
import { shapeOf } from '../../../api/fields/shape.ts'
import { misfitsOf, misfitText } from '../../../api/fields/validate.ts'
import type { MutatingAdmissionPolicySpec } from '../../../api/generated/types.ts'
import { asJson, asKubeObject, type Json, type JsonObject, type KubeObject } from '../../../api/object.ts'
import type { ResourceRow, SubresourceRow } from '../../../api/scheme/resource.ts'
import { StatusError } from '../../../api/status.ts'
import type { KindReader, ResourceEndpoint } from '../../registry/endpoint.ts'
import { compile, ExpressionError, type PolicyExpression } from './expression.ts'
import { MutationError, printKind } from './mutation-error.ts'
import { applyPolicyPatch } from './policy-patch.ts'

export interface Mutation {
  readonly source: string
  readonly expression: PolicyExpression
  readonly isPatch: boolean
}

export const mutationsOf = ({ mutations = [] }: MutatingAdmissionPolicySpec): readonly Mutation[] =>
  mutations.map(({ patchType, jsonPatch, applyConfiguration }) => {
    const isPatch = patchType === 'JSONPatch'
    const source = (isPatch ? jsonPatch : applyConfiguration)?.expression ?? ''
    return { source, expression: compile(source, true), isPatch }
  })

/** The kind that a request is about: its resource's, or another one at a subresource (`Scale`). */
export interface MutationTarget {
  readonly kind: ResourceRow | SubresourceRow
  readonly reader: KindReader
  /** Not known where the resource's group and version are published: nothing can be merged into it. */
  readonly foreign: boolean
}

export function mutationTargetOf({ row, reader, readerOf }: ResourceEndpoint, subresource: string): MutationTarget {
  const sub = subresource === '' ? undefined : row.subresources.find(({ name }) => name === subresource)
  if (sub === undefined || sub.kind === row.kind) return { kind: row, reader, foreign: false }
  return { kind: sub, reader: readerOf(sub), foreign: sub.group !== row.group || sub.version !== row.version }
}

/**
 * What the expression makes of the variables.
 *
 * @throws MutationError
 */
export function evaluateMutation(
  { expression, source }: Mutation,
  variables: ReadonlyMap<string, Value>,
  budget: Budget,
): Value {
  try {
    const made = expression.run(variables, budget)
    if (weightOf(made) > RESULT_LIMIT) throw new ExpressionError(`${OVER_LIMIT} by the size of the result`)
    return made
  } catch (error) {
    if (error instanceof ExpressionError)
      throw new MutationError(`expression '${source}' resulted in error: ${error.message}`)
    throw error
  }
}

/**
 * The object with what the expression made.
 *
 * @throws MutationError, or StatusError 500 for a patched object that cannot be read
 */
export function applyMutation(mutation: Mutation, made: Value, object: KubeObject, target: MutationTarget): KubeObject {
  try {
    return mutation.isPatch ? applyPolicyPatch(made, object, target.reader) : applyConfiguration(made, object, target)
  } catch (error) {
    if (error instanceof CelError) throw new MutationError(error.message)
    throw error
  }
}

const APPLYING = 'error applying patch'
const TYPING = `${APPLYING}: failed to convert patch object to typed object`

function applyConfiguration(made: Value, object: KubeObject, target: MutationTarget): KubeObject {
  if (!(made instanceof MessageValue))
    throw new MutationError('unsupported return type from ApplyConfiguration expression: null_type')
  const wrong = misnamed(made, 'Object')
  if (wrong !== undefined) throw new MutationError(`type mismatch: ${wrong}`)
  const { apiVersion, kind } = object as { readonly apiVersion?: string; readonly kind?: string }
  const applied = { ...configurationOf(made), apiVersion, kind } as JsonObject
  const { schema } = target.kind
  if (target.foreign) throw new MutationError(`${TYPING}: no corresponding type for ${printKind(target.kind)}`)
  const misfits = misfitsOf(applied, schema)
  if (misfits.length > 0) throw new MutationError(`${TYPING}: ${misfitText(misfits)}`)
  const atomics = atomicPaths(applied, schema)
  if (atomics.length > 0)
    throw new MutationError(
      `${APPLYING}: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    )
  const merged = asKubeObject(merge(shapeOf(schema), asJson(object), target.reader.fitted(applied)) as Json)
  if (merged === object) return object
  return readBack(merged, target)
}

function readBack(merged: KubeObject, { kind, reader }: MutationTarget): KubeObject {
  try {
    const decoded = reader.decode({ kind: 'object', object: merged }, { fieldValidation: 'Ignore' }).object
    return reader.defaulted(decoded)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const problem = decoderProblem(error)
    const reason = problem === undefined ? error.message : problemOfValue(problem)
    throw new MutationError(`unable to convert unstructured object to ${printKind(kind)}: ${reason}`)
  }
}

/**
 * Kubernetes cannot take an object of a built-in kind back that it has shown in another version than the request's.
 *
 * @throws MutationError saying so
 */
export function takeBack({ row: shown, served }: ResourceEndpoint, requested: ResourceRow): void {
  if (shown === requested || served.takesBack) return
  if (shown.group === requested.group)
    throw new MutationError(
      `converting (${shown.version}.${shown.kind}) to (${requested.version}.${requested.kind}): unknown conversion`,
    )
  const target = requested.group === '' ? requested.version : `${requested.group}/${requested.version}`
  throw new MutationError(
    `${shown.version}.${shown.kind} is not suitable for converting to ${JSON.stringify(target)} in scheme "pkg/runtime/scheme.go:111"`,
  )
}
