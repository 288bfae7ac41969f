/** metadata.managedFields after an Update operation: create, update, and every patch that is not an apply. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts'
import type { Parts } from '../parts.ts'
import type { StructSchema } from '../schema/schema.ts'
import { changedFields, removedFields } from './compare.ts'
import { difference, type FieldSet, fieldSetOfPaths, MEMBER, recursiveDifference, union } from './fieldset.ts'
import { NotMergeable } from './list-item-keys.ts'
import { capUpdateManagers, type Managed, sameManager, writeManaged } from './managed.ts'
import { knownEntries } from './managed-fields-sent-by-client.ts'
import { reconciledWithSchema } from './reconcile.ts'
import { emptyObject, shapeOf } from './shape.ts'

/** An object in the version of another manager's entry. */
export interface VersionedObject {
  readonly object: KubeObject
  readonly schema: StructSchema
  readonly resetFields?: readonly (readonly string[])[]
}

export interface UpdateManagedFieldsOptions {
  /** What is stored, in `apiVersion`; undefined on create. */
  readonly live: KubeObject | undefined
  /** What the request makes of it (decoded, defaulted, before admission and the strategy), in `apiVersion`. */
  readonly next: KubeObject
  readonly schema: StructSchema
  /** The field manager; '' becomes `unknown`. */
  readonly manager: string
  /** The version of the request. */
  readonly apiVersion: string
  /** '' or the subresource that is written. */
  readonly subresource: string
  /** metav1.Time of this request. */
  readonly time: string
  /** Paths that this endpoint never owns (`[['f:status']]`). */
  readonly resetFields?: readonly (readonly string[])[]
  /** What is remembered of specs of the kind. */
  readonly parts?: Parts
  /**
   * An object of this kind in another version, for entries of that version; undefined when the version is no longer
   * served: the entry is then dropped. Without this hook entries of other versions are kept as they are.
   */
  readonly convert?: (object: KubeObject, apiVersion: string) => VersionedObject | undefined
}

/** Fields that belong to no manager. */
export const stripped: FieldSet = {
  'f:apiVersion': MEMBER,
  'f:kind': MEMBER,
  'f:metadata': {
    '.': MEMBER,
    'f:clusterName': MEMBER,
    'f:creationTimestamp': MEMBER,
    'f:generation': MEMBER,
    'f:managedFields': MEMBER,
    'f:name': MEMBER,
    'f:namespace': MEMBER,
    'f:resourceVersion': MEMBER,
    'f:selfLink': MEMBER,
    'f:uid': MEMBER,
  },
}

const resetSets = new WeakMap<object, { readonly set: FieldSet | undefined }>()

/** The set of an endpoint's reset fields, made once per list. */
export function resetSet(paths: readonly (readonly string[])[] | undefined): FieldSet | undefined {
  if (paths === undefined) return undefined
  const made = getOrInsertComputed(resetSets, paths, () => ({ set: fieldSetOfPaths(paths) }))
  return made.set
}

/**
 * Gives `next` with metadata.managedFields as kube-apiserver writes them for an Update operation (KEP-555): the manager
 * owns what it changed, other managers lose what was changed or removed, entries without fields go, the time of an entry
 * changes only with what it owns. Never throws: an object that cannot be divided into fields keeps the entries it had.
 *
 * A client may send managedFields: `[{}]` clears them, a valid list replaces them, anything else counts as what is stored.
 * The result shares everything but metadata with `next`.
 */
export function updateManagedFields(options: UpdateManagedFieldsOptions): KubeObject {
  const { live, next, subresource } = options
  const known = knownEntries(live, next, subresource)
  // An object without entries is not tracked again, until the next apply.
  if (known.length === 0 && live !== undefined) return withManagedFields(next, undefined)
  let managed: readonly Managed[]
  try {
    managed = trackUpdate(reconciledWithSchema(known, options.apiVersion, options.schema), options)
  } catch (error) {
    if (!(error instanceof NotMergeable)) throw error
    managed = known
  }
  return withManagedFields(next, writeManaged(managed))
}

/** Sets or removes metadata.managedFields; gives the same object when nothing changes. */
export function withManagedFields(object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  const { managedFields, ...metadata } = object.metadata ?? {}
  if (entries === undefined) return managedFields === undefined ? object : { ...object, metadata }
  return { ...object, metadata: { ...metadata, managedFields: entries } }
}

/** @throws NotMergeable */
export function trackUpdate(known: readonly Managed[], options: UpdateManagedFieldsOptions): readonly Managed[] {
  const { apiVersion, subresource, time } = options
  const self = {
    manager: options.manager === '' ? 'unknown' : options.manager,
    operation: 'Update' as const,
    apiVersion,
    subresource,
  }
  const { changed, removed } = compareVersions(options)
  const own = difference(changed, stripped)
  const taken = new Map([[apiVersion, union(changed, removed)]])
  const managed: Managed[] = []
  let mine: Managed | undefined
  for (const entry of known) {
    const lost = lostFields(entry.apiVersion, taken, options)
    if (lost === 'version gone') continue
    const fields = difference(entry.fields, lost)
    const kept = fields === entry.fields ? entry : { ...entry, fields }
    if (own !== undefined && sameManager(entry, self)) mine = kept
    else managed.push(kept)
  }
  if (own !== undefined) managed.push({ ...self, time, fields: union(mine?.fields, own) })
  return capUpdateManagers(managed)
}

interface Versions {
  readonly live: KubeObject | undefined
  readonly next: KubeObject
  readonly schema: StructSchema
  readonly resetFields?: readonly (readonly string[])[] | undefined
  readonly parts?: Parts | undefined
}

function compareVersions({ live, next, schema, resetFields, parts }: Versions) {
  const shape = shapeOf(schema)
  const before: JsonObject = live ?? emptyObject(schema)
  const reset = resetSet(resetFields)
  return {
    changed: recursiveDifference(changedFields(shape, before, next, parts), reset),
    removed: recursiveDifference(removedFields(shape, before, next), reset),
  }
}

/** What the request takes away from entries of one version. */
function lostFields(
  version: string,
  taken: Map<string, FieldSet | undefined>,
  { live, next, convert }: UpdateManagedFieldsOptions,
): FieldSet | undefined | 'version gone' {
  if (taken.has(version)) return taken.get(version)
  const after = convert?.(next, version)
  const before = live === undefined ? undefined : convert?.(live, version)
  if (after === undefined || (live !== undefined && before === undefined)) return 'version gone'
  const { changed, removed } = compareVersions({
    live: before?.object,
    next: after.object,
    schema: after.schema,
    resetFields: after.resetFields,
  })
  const lost = union(changed, removed)
  taken.set(version, lost)
  return lost
}
