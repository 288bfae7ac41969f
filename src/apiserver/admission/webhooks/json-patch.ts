/** JSON patches that webhooks answer with: applied, or why not, in the words that their authors know. */
import type { Json } from '../../../api/object.ts'
import { applyJsonPatch, decodeJsonPatch } from '../../../api/patch/json-patch.ts'

type Operation = ReturnType<typeof decodeJsonPatch>['operations'][number]

/** @throws Error with the first operation that does not apply */
export function applyWebhookPatch(document: Json, patch: Json): Json {
  const { operations } = decodeJsonPatch(patch)
  let current = document
  for (const operation of operations) {
    try {
      current = applyJsonPatch(current, [operation])
    } catch (cause) {
      throw new Error(reason(current, operation), { cause })
    }
  }
  return current
}

function reason(document: Json, { op, path, from }: Operation): string {
  const pointer = path ?? ''
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  const key = pointer.slice(pointer.lastIndexOf('/') + 1)
  const hasParent = holder(document, parent)
  switch (op) {
    case 'add':
      return hasParent
        ? `error in add for path: '${pointer}': Unable to access invalid index: ${key}: invalid index referenced`
        : `add operation does not apply: doc is missing path: ${JSON.stringify(pointer)}: missing value`
    case 'remove':
      return hasParent
        ? `error in remove for path: '${pointer}': Unable to remove nonexistent key: ${key}: missing value`
        : `remove operation does not apply: doc is missing path: ${JSON.stringify(pointer)}: missing value`
    case 'replace':
      return hasParent
        ? `replace operation does not apply: doc is missing key: ${pointer}: missing value`
        : `replace operation does not apply: doc is missing path: ${pointer}: missing value`
    case 'test':
      return `testing value ${pointer} failed: test failed`
    case 'move':
      return `move operation does not apply: doc is missing from path: ${from ?? ''}: missing value`
    case 'copy':
      return `copy operation does not apply: doc is missing from path: ${JSON.stringify(from ?? '')}: missing value`
    default:
      return `Unexpected kind: ${op}`
  }
}

/** Whether there is an object or a list at the pointer. */
function holder(document: Json, pointer: string): boolean {
  let current: unknown = document
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replace(/~[01]/g, (found) => (found === '~1' ? '/' : '~'))
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return false
    current = (current as Readonly<Record<string, unknown>>)[key]
  }
  return typeof current === 'object' && current !== null
}
