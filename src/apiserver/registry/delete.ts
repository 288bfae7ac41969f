/** Delete, step by step as in Kubernetes (docs/deletion.md). The rules are in grace-period-and-propagation.ts; here they meet storage. */

import type { JsonObject, KubeObject } from '../../api/object.ts'
import { conflict, notFound } from '../../api/status.ts'
import { namedKey } from '../cache/keys.ts'
import type { ResourceEndpoint } from './endpoint.ts'
import { checkOwnPreconditions, checkPreconditions, deleteStep } from './grace-period-and-propagation.ts'
import { canonicalObject } from './metadata.ts'
import { groupResource, type Registry, type WriteContext } from './registry.ts'
import { sameObject } from './same.ts'
import type { DeleteOptions } from './strategy.ts'
import { unreadableObject } from './unreadable.ts'

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
 * Guarantees: preconditions hold for the very state that is marked or removed; what is marked and then removed is so in one go
 * (one that was only marked, by an earlier version, is removed by the next delete); with dryRun nothing is written.
 *
 * @throws StatusError 404, 409 for preconditions, or what validating admission throws
 */
export async function deleteObject(
  registry: Registry,
  context: WriteContext,
  options: DeleteOptions,
  validate: ValidateDelete,
): Promise<Deleted> {
  const { row, endpoint, kindStrategy, name } = context
  const key = namedKey(row, context.namespace, name)
  const cached = registry.current(row, key)
  let found: Found | undefined = cached && { object: cached.object, revision: cached.revision }
  const { preconditions } = options
  for (;;) {
    if (found === undefined) throw notFound(groupResource(row), name)
    if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true)
      throw conflict(
        groupResource(row),
        name,
        `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage`,
      )
    const { revision } = found
    const existing = await readable(endpoint, key, found)
    if (kindStrategy.preconditionFailed === undefined)
      checkPreconditions({ group: row.group, kind: row.kind }, existing, preconditions)
    else checkOwnPreconditions(groupResource(row), existing, preconditions, kindStrategy.preconditionFailed)
    await validate(existing)
    const step = deleteStep(kindStrategy, existing, options, context)
    if (step.action === 'keep') return kept(found.object)
    const next = canonicalObject(step.object, String(revision))
    if (step.action === 'update' && sameObject(next, existing)) return kept(found.object)
    const stored = await endpoint.worked.asStored(step.object)
    if (context.dryRun)
      return step.action === 'update' ? kept(canonicalObject(stored, String(revision))) : gone(context, next)
    if (step.action === 'remove') {
      const result = await registry.storage.write({ type: 'delete', key, expectRevision: revision })
      if (result.ok) return gone(context, canonicalObject(step.object, String(result.revision)))
      found = foundNow(registry, result.current)
      continue
    }
    const result = await registry.storage.write({
      type: 'put',
      key,
      value: registry.encode(canonicalObject(stored, '')),
      expectRevision: revision,
      thenDelete: step.action !== 'update',
    })
    if (result.ok) {
      const written = canonicalObject(stored, String(result.revision))
      return step.action === 'update' ? kept(written) : gone(context, written)
    }
    found = foundNow(registry, result.current)
  }
}

/** What is there, as it is stored. */
interface Found {
  readonly object: KubeObject
  readonly revision: number
}

function foundNow(
  registry: Registry,
  current: { readonly value: Uint8Array; readonly modRevision: number } | undefined,
): Found | undefined {
  return current && { object: registry.decode(current.value, current.modRevision), revision: current.modRevision }
}

/** @throws StatusError 500 when a custom resource's webhook fails */
async function readable({ worked }: ResourceEndpoint, key: string, found: Found): Promise<KubeObject> {
  try {
    return await worked.ofStored(found.object)
  } catch (error) {
    throw unreadableObject({ key, revision: found.revision }, error)
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
