/** Create, step by step as in Kubernetes. */

import { type FieldError, invalid, invalidError } from '../../api/errors/field-errors.ts'
import { withMetadata } from '../../api/metadata.ts'
import { longName } from '../../api/names/name-formats.ts'
import type { KubeObject } from '../../api/object.ts'
import { alreadyExists, StatusError } from '../../api/status.ts'
import { validateObjectMeta } from '../../api/validation/meta.ts'
import type { Guard } from '../../storage/storage.ts'
import { storageKey } from '../cache/keys.ts'
import { canonicalObject, inNamespace } from './metadata.ts'
import {
  type CurrentObject,
  groupResource,
  poolGuard,
  type Registry,
  storedObject,
  type WriteContext,
  writtenObject,
} from './registry.ts'
import type { Strategy } from './strategy.ts'
import { fitting } from './too-large-for-etcd.ts'

/** Names generated for one create before it gives up. */
const NAME_ATTEMPTS = 8

export type ValidateCreate = (object: KubeObject) => void | Promise<void>

/**
 * Stores a new object. `object` is decoded, defaulted, admitted and has its managedFields; `name` is its own or generated.
 *
 * Guarantees: when it resolves the object is durable and every cache has it (dryRun: nothing is written).
 *
 * @throws StatusError 422 of validation, 409 AlreadyExists (also on dryRun), 500 when resourceVersion is set, or what
 *   validating admission throws
 */
export async function createObject(
  registry: Registry,
  context: WriteContext,
  object: KubeObject,
  validate: ValidateCreate,
): Promise<KubeObject> {
  const { name, generateName } = object.metadata
  if (name !== undefined && name !== '') return createNamed(registry, context, object, validate)
  if (generateName === undefined || generateName === '') return createNamed(registry, context, object, validate)
  for (let attempt = 1; ; attempt++) {
    const named = withMetadata(object, { name: freeName(registry, context, object.metadata.namespace, generateName) })
    try {
      return await createNamed(registry, context, named, validate)
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists' || attempt === NAME_ATTEMPTS) throw error
    }
  }
}

/** Names by a seed begin anew with each start: those that are taken are passed over. */
const NAMES_PASSED_OVER = 10_000

function freeName(
  { newName, current }: Registry,
  { endpoint }: WriteContext,
  namespace: string | undefined,
  generateName: string,
): string {
  const { row } = endpoint
  let name = newName(generateName)
  for (let i = 0; i < NAMES_PASSED_OVER && current(endpoint, storageKey(row, namespace ?? '', name)) !== undefined; i++)
    name = newName(generateName)
  return name
}

async function createNamed(
  registry: Registry,
  context: WriteContext,
  named: KubeObject,
  validate: ValidateCreate,
): Promise<KubeObject> {
  for (;;) {
    const guarding = poolGuard(registry, context.strategy, context.dryRun)
    const guard = guarding && (await guarding)
    const begun = context.strategy.beginCreate?.(named, context, registry.pools)
    try {
      const made = await createBegun(registry, context, begun?.object ?? named, validate, guard)
      if (made !== undefined) return made
    } finally {
      begun?.finish()
    }
  }
}

/** undefined: another server took from the pools meanwhile. */
async function createBegun(
  registry: Registry,
  context: WriteContext,
  begun: KubeObject,
  validate: ValidateCreate,
  guard: Guard | undefined,
): Promise<KubeObject | undefined> {
  const { endpoint } = context
  const { row } = endpoint
  const prepared = beforeCreate(registry, context, begun)
  await validate(prepared)
  const object = asRead(context, prepared)
  const name = object.metadata.name as string
  const resourceVersion = object.metadata.resourceVersion
  // A dry run never reaches the store, which would refuse it.
  if (!context.dryRun && resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0')
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
  const key = storageKey(row, context.namespace, name)
  const canonical = await storedObject(context.endpoint, canonicalObject(object, ''))
  if (context.dryRun) {
    await registry.fresh()
    const existing = registry.current(endpoint, key)
    if (existing !== undefined) throw exists(context, object.metadata, existing)
    // What never reaches the store keeps the version that the client gave it.
    return resourceVersion ? canonicalObject(canonical, resourceVersion) : canonical
  }
  const { object: written, value } = fitting(registry, key, canonical, context.endpoint, 0)
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
    return writtenObject(registry, endpoint, key, written, result.revision)
  }
  if (result.guardMoved === true) return undefined
  const current = result.current
  throw exists(context, object.metadata, current && registry.entryOf(current))
}

/** Fills, validates and canonicalizes what a create (or a create by update) is about to store. */
export function beforeCreate(registry: Registry, context: WriteContext, object: KubeObject): KubeObject {
  const { endpoint, strategy } = context
  const { row } = endpoint
  // Admission may have moved it.
  const filled = withMetadata(inNamespace(object, row.namespaced, context.namespace), {
    uid: registry.runtime.random.uuid(),
    creationTimestamp: context.now,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
  })
  const enabled = endpoint.worked.enabled(filled)
  const prepared = strategy.prepareForCreate?.(enabled, context) ?? enabled
  const own = strategy.validate?.(prepared, context) ?? []
  const meta =
    strategy.metadataLast === true && own.length > 0 ? [] : validateObjectMeta(prepared.metadata, metaOptions(context))
  const errors = [
    ...(strategy.validateAccess?.(prepared, context) ?? []),
    ...meta,
    ...own,
    ...declaredName(strategy, prepared),
    ...endpoint.worked.declaredErrors(prepared),
  ]
  if (errors.length) throw invalidError(endpoint.worked.kindOf(prepared), prepared.metadata.name ?? '', errors)
  for (const warning of strategy.warningsOnCreate?.(prepared, context) ?? []) context.warn(warning)
  return strategy.canonicalize?.(prepared) ?? prepared
}

/** As every read will find it: validating admission judges it without that. */
export const asRead = ({ kindStrategy }: WriteContext, object: KubeObject): KubeObject =>
  kindStrategy.defaultsOnRead?.(object) ?? object

function declaredName({ nameDeclared }: Strategy, { metadata: { name = '' } }: KubeObject): readonly FieldError[] {
  return nameDeclared && name !== '' ? longName(name).map((message) => invalid('metadata.name', name, message)) : []
}

export function metaOptions({ endpoint, kindStrategy }: WriteContext) {
  const { row } = endpoint
  return {
    namespaced: row.namespaced,
    ...(kindStrategy.validateName === undefined ? {} : { nameRule: kindStrategy.validateName }),
    ...(kindStrategy.nameDeclared ? { nameRule: () => [] } : {}),
    ...(kindStrategy.standardFinalizersOnly === undefined
      ? {}
      : { standardFinalizersOnly: kindStrategy.standardFinalizersOnly }),
  }
}

export function leaseOf({ kindStrategy }: WriteContext, object: KubeObject): { readonly leaseSeconds?: number } {
  const seconds = kindStrategy.timeToLiveSeconds?.(object)
  return seconds === undefined ? {} : { leaseSeconds: seconds }
}

function exists(
  { endpoint }: WriteContext,
  { name = '', generateName = '' }: KubeObject['metadata'],
  existing: CurrentObject | undefined,
): StatusError {
  const { row } = endpoint
  const error = generateName === '' ? alreadyExists(groupResource(row), name) : notUnique(groupResource(row), name)
  const isBeingDeleted = existing?.unreadable === undefined && existing?.object.metadata.deletionTimestamp !== undefined
  if (!isBeingDeleted) return error
  return new StatusError(error.code, error.reason, `object is being deleted: ${error.message}`, error.details)
}

/** A generated name that is taken, time and again. */
function notUnique(resource: ReturnType<typeof groupResource>, name: string): StatusError {
  const { code, reason, message, details } = alreadyExists(resource, name)
  const text = `${message}, the server was not able to generate a unique name for the object`
  return new StatusError(code, reason, text, { ...details, retryAfterSeconds: 1 })
}
