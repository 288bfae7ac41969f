/**
 * Field management of …/scale (KEP-555). Of a Scale managers own one field, the replicas, and that is a field of its workload:
 * so a Scale is seen with those of the workload's entries that own it, a write of the Scale is judged by them, and what it
 * makes of them goes back to the workload.
 */
import type { KubeObject, ManagedFieldsEntry } from '../object.ts'
import { difference, type FieldSet, intersection, MEMBER } from './fieldset.ts'
import { type Managed, readManaged, sameManager, writeManaged } from './managed.ts'

const SCALE_VERSION = 'autoscaling/v1'
const SCALE_REPLICAS: FieldSet = { 'f:spec': { 'f:replicas': MEMBER } }

/**
 * Where a workload's replicas are in one of its apiVersions, as the set of that one field: 'none' in a version that cannot be
 * scaled, undefined for what is no version of it.
 */
export type ReplicasOf = (apiVersion: string) => FieldSet | 'none' | undefined

/** Built-in workloads have them in spec.replicas. */
export const builtinReplicas: ReplicasOf = () => SCALE_REPLICAS

function ownsReplicas({ fields, apiVersion }: Managed, replicasOf: ReplicasOf): boolean {
  const replicas = replicasOf(apiVersion)
  return replicas !== undefined && replicas !== 'none' && intersection(fields, replicas) !== undefined
}

const ownsScale = (entry: Managed): boolean => ownsReplicas(entry, builtinReplicas)

/** The Scale of a workload with its managedFields. */
export function withScaleManagers(scale: KubeObject, workload: KubeObject, replicasOf: ReplicasOf): KubeObject {
  const owners = readManaged(workload.metadata.managedFields)
    .filter((entry) => ownsReplicas(entry, replicasOf))
    .map((entry): Managed => ({ ...entry, apiVersion: SCALE_VERSION, fields: SCALE_REPLICAS }))
  const managedFields = writeManaged(owners)
  return managedFields === undefined ? scale : { ...scale, metadata: { ...scale.metadata, managedFields } }
}

/**
 * The managedFields of a workload of `apiVersion` once its Scale is written. A manager of the replicas of the Scale manages those of
 * the workload, without a time; one that does not any more loses them, at the path of the version of its entry. An updater is
 * another one in another version, so what it owns of the workload besides stays in an entry of its own. Entries of what is no
 * version of the workload go.
 */
export function workloadManagers(
  workload: KubeObject,
  scale: KubeObject,
  apiVersion: string,
  replicasOf: ReplicasOf,
): readonly ManagedFieldsEntry[] | undefined {
  const owners = readManaged(scale.metadata.managedFields).filter(ownsScale)
  const kept: Managed[] = []
  const known = new Set<Managed>()
  for (const entry of readManaged(workload.metadata.managedFields)) {
    const replicas = replicasOf(entry.apiVersion)
    if (replicas === undefined) continue
    const owns = ownsReplicas(entry, replicasOf)
    const owner = owns ? owners.find((one) => sameManager(one, entry)) : undefined
    if (owner !== undefined) known.add(owner)
    if (owner !== undefined || !owns || replicas === 'none') kept.push(entry)
    else kept.push({ ...entry, fields: difference(entry.fields, replicas) })
  }
  const replicas = replicasOf(apiVersion)
  if (replicas !== undefined && replicas !== 'none')
    for (const owner of owners)
      if (!known.has(owner)) kept.push({ ...owner, apiVersion, time: undefined, fields: replicas })
  return writeManaged(kept)
}
