/**
 * ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, each once, numbered. Rules alone; who writes
 * them is the controllers' business.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import { addInt64, compareInt64, type Int64 } from '../../api/objects/integers.ts'
import { sameJson } from '../../api/same.ts'
import { controllerReference } from '../pods/pod.ts'

export const revisionsResource = { group: 'apps', version: 'v1', resource: 'controllerrevisions' }
const longestPrefix = 223

export const revisionNumber = (revision: KubeObject): Int64 => revision['revision'] ?? 0
export const revisionName = (owner: KubeObject, hash: string): string =>
  `${(owner.metadata.name ?? '').slice(0, longestPrefix)}-${hash}`

/** What a revision remembers: a patch that makes the template this one. */
export const dataOf = (template: Fields): Fields => ({ spec: { template: { ...template, $patch: 'replace' } } })

export function templateOf(revision: KubeObject): Fields {
  const { $patch: _, ...template } = revision['data'].spec.template
  return template
}

/** A revision of the owner's template, with the labels of its pods. */
export function revisionOf(owner: KubeObject, hashLabel: string, hash: string, number: Int64): KubeObject {
  const template: Fields = owner['spec'].template
  const { annotations } = owner.metadata
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(owner, hash),
      labels: { ...template['metadata']?.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(owner)],
    },
    data: dataOf(template) as never,
    revision: number as number,
  }
}

/** Oldest first. */
export function sortedRevisions(revisions: readonly KubeObject[]): readonly KubeObject[] {
  const created = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? ''
  const name = ({ metadata }: KubeObject) => metadata.name ?? ''
  return [...revisions].sort(
    (a, b) =>
      compareInt64(revisionNumber(a), revisionNumber(b)) ||
      (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : name(a) < name(b) ? -1 : 1),
  )
}

export const nextNumber = (sorted: readonly KubeObject[]): Int64 => {
  const last = sorted.at(-1)
  return last === undefined ? 1 : addInt64(revisionNumber(last), 1)
}

/** The newest of those that hold this template. */
export const holding = (sorted: readonly KubeObject[], template: Fields): KubeObject | undefined =>
  sorted.findLast((revision) => sameJson(revision['data'], dataOf(template)))
