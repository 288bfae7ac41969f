/**
 * Update: one read-modify-write until it holds. PUT, PATCH, apply and subresource writes differ only in how the next state
 * is made from the present one.
 */

import { type FieldError, invalid, invalidError } from '../../api/errors/field-errors.ts'
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject } from '../../api/object.ts'
import { alreadyExists, conflict, notFound, StatusError } from '../../api/status.ts'
import { validateFinalizerNames, validateGenerateName, validateObjectMetaUpdate } from '../../api/validation/meta.ts'
import type { Guard, KeyValue } from '../../storage/storage.ts'
import { namedKey } from '../cache/keys.ts'
import { type UnreadableValue, undecodable, unwritableObject } from '../cache/unreadable.ts'
import { asRead, beforeCreate, leaseOf, metaOptions } from './create.ts'
import type { ResourceEndpoint } from './endpoint.ts'
import { shouldDeleteDuringUpdate } from './finalizers-grace-period-and-propagation.ts'
import { journalOfUpdate } from './journal.ts'
import { canonicalObject, inheritMetadata } from './metadata.ts'
import {
  type CurrentObject,
  groupResource,
  isOutdated,
  poolGuard,
  type Registry,
  storedObject,
  type WriteContext,
  writtenObject,
} from './registry.ts'
import { sameObject } from './same.ts'
import { fitting } from './too-large-for-etcd.ts'

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

export interface UpdateInput {
  /** The next state: patched, with managedFields, admitted. `existing` is undefined when there is none. */
  next(existing: KubeObject | undefined): KubeObject | Promise<KubeObject>
  validateCreate(object: KubeObject): void | Promise<void>
  validateUpdate(object: KubeObject, old: KubeObject): void | Promise<void>
  /** The uid the object must have (a PUT's body, a binding); '' is any. */
  readonly uid?: string
  /** The resourceVersion it must have, which is compared as it is written (a binding); '' is any. */
  readonly resourceVersion?: string
  /** Apply creates what is not there, whatever the strategy says. */
  readonly forceCreate?: boolean
  /** Apply does not give up managedFields for an object's size. */
  readonly isApply?: boolean
}

export interface Updated {
  readonly object: KubeObject
  readonly created: boolean
}

/** As decided by a state that no write has confirmed. */
interface Unwritten extends Updated {
  readonly unwritten: true
}

/** A state of the key, as a client was (or could have been) answered. */
interface State {
  /** As it is stored. */
  readonly object: KubeObject | undefined
  readonly revision: number
  /** Why it has no object though there is one. */
  readonly unreadable?: UnreadableValue
}

/** What is there, in the version it is worked on in. */
interface Existing {
  readonly object: KubeObject
  readonly state: State
}

/**
 * Guarantees: optimistic concurrency by resourceVersion where the client gave one; no write when nothing changes; an
 * update that takes the last finalizer from a terminating object removes it in the same request and answers with it.
 *
 * @throws StatusError 404, 409, 422, or what `next` and validation throw
 */
export async function updateObject(registry: Registry, context: WriteContext, input: UpdateInput): Promise<Updated> {
  const { endpoint, name } = context
  const { row } = endpoint
  const key = namedKey(row, context.namespace, name)
  let state = stateOf(registry.current(endpoint, key))
  for (;;) {
    try {
      const outcome = await attempt(registry, context, input, key, state)
      if ('retry' in outcome) {
        state = outcome.retry
        continue
      }
      if (!('unwritten' in outcome) || !(await isOutdated(registry, endpoint, key, state.revision))) return outcome
    } catch (error) {
      // What a write failed with is no decision: it may have been done.
      if (!(error instanceof StatusError) || !(await isOutdated(registry, endpoint, key, state.revision))) throw error
    }
    state = stateOf(registry.current(endpoint, key))
  }
}

function failedPrecondition(input: UpdateInput, existing: KubeObject | undefined): string | undefined {
  const { uid = '', resourceVersion = '' } = existing?.metadata ?? {}
  if (input.uid && input.uid !== uid) return `UID in precondition: ${input.uid}, UID in object meta: ${uid}`
  if (input.resourceVersion && input.resourceVersion !== resourceVersion)
    return `ResourceVersion in precondition: ${input.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`
  return undefined
}

async function attempt(
  registry: Registry,
  context: WriteContext,
  input: UpdateInput,
  key: string,
  state: State,
): Promise<Updated | Unwritten | { readonly retry: State }> {
  const { endpoint, strategy, name } = context
  const { row } = endpoint
  const gr = groupResource(row)
  const existing = await workingObject(endpoint, state)
  if (existing === undefined && strategy.allowCreateOnUpdate !== true && input.forceCreate !== true)
    throw notFound(gr, name)
  const failed = failedPrecondition(input, existing)
  if (failed !== undefined)
    throw conflict(
      gr,
      name,
      `StorageError: invalid object, Code: 4, Key: ${context.dryRun ? key.slice('/registry'.length) : key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${failed}`,
    )

  const next = await input.next(existing)
  const asked = parseResourceVersion(next.metadata.resourceVersion)
  if (existing === undefined) {
    const guarding = poolGuard(registry, strategy, context.dryRun)
    const guard = guarding && (await guarding)
    // Made by a write of its status the object is one of its kind, but takes nothing from shared pools.
    const begun = strategy.beginCreate?.(next, context, registry.pools)
    try {
      const made = begun?.object ?? next
      return await createByUpdate(registry, { ...context, strategy: context.kindStrategy }, input, key, made, guard)
    } finally {
      begun?.finish()
    }
  }

  const unconditional = asked === 0n && strategy.allowUnconditionalUpdate !== false
  if (!unconditional) {
    if (asked === 0n)
      throw invalidError({ group: row.group, kind: row.resource }, name, [
        invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
      ])
    if (asked !== BigInt(state.revision)) throw conflict(gr, name, MODIFIED)
  }
  const versioned = withMetadata(next, { resourceVersion: String(state.revision) })
  const guarding = poolGuard(registry, strategy, context.dryRun)
  const guard = guarding && (await guarding)
  const begun = strategy.beginUpdate?.(versioned, existing, context, registry.pools)
  try {
    const next = begun?.object ?? versioned
    return await updateBegun(registry, context, input, key, next, { object: existing, state }, guard)
  } finally {
    begun?.finish()
  }
}

async function updateBegun(
  registry: Registry,
  context: WriteContext,
  input: UpdateInput,
  key: string,
  versioned: KubeObject,
  { object: existing, state }: Existing,
  guard: Guard | undefined,
): Promise<Updated | Unwritten | { readonly retry: State }> {
  const { kindStrategy, endpoint } = context
  const { revision } = state
  const prepared = beforeUpdate(context, versioned, existing)
  await input.validateUpdate(prepared, existing)
  const updated = asRead(context, prepared)
  const lacksDefaults = updated !== prepared
  const object = endpoint.worked.settled(updated)

  if (shouldDeleteDuringUpdate(kindStrategy, object, existing)) {
    const removed = { object: canonicalObject(object, String(revision)), created: false }
    if (context.dryRun) return { ...removed, unwritten: true }
    const journal = journalOfUpdate(context, existing, undefined)
    const result = await registry.storage.write({ type: 'delete', key, expectRevision: revision, ...journal })
    if (result.ok || result.current === undefined) return removed
    return { retry: stateNow(registry, result.current) }
  }

  // Unchanged is unwritten, but for a value whose encryption key has been replaced: writing it again is how keys rotate.
  const stored = await endpoint.worked.asStored(object)
  const before = state.object as KubeObject
  const isSame = lacksDefaults === registry.withoutDefaults.isNow(key, revision) && sameObject(stored, before)
  if (isSame && (context.dryRun || !(await registry.storage.isStale?.(key))))
    return { object: before, created: false, unwritten: true }
  if (context.dryRun) return { object: canonicalObject(stored, String(revision)), created: false, unwritten: true }
  const { object: canonical, value } = fitting(
    registry,
    key,
    canonicalObject(stored, ''),
    endpoint,
    revision,
    input.isApply,
  )
  const result = await registry.storage.write({
    type: 'put',
    key,
    value,
    expectRevision: revision,
    ...leaseOf(context, canonical),
    ...(guard === undefined ? {} : { guard }),
    ...journalOfUpdate(context, existing, canonical),
  })
  if (!result.ok) return { retry: stateNow(registry, result.current) }
  if (lacksDefaults) registry.withoutDefaults.wrote(key, result.revision)
  return { object: writtenObject(registry, endpoint, key, canonical, result.revision), created: false }
}

/** @throws StatusError 500 for what cannot be read, or when a custom resource's webhook fails */
async function workingObject(
  { worked }: ResourceEndpoint,
  { object, revision, unreadable }: State,
): Promise<KubeObject | undefined> {
  if (unreadable !== undefined) throw unwritableObject(unreadable)
  if (object === undefined) return undefined
  try {
    return await worked.ofStored(object)
  } catch (error) {
    throw unwritableObject(undecodable({ revision }, error))
  }
}

function stateOf(found: CurrentObject | undefined): State {
  if (found === undefined) return { object: undefined, revision: 0 }
  const { unreadable, revision } = found
  return unreadable === undefined ? { object: found.object, revision } : { object: undefined, revision, unreadable }
}

const stateNow = (registry: Registry, current: KeyValue | undefined): State =>
  stateOf(current && registry.entryOf(current))

async function createByUpdate(
  registry: Registry,
  context: WriteContext,
  input: UpdateInput,
  key: string,
  next: KubeObject,
  guard: Guard | undefined,
): Promise<Updated | Unwritten | { readonly retry: State }> {
  const prepared = beforeCreate(registry, context, next)
  await input.validateCreate(prepared)
  const object = asRead(context, prepared)
  const canonical = await storedObject(context.endpoint, canonicalObject(object, ''))
  if (context.dryRun) {
    // What never reaches the store keeps the version that the client gave it.
    const { resourceVersion } = object.metadata
    const shown = resourceVersion ? canonicalObject(canonical, resourceVersion) : canonical
    return { object: shown, created: true, unwritten: true }
  }
  const { object: written, value } = fitting(registry, key, canonical, context.endpoint, 0, input.isApply)
  const result = await registry.storage.write({
    type: 'put',
    key,
    value,
    expectRevision: 0,
    ...leaseOf(context, canonical),
    ...(guard === undefined ? {} : { guard }),
  })
  if (result.ok) {
    if (object !== prepared) registry.withoutDefaults.wrote(key, result.revision)
    return { object: writtenObject(registry, context.endpoint, key, written, result.revision), created: true }
  }
  if (result.guardMoved === true) return { retry: { object: undefined, revision: 0 } }
  // Another request made it meanwhile: now it is an update.
  if (result.current === undefined) throw alreadyExists(groupResource(context.endpoint.row), context.name)
  return { retry: stateNow(registry, result.current) }
}

function beforeUpdate(context: WriteContext, next: KubeObject, old: KubeObject): KubeObject {
  const { strategy, endpoint } = context
  const prepared = preparedUpdate(context, inheritMetadata(next, old), old)
  const errors = [
    ...validateObjectMetaUpdate(prepared.metadata, old.metadata),
    ...validateMetaAgain(context, prepared.metadata),
    ...(strategy.validateUpdate?.(prepared, old, context) ?? []),
    ...endpoint.worked.declaredErrors(prepared, old),
  ]
  if (errors.length) throw invalidError(endpoint.worked.kindOf(prepared), prepared.metadata.name ?? '', errors)
  for (const warning of strategy.warningsOnUpdate?.(prepared, old, context) ?? []) context.warn(warning)
  return context.kindStrategy.canonicalize?.(prepared) ?? prepared
}

function preparedUpdate(context: WriteContext, next: KubeObject, old: KubeObject): KubeObject {
  const { strategy, endpoint } = context
  const prepare = (object: KubeObject) => strategy.prepareForUpdate?.(object, old, context) ?? object
  return strategy.countsDisabledFields === true
    ? endpoint.worked.enabled(prepare(next), old)
    : prepare(endpoint.worked.enabled(next, old))
}

/** Rules of a new object's metadata that the kind holds against an updated one too. */
function validateMetaAgain(context: WriteContext, metadata: KubeObject['metadata']): FieldError[] {
  const options = metaOptions(context)
  const rules = context.subresource === '' ? (context.kindStrategy.metaOnUpdate ?? ['finalizers']) : ['finalizers']
  return rules.flatMap((rule) =>
    rule === 'finalizers' ? validateFinalizerNames(metadata, options) : validateGenerateName(metadata, options),
  )
}

/** @throws StatusError 500 in Go's words, as Kubernetes answers */
function parseResourceVersion(text: string | undefined): bigint {
  if (text === undefined || text === '') return 0n
  if (!/^\d+$/.test(text))
    throw new StatusError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`)
  return BigInt(text)
}
