/** The revisions of a StatefulSet's template: found, made, numbered anew on a rollback, and forgotten beyond the limit. */
import type { ControllerRevision, StatefulSet } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/objects/integers.ts'
import { sameJson } from '../../api/same.ts'
import { dataOf, holding, nextNumber, revisionName, revisionOf, templateOf } from '../revisions/controller-revision.ts'
import { historyLimitOf, type OwnedRevisions } from '../revisions/owned-revisions.ts'
import { dataHash } from '../revisions/pod-template-hash.ts'
import type { Templates } from './actions.ts'
import type { RevisionNames } from './status.ts'

const hashLabel = 'controller.kubernetes.io/hash'

export interface SetRevisions {
  readonly names: RevisionNames
  readonly templates: Templates
}

/** The revision that the set is at and the one of its template, which is made when there is none. */
export async function revisionsOf(revisions: OwnedRevisions, set: StatefulSet): Promise<SetRevisions> {
  const sorted = revisions.of(set)
  let collisionCount: number = set.status?.collisionCount ?? 0
  let update = holding(sorted, set.spec!.template)
  if (update === undefined) ({ revision: update, collisionCount } = await create(revisions, set, nextNumber(sorted)))
  else if (!sameJson(update.data, sorted.at(-1)?.data))
    update = await revisions.client(set).update({ ...update, revision: nextNumber(sorted) as number })
  const at: string | undefined = set.status?.currentRevision
  const current = sorted.find(({ metadata }) => metadata.name === at) ?? update
  const named = (revision: ControllerRevision) => ({
    name: revision.metadata.name ?? '',
    template: templateOf(revision),
  })
  const templates = { current: named(current), update: named(update) }
  const names = { current: templates.current.name, update: templates.update.name, collisionCount }
  return { names, templates }
}

async function create(
  revisions: OwnedRevisions,
  set: StatefulSet,
  number: Int64,
): Promise<{ revision: ControllerRevision; collisionCount: number }> {
  const data = dataOf(set.spec!.template)
  const first: number = set.status?.collisionCount ?? 0
  const draft = revisionOf(set, hashLabel, dataHash(data, first), number)
  for (let collisionCount = first; ; collisionCount++) {
    const name = revisionName(set, dataHash(data, collisionCount))
    const revision = await revisions.make(set, { ...draft, metadata: { ...draft.metadata, name } })
    if (revision !== undefined) return { revision, collisionCount }
  }
}

/** Those beyond the limit that no pod needs, oldest first. */
export function surplusStatefulSetRevisions(
  set: StatefulSet,
  sorted: readonly ControllerRevision[],
  needed: ReadonlySet<string | undefined>,
): readonly ControllerRevision[] {
  const unneeded = sorted.filter(({ metadata }) => !needed.has(metadata.name))
  return unneeded.slice(0, Math.max(0, unneeded.length - historyLimitOf(set)))
}
