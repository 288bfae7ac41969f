/**
 * ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, each once, numbered. Rules alone; the
 * controllers write them.
 */
import type { ControllerRevision, DaemonSet, PodTemplateSpec, StatefulSet } from '../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { addInt64, compareInt64, type Int64 } from '../../api/objects/integers.ts'
import { sameJson } from '../../api/same.ts'
import { controllerReference } from '../pods/pod.ts'
import { withSortedKeys } from './pod-template-hash.ts'

/** The kinds that keep revisions of their templates. */
export type RevisionOwner = DaemonSet | StatefulSet

export const revisionsResource = { group: 'apps', version: 'v1', resource: 'controllerrevisions' }
const longestPrefix = 223

export const revisionNumber = (revision: ControllerRevision): Int64 => revision.revision ?? 0
export const revisionName = (owner: KubeObject, hash: string): string =>
  `${(owner.metadata.name ?? '').slice(0, longestPrefix)}-${hash}`

/** What a revision remembers: a patch that makes the template this one. Others compare its bytes, so its keys are in order. */
export const dataOf = (template: PodTemplateSpec): Fields =>
  withSortedKeys({ spec: { template: { ...template, $patch: 'replace' } } }) as Fields

export function templateOf(revision: ControllerRevision): Fields {
  const data = revision.data as { readonly spec: { readonly template: Fields } }
  const { $patch: _, ...template } = data.spec.template
  return template
}

/** A revision of the owner's template, with the labels of its pods. */
export function revisionOf(owner: RevisionOwner, hashLabel: string, hash: string, number: Int64): ControllerRevision {
  const template: PodTemplateSpec = owner.spec!.template
  const { annotations } = owner.metadata
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(owner, hash),
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(owner)],
    },
    data: dataOf(template) as never,
    revision: number as number,
  }
}

/** Oldest first. */
export function sortedRevisions(revisions: readonly ControllerRevision[]): readonly ControllerRevision[] {
  const created = ({ metadata }: ControllerRevision) => metadata.creationTimestamp ?? ''
  const name = ({ metadata }: ControllerRevision) => metadata.name ?? ''
  return [...revisions].sort(
    (a, b) =>
      compareInt64(revisionNumber(a), revisionNumber(b)) ||
      (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : name(a) < name(b) ? -1 : 1),
  )
}

export const nextNumber = (sorted: readonly ControllerRevision[]): Int64 => {
  const last = sorted.at(-1)
  return last === undefined ? 1 : addInt64(revisionNumber(last), 1)
}

/** The newest of those that hold this template. */
export const holding = (
  sorted: readonly ControllerRevision[],
  template: PodTemplateSpec,
): ControllerRevision | undefined => {
  const data = dataOf(template)
  return sorted.findLast((revision) => sameJson(revision.data, data))
}
