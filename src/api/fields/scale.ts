/**
 * Field management of …/scale (KEP-555). Of a Scale managers own one field, the replicas, and that is a field of its workload:
 * so a Scale is seen with those of the workload's entries that own it, a write of the Scale is judged by them, and what it
 * makes of them goes back to the workload.
 */
import type { KubeObject, ManagedFieldsEntry } from '../object.ts'
import { difference, type FieldSet, MEMBER } from './fieldset.ts'
import { type Managed, readManaged, sameManager, writeManaged } from './managed.ts'

const SCALE_VERSION = 'autoscaling/v1'
const REPLICAS: FieldSet = { 'f:spec': { 'f:replicas': MEMBER } }

const ownsReplicas = ({ fields }: Managed): boolean =>
  (fields?.['f:spec'] as FieldSet | undefined)?.['f:replicas'] !== undefined

/** The Scale of a workload with its managedFields. */
export function withScaleManagers(scale: KubeObject, workload: KubeObject): KubeObject {
  const owners = readManaged(workload.metadata.managedFields)
    .filter(ownsReplicas)
    .map((entry): Managed => ({ ...entry, apiVersion: SCALE_VERSION, fields: REPLICAS }))
  const managedFields = writeManaged(owners)
  return managedFields === undefined ? scale : { ...scale, metadata: { ...scale.metadata, managedFields } }
}

/**
 * The managedFields of a workload of `apiVersion` once its Scale is written. Whoever owns the replicas of the Scale owns those of
 * the workload, without a time; whoever does not any more loses them. An updater is another one in another version, so what
 * it owns of the workload besides stays in an entry of its own.
 */
export function workloadManagers(
  workload: KubeObject,
  scale: KubeObject,
  apiVersion: string,
): readonly ManagedFieldsEntry[] | undefined {
  const owners = readManaged(scale.metadata.managedFields).filter(ownsReplicas)
  const kept: Managed[] = []
  const known = new Set<Managed>()
  for (const entry of readManaged(workload.metadata.managedFields)) {
    const owner = ownsReplicas(entry) ? owners.find((one) => sameManager(one, entry)) : undefined
    if (owner !== undefined) known.add(owner)
    if (owner !== undefined || !ownsReplicas(entry)) kept.push(entry)
    else kept.push({ ...entry, fields: difference(entry.fields, REPLICAS) })
  }
  for (const owner of owners)
    if (!known.has(owner)) kept.push({ ...owner, apiVersion, time: undefined, fields: REPLICAS })
  return writeManaged(kept)
}
