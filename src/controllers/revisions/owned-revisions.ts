/** The revisions of one object among all: its own, and those that one of its name and selector has left behind. */
import type { ControllerRevision } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import type { Client, ResourceClient } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import { claim } from '../pods/adopt-orphans.ts'
import { controllerOf, orphanIndexValue, ownerIndex } from '../pods/pod.ts'
import { type RevisionOwner, revisionsResource, sortedRevisions } from './controller-revision.ts'

const ownerIndexName = 'controller'

export interface OwnedRevisions {
  /** Oldest first. */
  of(owner: RevisionOwner): readonly ControllerRevision[]
  adopt(owner: RevisionOwner, liveController: () => Promise<KubeObject>): Promise<void>
  remove(revisions: readonly ControllerRevision[]): Promise<void>
  /** Made; or the one that is there with the same template. undefined when another template's has the name. */
  make(owner: RevisionOwner, draft: ControllerRevision): Promise<ControllerRevision | undefined>
  /** For revisions of the owner's namespace. */
  client(owner: RevisionOwner): ResourceClient<ControllerRevision>
}

export function createOwnedRevisions(client: Client, informer: Informer<ControllerRevision>): OwnedRevisions {
  informer.addIndex(ownerIndexName, ownerIndex)
  const clientOf = ({ metadata }: KubeObject) =>
    client.resource<ControllerRevision>(revisionsResource).namespace(metadata.namespace ?? '')

  function of(owner: RevisionOwner): readonly ControllerRevision[] {
    const selector = labelSelectorOf(owner.spec?.selector)
    const { uid = '', namespace = '' } = owner.metadata
    const known = [uid, orphanIndexValue(namespace)].flatMap((value) => informer.store.byIndex(ownerIndexName, value))
    return sortedRevisions(known.filter(({ metadata }) => selector.matches(metadata.labels)))
  }

  return {
    of,
    client: clientOf,
    async adopt(controller, liveController) {
      const orphans = of(controller).filter((revision) => controllerOf(revision) === undefined)
      await claim(orphans, { controller, objects: clientOf(controller), matches: () => true, liveController })
    },
    async make(owner, draft) {
      const resource = clientOf(owner)
      try {
        return await resource.create(draft)
      } catch (error) {
        if (!isAlreadyExists(error)) throw error
        const existing = await resource.get(draft.metadata.name ?? '')
        return sameJson(existing.data, draft.data) ? existing : undefined
      }
    },
    async remove(revisions) {
      for (const revision of revisions) {
        await clientOf(revision)
          .delete(revision.metadata.name ?? '')
          .catch((error) => {
            if (!isNotFound(error)) throw error
          })
      }
    },
  }
}

const defaultLimit = 10

/** How many old ones are kept. */
export const historyLimitOf = (owner: RevisionOwner): number => owner.spec?.revisionHistoryLimit ?? defaultLimit
