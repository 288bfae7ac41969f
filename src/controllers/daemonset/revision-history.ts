/** The revisions of a DaemonSet's template: found, made, numbered anew on a rollback, and forgotten beyond the limit. */
import type { ControllerRevision, DaemonSet, Pod } from '../../api/generated/types.ts'
import { holding, nextNumber, revisionNumber, revisionOf } from '../revisions/controller-revision.ts'
import { historyLimitOf, type OwnedRevisions } from '../revisions/owned-revisions.ts'
import { templateHash } from '../revisions/pod-template-hash.ts'
import { revisionHashLabel } from './eligible-nodes-and-tolerations.ts'

/** Another template's revision has the name: the count of collisions is to go up, and the set to be synced again. */
export class HashCollision extends Error {}

/** The revision of the set's present template, which is made when there is none. @throws HashCollision */
export async function currentRevision(revisions: OwnedRevisions, set: DaemonSet): Promise<ControllerRevision> {
  const sorted = revisions.of(set)
  const known = holding(sorted, set.spec!.template)
  const number = nextNumber(sorted.filter((revision) => revision !== known))
  if (known !== undefined)
    return revisionNumber(known) < number
      ? revisions.client(set).update({ ...known, revision: number as number })
      : known
  const { template } = set.spec!
  const draft = revisionOf(set, revisionHashLabel, templateHash(template, set.status?.collisionCount), number)
  const { namespace = '' } = set.metadata
  const made = await revisions.make(set, { ...draft, metadata: { ...draft.metadata, namespace } })
  if (made === undefined) throw new HashCollision(`another template has the revision ${draft.metadata.name}`)
  return made
}

/** As many old ones as there are beyond the limit, oldest first, but none that a pod is made of. */
export function surplusRevisions(
  set: DaemonSet,
  sorted: readonly ControllerRevision[],
  current: ControllerRevision,
  pods: readonly Pod[],
): readonly ControllerRevision[] {
  const old = sorted.filter(({ metadata }) => metadata.name !== current.metadata.name)
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[revisionHashLabel]))
  return old
    .filter(({ metadata }) => !live.has(metadata.labels?.[revisionHashLabel]))
    .slice(0, Math.max(0, old.length - historyLimitOf(set)))
}
