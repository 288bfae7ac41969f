/** JSON patches of webhooks and policies: applied, or why not, in the words that their authors know. */

import { decoderProblem } from '../../../api/codec/refusals.ts'
import { problemText } from '../../../api/decode-problem.ts'
import type { Json } from '../../../api/object.ts'
import { applyJsonPatch, decodeJsonPatch, type JsonPatchOperation } from '../../../api/patch/json-patch.ts'
import { messageOf } from '../../../base/errors.ts'

/** A test of the patch found something else than it expects. */
export class TestFailed extends Error {}

/** @throws Error with the first operation that does not apply */
export const applyWebhookPatch = (document: Json, patch: Json): Json =>
  applyOperations(document, decodeJsonPatch(patch).operations)

/** @throws Error with the first operation that does not apply, TestFailed */
export function applyOperations(document: Json, operations: readonly JsonPatchOperation[]): Json {
  let current = document
  const copies = { characters: 0 }
  for (const operation of operations) {
    try {
      current = applyJsonPatch(current, [operation], copies)
    } catch (cause) {
      const pointer = operation.path ?? ''
      if (operation.op === 'test' && (pointer === '' || holder(current, pointer) !== undefined))
        throw new TestFailed(`testing value ${pointer} failed: test failed`, { cause })
      throw new Error(reason(current, operation), { cause })
    }
  }
  return current
}

const MISSING = 'missing value'

function reason(document: Json, { op, path, from }: JsonPatchOperation): string {
  const pointer = path ?? ''
  const parent = holder(document, pointer)
  switch (op) {
    case 'add':
      return parent === undefined
        ? `add operation does not apply: doc is missing path: ${JSON.stringify(pointer)}: ${MISSING}`
        : `error in add for path: '${pointer}': ${wrongIndex(keyOf(pointer))}`
    case 'remove':
      return parent === undefined
        ? `remove operation does not apply: doc is missing path: ${JSON.stringify(pointer)}: ${MISSING}`
        : `error in remove for path: '${pointer}': ${notRemoved(parent, keyOf(pointer))}`
    case 'replace':
      return `replace operation does not apply: doc is missing ${parent === undefined ? 'path' : 'key'}: ${pointer}: ${MISSING}`
    case 'test':
      return `test operation does not apply: is missing path: ${pointer}: ${MISSING}`
    case 'move':
    case 'copy': {
      if (from === undefined) return `${op} operation failed to decode from: operation, missing from field: ${MISSING}`
      const source = holder(document, from)
      if (source === undefined) return `${op} operation does not apply: doc is missing from path: ${from}: ${MISSING}`
      const key = keyOf(from)
      if (op === 'move' && !Object.hasOwn(source, key))
        return `error in move for path: '${key}': ${notRemoved(source, key)}`
      return `${op} operation does not apply: doc is missing destination path: ${pointer}: ${MISSING}`
    }
    default:
      return `Unexpected kind: ${op}`
  }
}

const keyOf = (pointer: string) => unescaped(pointer.slice(pointer.lastIndexOf('/') + 1))
const unescaped = (part: string) => part.replace(/~[01]/g, (found) => (found === '~1' ? '/' : '~'))

const wrongIndex = (key: string) =>
  /^[+-]?\d+$/.test(key)
    ? `Unable to access invalid index: ${key}: invalid index referenced`
    : `value was not a proper array index: '${key}': strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`

const notRemoved = (parent: object, key: string) =>
  Array.isArray(parent) ? wrongIndex(key) : `Unable to remove nonexistent key: ${key}: ${MISSING}`

/** The object or list that has, or could have, what the pointer names; undefined when there is none. */
function holder(document: Json, pointer: string): object | undefined {
  const parts = pointer.split('/').slice(1)
  if (parts.length === 0) return undefined
  let current: unknown = document
  for (const part of parts.slice(0, -1)) {
    const key = unescaped(part)
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined
    current = (current as Readonly<Record<string, unknown>>)[key]
  }
  return typeof current === 'object' && current !== null ? current : undefined
}

/** What is wrong, without what a client's own patch would be told around it. */
export function reasonOf(error: unknown): string {
  const problem = decoderProblem(error)
  return problem === undefined ? messageOf(error) : problemText(problem)
}
