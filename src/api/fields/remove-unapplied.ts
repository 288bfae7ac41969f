/** After a merge: what the manager applied before and no longer does goes, unless another manager owns it. */
import { asKubeObject, type Json, type KubeObject } from '../object.ts'
import { difference, type FieldSet, intersection, union } from './fieldset.ts'
import { NotMergeable } from './list-item-keys.ts'
import type { Managed } from './managed.ts'
import { fieldSetOf, removeItems, withNamedFields } from './merge-applied-configuration.ts'
import { type Shape, shapeOf } from './shape.ts'
import type { VersionedObject } from './update.ts'

export interface PruneOptions {
  readonly shape: Shape
  readonly apiVersion: string
  readonly merged: KubeObject
  /** What the manager applied before. */
  readonly last: Managed
  /** All managers' fields after the apply, the manager's new ones included. */
  readonly managed: readonly Managed[]
  readonly convert?: (object: KubeObject, apiVersion: string) => VersionedObject | undefined
}

interface InVersion {
  readonly object: KubeObject
  readonly shape: Shape
}

export function removeUnapplied(options: PruneOptions): KubeObject {
  const { merged, last, apiVersion } = options
  if (last.fields === undefined) return merged
  const inLast = inVersion(options, merged, last.apiVersion)
  if (inLast === undefined) return merged
  const pruned = remove(inLast, withNamedFields(inLast.shape, last.fields))
  const owned = addBackOwned(options, inLast.object, pruned)
  const result = addBackDangling(options, inLast, owned)
  return inVersion(options, result, apiVersion)?.object ?? merged
}

/** An object in a version, which may be the one it has; undefined when the version is gone. */
function inVersion(options: PruneOptions, object: KubeObject, version: string): InVersion | undefined {
  const { apiVersion, shape, convert } = options
  if (convert === undefined || (object.apiVersion === version && apiVersion === version)) return { object, shape }
  const converted = convert(object, version)
  return converted && { object: converted.object, shape: shapeOf(converted.schema) }
}

/** What was pruned may lack what its conversion needs. */
function prunedInVersion(options: PruneOptions, pruned: KubeObject, version: string): InVersion | undefined {
  try {
    return inVersion(options, pruned, version)
  } catch (error) {
    if (!(error instanceof NotMergeable)) throw error
    throw new NotMergeable(
      `failed to prune fields: failed add back owned items: failed to convert pruned object at version ${version}: ${error.message}`,
    )
  }
}

function remove({ object, shape }: InVersion, set: FieldSet | undefined): KubeObject {
  if (set === undefined) return object
  return asKubeObject(removeItems(shape, object as Json, set) ?? {})
}

const namedFields = ({ object, shape }: InVersion) => withNamedFields(shape, fieldSetOf(shape, object as Json))

/** Puts back what a manager owns, version by version, the one that was pruned first. Gives an object of that version. */
function addBackOwned(options: PruneOptions, merged: KubeObject, pruned: KubeObject): KubeObject {
  const first = options.last.apiVersion
  const byVersion = new Map<string, FieldSet | undefined>([[first, undefined]])
  for (const entry of options.managed) {
    byVersion.set(entry.apiVersion, union(byVersion.get(entry.apiVersion), entry.fields))
  }
  let current = pruned
  for (const [version, fields] of byVersion) {
    const whole = inVersion(options, merged, version)
    const part = prunedInVersion(options, current, version)
    if (whole === undefined || part === undefined) continue
    const kept = union(namedFields(part), withNamedFields(whole.shape, fields))
    current = remove(whole, difference(namedFields(whole), kept))
  }
  return inVersion(options, current, first)?.object ?? current
}

/** Only what the manager applied before may have gone. */
function addBackDangling({ last }: PruneOptions, merged: InVersion, pruned: KubeObject): KubeObject {
  const gone = difference(namedFields(merged), namedFields({ object: pruned, shape: merged.shape }))
  return remove(merged, intersection(gone, withNamedFields(merged.shape, last.fields)))
}
