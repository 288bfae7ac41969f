/** Delete, step by step as in Kubernetes (SCENARIOS.md, S7). The rules are in deletion.ts; here they meet storage. */
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { conflict, notFound } from '../../api/status.ts'
import { checkPreconditions, deleteStep } from './deletion.ts'
import { canonicalObject } from './metadata.ts'
import { groupResource, type Registry, storageKey, type WriteContext } from './registry.ts'
import { sameObject } from './same.ts'
import type { DeleteOptions } from './strategy.ts'

export type ValidateDelete = (object: KubeObject) => void | Promise<void>

export interface Deleted {
  /** The object as it now stands, or as it was when it went. */
  readonly object: KubeObject
  /** Whether it is gone. */
  readonly removed: boolean
  /** The answer's body: the object, or a Status of Success. */
  readonly answer: KubeObject
}

/**
 * Deletes one object, or begins its deletion.
 *
 * Guarantees: preconditions hold for the very state that is marked or removed; a delete whose removal failed half way is
 * finished by the next one; with dryRun nothing is written.
 *
 * @throws StatusError 404, 409 for preconditions, or what validating admission throws
 */
export async function deleteObject(
  registry: Registry,
  context: WriteContext,
  options: DeleteOptions,
  validate: ValidateDelete,
): Promise<Deleted> {
  const { row, kindStrategy, name } = context
  const key = storageKey(row, context.namespace, name)
  const cached = registry.current(row, key)
  let existing = cached?.object
  let revision = cached?.revision ?? 0
  let preconditions = options.preconditions
  let marked: KubeObject | undefined
  for (;;) {
    if (existing === undefined) {
      // Who marks an object with grace 0 may lose the race for its removal: it is gone all the same.
      if (marked !== undefined) return gone(context, marked)
      throw notFound(groupResource(row), name)
    }
    if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true)
      throw conflict(
        groupResource(row),
        name,
        `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage`,
      )
    checkPreconditions({ group: row.group, kind: row.kind }, existing, preconditions)
    await validate(existing)
    const step = deleteStep(kindStrategy, existing, options, context)
    if (step.action === 'keep') return kept(step.object)
    const next = canonicalObject(step.object, String(revision))
    if (step.action === 'update' && sameObject(next, existing)) return kept(existing)
    if (context.dryRun) return step.action === 'update' ? kept(next) : gone(context, next)
    if (step.action === 'remove') {
      const result = await registry.storage.write({ type: 'delete', key, expectRevision: revision })
      if (result.ok) return gone(context, canonicalObject(step.object, String(result.revision)))
      existing = result.current && registry.decode(result.current.value, result.current.modRevision)
      revision = result.current?.modRevision ?? 0
      continue
    }
    const result = await registry.storage.write({
      type: 'put',
      key,
      value: registry.encode(canonicalObject(step.object, '')),
      expectRevision: revision,
    })
    if (!result.ok) {
      existing = result.current && registry.decode(result.current.value, result.current.modRevision)
      revision = result.current?.modRevision ?? 0
      continue
    }
    const written = canonicalObject(step.object, String(result.revision))
    if (step.action === 'update') return kept(written)
    marked = written
    existing = written
    revision = result.revision
    // The mark was this delete's own write, so its precondition moves on with it.
    if (preconditions?.resourceVersion !== undefined)
      preconditions = { ...preconditions, resourceVersion: String(result.revision) }
    const removal = await registry.storage.write({ type: 'delete', key, expectRevision: revision })
    if (removal.ok) return gone(context, canonicalObject(written, String(removal.revision)))
    existing = removal.current && registry.decode(removal.current.value, removal.current.modRevision)
    revision = removal.current?.modRevision ?? 0
  }
}

const kept = (object: KubeObject): Deleted => ({ object, removed: false, answer: object })

function gone({ row, kindStrategy }: WriteContext, object: KubeObject): Deleted {
  if (kindStrategy.returnDeletedObject === true) return { object, removed: true, answer: object }
  const details: JsonObject = {
    name: object.metadata.name ?? '',
    ...(row.group === '' ? {} : { group: row.group }),
    kind: row.resource,
    ...(object.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
  }
  const answer: KubeObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
  return { object, removed: true, answer }
}
