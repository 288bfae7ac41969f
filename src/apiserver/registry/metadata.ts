/** What the server itself does to metadata at a create and at an update: system fields, and what an update may not touch. */
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'

/** Metadata in the order of Kubernetes' struct, so that every writer's objects are written alike. */
const ORDER = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const satisfies readonly (keyof ObjectMeta)[]

/** The object in canonical order, with `resourceVersion` or ('') without one. */
export function canonicalObject(object: KubeObject, resourceVersion: string): KubeObject {
  const from: Readonly<Record<string, unknown>> = { ...object.metadata }
  const metadata: Record<string, unknown> = {}
  for (const field of ORDER) {
    if (field === 'resourceVersion') {
      if (resourceVersion !== '') metadata[field] = resourceVersion
    } else if (from[field] !== undefined) metadata[field] = from[field]
  }
  const { kind, apiVersion, metadata: _, ...rest } = object
  return { kind, apiVersion, metadata: metadata as ObjectMeta, ...rest }
}

/** Takes away what only the server sets. */
export function wipeSystemFields(object: KubeObject): KubeObject {
  const { creationTimestamp, uid, deletionTimestamp, deletionGracePeriodSeconds, selfLink } = object.metadata
  if (
    creationTimestamp === undefined &&
    uid === undefined &&
    deletionTimestamp === undefined &&
    deletionGracePeriodSeconds === undefined &&
    selfLink === undefined
  )
    return object
  return withMetadata(object, {
    creationTimestamp: undefined,
    uid: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
  })
}

/** The object in the request's namespace, or in none. @throws StatusError 400 when a namespaced one names another */
export function inNamespace(object: KubeObject, namespaced: boolean, namespace: string): KubeObject {
  const own = object.metadata.namespace ?? ''
  if (!namespaced) {
    // Whatever namespace a cluster-scoped object names, it has none.
    return own === '' ? object : withMetadata(object, { namespace: undefined })
  }
  if (own === namespace) return object
  if (own !== '') wrongNamespace()
  return withMetadata(object, { namespace })
}

function wrongNamespace(): never {
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** What an update inherits from the object it updates, whatever the client sent. */
export function inheritMetadata(object: KubeObject, old: KubeObject): KubeObject {
  const meta = object.metadata
  const before = old.metadata
  const changes: { -readonly [K in keyof ObjectMeta]?: ObjectMeta[K] | undefined } = {}
  if (meta.generation !== before.generation) changes.generation = before.generation
  if (meta.uid === undefined || meta.uid === '') changes.uid = before.uid
  if (before.creationTimestamp !== undefined && meta.creationTimestamp !== before.creationTimestamp)
    changes.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined && meta.deletionTimestamp !== before.deletionTimestamp)
    changes.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined)
    changes.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds
  return Object.keys(changes).length === 0 ? object : withMetadata(object, changes)
}

const DUPLICATES = '.metadata.ownerReferences contains duplicate entries'

/** Equal owner references count once, with a warning. */
export function dedupeOwnerReferences(
  object: KubeObject,
  afterAdmission: boolean,
  warn: (message: string) => void,
): KubeObject {
  const references = object.metadata.ownerReferences
  if (references === undefined || references.length < 2) return object
  const seen = new Set<string>()
  const duplicates = new Set<string>()
  const kept: OwnerReference[] = []
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference
    const text = JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null])
    if (seen.has(text)) duplicates.add(uid)
    else kept.push(reference)
    seen.add(text)
  }
  if (duplicates.size === 0) return object
  warn(
    afterAdmission
      ? `${DUPLICATES} after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...duplicates].join(', ')}`
      : `${DUPLICATES}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...duplicates].join(', ')}`,
  )
  return withMetadata(object, { ownerReferences: kept })
}

/** What is written by a path that has no name. @throws StatusError 400 */
export function requireName({ name }: { readonly name: string }): void {
  if (name === '') throw badRequest('name must be provided')
}

/** @throws StatusError 400 when the object's name is not the one in the URL */
export function checkName(object: KubeObject, name: string): void {
  const own = object.metadata.name ?? ''
  if (own === '')
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`)
}
