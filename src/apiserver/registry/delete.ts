/** Delete, step by step as in Kubernetes (docs/deletion.md). The rules are in finalizers-grace-period-and-propagation.ts; here they meet storage. */

import type { JsonObject, KubeObject } from '../../api/object.ts'
import type { StoredObject } from '../../api/request.ts'
import { conflict, notFound, StatusError } from '../../api/status.ts'
import type { KeyValue } from '../../storage/storage.ts'
import { namedKey } from '../cache/keys.ts'
import { undecodable, unreadableObject } from '../cache/unreadable.ts'
import { checkOwnPreconditions, checkPreconditions } from './delete-preconditions.ts'
import type { ResourceEndpoint } from './endpoint.ts'
import { deleteStep } from './finalizers-grace-period-and-propagation.ts'
import { journalOfDelete } from './journal.ts'
import { canonicalObject } from './metadata.ts'
import {
  type CurrentObject,
  groupResource,
  isOutdated,
  type Registry,
  type WriteContext,
  writtenObject,
} from './registry.ts'
import { sameObject } from './same.ts'
import type { DeleteOptions } from './strategy.ts'

/** `undefined`: of an object that cannot be read. */
export type ValidateDelete = (object: KubeObject | undefined) => void | Promise<void>

interface Deleted {
  /** Whether it is gone. */
  readonly removed: boolean
  /** The answer's body: the object as it now stands or as it was when it went, or a Status of Success. */
  answer(): KubeObject
  /** The object that is answered, where it went as it was written just before: its bytes need not be made again. */
  readonly asWritten?: () => StoredObject
}

/**
 * Deletes one object, or begins its deletion.
 *
 * Guarantees: preconditions hold for the very state that is marked or removed; what is marked and then removed is so in one go
 * where the storage is this server's own (one that was only marked is removed by the next delete); with dryRun nothing is written.
 *
 * @throws StatusError 404, 409 for preconditions, or what validating admission throws
 */
export async function deleteObject(
  registry: Registry,
  context: WriteContext,
  options: DeleteOptions,
  validate: ValidateDelete,
): Promise<Deleted> {
  const { endpoint, name } = context
  const { row } = endpoint
  const key = namedKey(row, context.namespace, name)
  let found: CurrentObject | undefined = registry.current(endpoint, key)
  for (;;) {
    const revision = found?.revision ?? 0
    try {
      const outcome = await attempt(registry, context, options, validate, key, found)
      if ('retry' in outcome) {
        found = outcome.retry
        continue
      }
      if (!('unwritten' in outcome) || !(await isOutdated(registry, endpoint, key, revision))) return outcome
    } catch (error) {
      // What a write failed with is no decision: it may have been done.
      if (!(error instanceof StatusError) || !(await isOutdated(registry, endpoint, key, revision))) throw error
    }
    found = registry.current(endpoint, key)
  }
}

/** As decided by a state that no write has confirmed. */
interface Unwritten extends Deleted {
  readonly unwritten: true
}

async function attempt(
  registry: Registry,
  context: WriteContext,
  options: DeleteOptions,
  validate: ValidateDelete,
  key: string,
  found: CurrentObject | undefined,
): Promise<Deleted | Unwritten | { readonly retry: CurrentObject | undefined }> {
  const { endpoint, kindStrategy, name } = context
  const { row } = endpoint
  const { preconditions } = options
  if (found === undefined) throw notFound(groupResource(row), name)
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
    if (found.unreadable !== undefined) return removeUnreadable(registry, context, validate, found)
    throw conflict(
      groupResource(row),
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage`,
    )
  }
  const { revision, object } = found
  const existing = await readable(endpoint, key, found)
  if (kindStrategy.preconditionFailed === undefined)
    checkPreconditions({ group: row.group, kind: row.kind }, existing, preconditions)
  else checkOwnPreconditions(groupResource(row), existing, preconditions, kindStrategy.preconditionFailed)
  await validate(existing)
  const step = deleteStep(kindStrategy, existing, options, context)
  const unwritten = (deleted: Deleted): Unwritten => ({ ...deleted, unwritten: true })
  if (step.action === 'keep') return unwritten(kept(object))
  if (step.action === 'update' && sameObject(step.object, existing)) return unwritten(kept(object))
  const stored = await endpoint.worked.asStored(step.object)
  if (context.dryRun)
    return unwritten(
      step.action === 'update'
        ? kept(canonicalObject(stored, String(revision)))
        : gone(context, step.object, String(revision)),
    )
  if (step.action === 'remove') {
    const journal = journalOfDelete(context, options, existing, undefined)
    const result = await registry.storage.write({ type: 'delete', key, expectRevision: revision, ...journal })
    if (result.ok) return gone(context, step.object, String(result.revision))
    return { retry: foundNow(registry, result.current) }
  }
  const marked = canonicalObject(stored, '')
  const value = registry.encode(marked, context.parts)
  const result = await registry.storage.write({
    type: 'put',
    key,
    value,
    expectRevision: revision,
    thenDelete: step.action !== 'update',
    ...(step.action === 'update'
      ? journalOfDelete(context, options, existing, step.object)
      : journalOfDelete(context, options, existing, undefined, step.object)),
  })
  if (!result.ok) return { retry: foundNow(registry, result.current) }
  if (step.action === 'update') return kept(writtenObject(registry, endpoint, key, marked, result.revision))
  const deleted = gone(context, marked, String(result.revision))
  if (kindStrategy.returnDeletedObject !== true) return deleted
  return { ...deleted, asWritten: () => registry.entryOf({ key, value, modRevision: result.revision }) }
}

/** Whatever it was: no finalizer, precondition or grace period of an object that cannot be read holds. */
async function removeUnreadable(
  registry: Registry,
  context: WriteContext,
  validate: ValidateDelete,
  { key, revision }: CurrentObject,
): Promise<Deleted | { readonly retry: CurrentObject | undefined }> {
  const { endpoint, name } = context
  const { row } = endpoint
  await validate(undefined)
  const deleted = { removed: true, answer: () => ({ ...success({ name, kind: row.kind }), code: 200 }) }
  if (context.dryRun) return deleted
  const result = await registry.storage.write({ type: 'delete', key, expectRevision: revision })
  return result.ok ? deleted : { retry: foundNow(registry, result.current) }
}

const success = (details: JsonObject): KubeObject => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details,
})

const foundNow = (registry: Registry, current: KeyValue | undefined): CurrentObject | undefined =>
  current && registry.entryOf(current)

/** @throws StatusError 500 when a custom resource's webhook fails */
async function readable({ worked }: ResourceEndpoint, key: string, found: CurrentObject): Promise<KubeObject> {
  try {
    return await worked.ofStored(found.object)
  } catch (error) {
    throw unreadableObject({ key }, undecodable(found, error))
  }
}

const kept = (object: KubeObject): Deleted => ({ removed: false, answer: () => object })

function gone({ endpoint, kindStrategy }: WriteContext, object: KubeObject, resourceVersion: string): Deleted {
  const { row } = endpoint
  if (kindStrategy.returnDeletedObject === true)
    return { removed: true, answer: () => canonicalObject(object, resourceVersion) }
  const { name = '', uid } = object.metadata
  const details: JsonObject = {
    name,
    ...(row.group === '' ? {} : { group: row.group }),
    kind: row.resource,
    ...(uid === undefined ? {} : { uid }),
  }
  return { removed: true, answer: () => success(details) }
}
