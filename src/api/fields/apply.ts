/** Server-side apply (KEP-555): an object, what a manager wants of it, and which manager owns what afterwards. */
import { apiVersionOf, type Json, type JsonObject, type KubeObject } from '../object.ts'
import { sameJson } from '../same.ts'
import type { StructSchema } from '../schema/schema.ts'
import { badRequest, type StatusCause, StatusError } from '../status.ts'
import { changedFields, removedFields } from './compare.ts'
import { difference, type FieldSet, forEachPath, intersection, recursiveDifference } from './fieldset.ts'
import { conflictsAllowedByLastApplied, withLastApplied } from './last-applied.ts'
import { NotMergeable } from './list-item-keys.ts'
import { type Managed, readManaged, sameManager, writeManaged } from './managed.ts'
import { fieldSetOf, merge } from './merge-applied-configuration.ts'
import { printPath } from './pathelement.ts'
import { reconciledWithSchema } from './reconcile.ts'
import { removeUnapplied } from './remove-unapplied.ts'
import { emptyObject, type Shape, shapeOf } from './shape.ts'
import { resetSet, stripped, trackUpdate, type VersionedObject, withManagedFields } from './update.ts'
import { misfitsOf, misfitText } from './validate.ts'

export interface ApplyOptions {
  /** What is stored, in `apiVersion`; undefined when the apply creates. */
  readonly live: KubeObject | undefined
  /** The parsed body of the request. */
  readonly applied: JsonObject
  readonly schema: StructSchema
  /** What the request is for: the body must say the same. */
  readonly apiVersion: string
  readonly kind: string
  readonly manager: string
  readonly force: boolean
  readonly subresource: string
  /** metav1.Time of this request. */
  readonly time: string
  /** Paths that this endpoint never owns (`[['f:status']]`). */
  readonly resetFields?: readonly (readonly string[])[]
  /**
   * false: Kubernetes has no conversion of what the request is for (a custom resource's Scale). Conflicts are told, but only an
   * apply that changes nothing goes well.
   */
  readonly convertible?: false
  /** As in UpdateManagedFieldsOptions. */
  readonly convert?: (object: KubeObject, apiVersion: string) => VersionedObject | undefined
}

export interface Applied {
  /**
   * The merged object with its managedFields, to be decoded and defaulted. Fields that no manager wants any more are gone or
   * null.
   */
  readonly object: KubeObject
  /** Whether anything but managedFields differs from `live`. */
  readonly changed: boolean
}

const BEFORE_FIRST_APPLY = 'before-first-apply'
const KUBECTL = 'kubectl'

/** What a manager would take from others. */
export interface Conflict {
  readonly owner: Managed
  readonly fields: FieldSet
}

/**
 * Applies a configuration.
 *
 * @throws StatusError 400 for a body that names another kind or carries managedFields; 409 with a cause per field and owner
 * for conflicts without `force`; 500, as Kubernetes has it, for a body that does not fit the schema and for what cannot be
 * converted
 */
export function applyServerSide(options: ApplyOptions): Applied {
  const { live, applied, schema, apiVersion, kind, manager } = options
  const metadata = applied['metadata'] as JsonObject | undefined | null
  const named = kindNamed(applied)
  if (apiVersionOf(named.group, named.version) !== apiVersion || named.kind !== kind) {
    throw badRequest(`invalid object type: ${printKind(named)}`)
  }
  // `/v1` names the same as `v1`.
  if (applied['apiVersion'] !== apiVersion) return applyServerSide({ ...options, applied: { ...applied, apiVersion } })
  // Of another type they are refused with all else that does not fit.
  const managedFields = metadata?.['managedFields']
  if (Array.isArray(managedFields) && managedFields.every((entry) => typeof entry === 'object'))
    throw badRequest('metadata.managedFields must be nil')
  const unconverted = (what: string, name: string) =>
    new StatusError(
      500,
      '',
      `${what} (${name}) to proper version: request to convert CR to an invalid group/version: ${apiVersion}`,
    )
  if (options.convertible === false && readManaged(live?.metadata.managedFields).length === 0)
    throw unconverted(
      'failed to create manager for existing fields: failed to convert live object',
      `/; ${printKind(named)}`,
    )
  const misfits = misfitsOf(applied, schema)
  if (misfits.length > 0) {
    throw new StatusError(
      500,
      '',
      `failed to create typed patch object (${nameOfApplied(applied)}): ${misfitText(misfits)}`,
    )
  }
  let outcome = mergeable('', () => tryApply(options))
  if (outcome.conflicts.length > 0 && manager === KUBECTL && live !== undefined) {
    outcome = resolveByLastApplied(options, outcome)
  }
  if (outcome.conflicts.length > 0) throw conflictError(outcome.conflicts)
  if (options.convertible === false && live !== undefined && outcome.changed)
    throw unconverted('failed to convert new object', nameOfApplied(applied))
  const synced = manager === KUBECTL ? withLastApplied(outcome.object, applied) : outcome.object
  return {
    object: withManagedFields(synced, writeManaged(outcome.managed)),
    changed: outcome.changed || synced !== outcome.object,
  }
}

/** A configuration in messages: `namespace/name; group/version, Kind=kind`, with nothing for what it leaves out. */
export function nameOfApplied(applied: JsonObject): string {
  const metadata = applied['metadata'] as JsonObject | undefined | null
  return `${text(metadata?.['namespace'])}/${text(metadata?.['name'])}; ${printKind(kindNamed(applied))}`
}

/** kubectl takes over, without force, what its client-side apply had set. */
function resolveByLastApplied(options: ApplyOptions, outcome: Outcome): Outcome {
  const allowed = conflictsAllowedByLastApplied(options.live!, options.schema)
  if (allowed === undefined) return outcome
  const left = outcome.conflicts.flatMap(({ owner, fields }) => {
    const rest = difference(fields, allowed)
    return rest === undefined ? [] : [{ owner, fields: rest }]
  })
  return left.length > 0 ? { ...outcome, conflicts: left } : tryApply({ ...options, force: true })
}

interface Outcome {
  readonly object: KubeObject
  readonly changed: boolean
  readonly managed: readonly Managed[]
  readonly conflicts: readonly Conflict[]
}

function tryApply(options: ApplyOptions): Outcome {
  const { applied, schema, apiVersion, subresource, time } = options
  const shape = shapeOf(schema)
  const { managedFields: _, ...metadata } = options.live?.metadata ?? {}
  const live = (options.live === undefined ? emptyObject(schema) : { ...options.live, metadata }) as KubeObject
  const self = { manager: options.manager, operation: 'Apply' as const, apiVersion, subresource }
  const known = entriesBefore(options)
  const last = known.find((entry) => sameManager(entry, self))
  const reset = resetSet(options.resetFields)
  const wanted = recursiveDifference(fieldSetOf(shape, applied as Json), reset)
  const mine: Managed = { ...self, time: last?.time, fields: wanted }
  const others = known.filter((entry) => entry !== last)

  const merged = merge(shape, live as Json, applied as Json) as unknown as KubeObject
  const object =
    last === undefined ? merged : removeUnapplied({ ...options, shape, merged, last, managed: [...others, mine] })
  const effect = effects(options, shape, live, object, others)
  const managed: Managed[] = []
  const conflicts: Conflict[] = []
  for (const entry of others) {
    const found = effect(entry)
    if (found === 'version gone') continue
    const conflict = intersection(entry.fields, found.changed)
    if (conflict !== undefined) conflicts.push({ owner: entry, fields: conflict })
    const fields = difference(difference(entry.fields, found.changed), found.removed)
    managed.push(fields === entry.fields ? entry : { ...entry, fields })
  }
  const changed = !sameJson(live as Json, object as Json)
  // An apply that changes nothing leaves no time, even where it adds an owner.
  managed.push({ ...mine, fields: difference(wanted, stripped), time: changed ? time : last?.time })
  return { object, changed, managed, conflicts: options.force ? [] : conflicts }
}

/** Entries before the apply: an object that never had any is owned by before-first-apply. */
function entriesBefore(options: ApplyOptions): readonly Managed[] {
  const { live } = options
  const known = reconciledWithSchema(readManaged(live?.metadata.managedFields), options.apiVersion, options.schema)
  if (known.length > 0 || live === undefined) return known
  try {
    return trackUpdate([], { ...options, live: undefined, next: live, manager: BEFORE_FIRST_APPLY })
  } catch (error) {
    if (error instanceof NotMergeable) return []
    throw error
  }
}

interface Effect {
  readonly changed: FieldSet | undefined
  readonly removed: FieldSet | undefined
}

/** What the apply does to the fields of one entry, in that entry's version. */
function effects(
  options: ApplyOptions,
  shape: Shape,
  live: KubeObject,
  object: KubeObject,
  others: readonly Managed[],
): (entry: Managed) => Effect | 'version gone' {
  const compare = (in_: Shape, before: Json, after: Json, reset: FieldSet | undefined): Effect => ({
    changed: recursiveDifference(changedFields(in_, before, after), reset),
    removed: recursiveDifference(removedFields(in_, before, after), reset),
  })
  const known = new Map<string, Effect | 'version gone'>([
    [options.apiVersion, compare(shape, live as Json, object as Json, resetSet(options.resetFields))],
  ])
  for (const { apiVersion } of others) {
    if (known.has(apiVersion)) continue
    if (options.convert === undefined) {
      known.set(apiVersion, { changed: undefined, removed: undefined })
      continue
    }
    const { convert } = options
    const before = mergeable('', () => convert(live, apiVersion))
    const after = mergeable('failed to convert new object: ', () => convert(object, apiVersion))
    known.set(
      apiVersion,
      before === undefined || after === undefined
        ? 'version gone'
        : compare(shapeOf(after.schema), before.object as Json, after.object as Json, resetSet(after.resetFields)),
    )
  }
  return (entry) => known.get(entry.apiVersion)!
}

/** @throws StatusError 500, as Kubernetes has it, for an object that cannot be divided into the fields of a version */
function mergeable<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof NotMergeable) throw new StatusError(500, '', `${what}${error.message}`)
    throw error
  }
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Go's print of a group, version and kind. */
interface NamedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** None where the version is none. */
function kindNamed(object: JsonObject): NamedKind {
  const parts = text(object['apiVersion']).split('/')
  if (parts.length > 2) return { group: '', version: '', kind: '' }
  const [version = '', group = ''] = parts.reverse()
  return { group, version, kind: text(object['kind']) }
}

const printKind = ({ group, version, kind }: NamedKind) => `${group}/${version}, Kind=${kind}`

function printOwner(owner: Managed): string {
  const name = JSON.stringify(owner.manager)
  const where = owner.subresource === '' ? name : `${name} with subresource ${JSON.stringify(owner.subresource)}`
  return owner.operation === 'Update' ? `${where} using ${owner.apiVersion}` : where
}

/** A conflict tells of its owners by their names, whatever the order of the entries. */
function inOrderOfOwners(conflicts: readonly Conflict[]): readonly Conflict[] {
  const key = ({ manager, operation, apiVersion }: Managed) => JSON.stringify([manager, operation, apiVersion])
  return conflicts
    .map((conflict) => ({ conflict, key: key(conflict.owner) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ conflict }) => conflict)
}

/** 409 with a cause per field and owner. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const causes: StatusCause[] = []
  const byOwner = new Map<string, string[]>()
  for (const { owner, fields } of inOrderOfOwners(conflicts)) {
    const name = printOwner(owner)
    const paths = byOwner.get(name) ?? []
    byOwner.set(name, paths)
    forEachPath(fields, (path) => {
      const printed = printPath(path)
      paths.push(printed)
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field: printed })
    })
  }
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
      : `Apply failed with ${causes.length} conflicts: ${[...byOwner]
          .flatMap(([name, paths]) => [`conflicts with ${name}:`, ...paths.map((path) => `- ${path}`)])
          .join('\n')}`
  return new StatusError(409, 'Conflict', message, { causes })
}
