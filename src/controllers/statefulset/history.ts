/** The revisions of a StatefulSet's template: found, made, numbered anew on a rollback, and forgotten beyond the limit. */
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import type { Client } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import type { Store } from '../../client/store.ts'
import { claim } from '../pods/claim.ts'
import { controllerOf, orphanIndexValue, ownerIndex } from '../pods/pod.ts'
import {
  dataOf,
  holding,
  nextNumber,
  revisionName,
  revisionOf,
  revisionsResource,
  sortedRevisions,
  surplusRevisions,
  templateOf,
} from '../revisions/controller-revision.ts'
import { dataHash } from '../revisions/hash.ts'
import { sameJson } from '../same.ts'
import type { Templates } from './actions.ts'
import type { RevisionNames } from './status.ts'

const hashLabel = 'controller.kubernetes.io/hash'
const ownerIndexName = 'controller'
const defaultLimit = 10

export interface SetRevisions {
  readonly names: RevisionNames
  readonly templates: Templates
}

export interface History {
  addIndexes(informer: Informer): void
  /** Takes the revisions that a set of this name and selector has left behind. */
  adopt(set: KubeObject, liveSet: () => Promise<KubeObject>): Promise<void>
  /** The revision that the set is at and the one of its template, which is made when there is none. */
  revisionsOf(set: KubeObject): Promise<SetRevisions>
  truncate(set: KubeObject, needed: ReadonlySet<string | undefined>): Promise<void>
}

export function createHistory(client: Client, store: Store<KubeObject>): History {
  const clientOf = ({ metadata }: KubeObject) => client.resource(revisionsResource).namespace(metadata.namespace ?? '')

  function candidates(set: KubeObject): readonly KubeObject[] {
    const selector = labelSelectorOf(set['spec'].selector)
    const { uid = '', namespace = '' } = set.metadata
    return [
      ...store.byIndex(ownerIndexName, uid),
      ...store.byIndex(ownerIndexName, orphanIndexValue(namespace)),
    ].filter(({ metadata }) => selector.matches(metadata.labels))
  }

  async function create(set: KubeObject, number: number): Promise<{ revision: KubeObject; collisionCount: number }> {
    const resource = clientOf(set)
    const data = dataOf(set['spec'].template)
    const first: number = set['status']?.collisionCount ?? 0
    const draft = revisionOf(set, hashLabel, dataHash(data, first), number)
    for (let collisionCount = first; ; collisionCount++) {
      const name = revisionName(set, dataHash(data, collisionCount))
      try {
        const revision = await resource.create({ ...draft, metadata: { ...draft.metadata, name } })
        return { revision, collisionCount }
      } catch (error) {
        if (!isAlreadyExists(error)) throw error
        const existing = await resource.get(name)
        if (sameJson(existing['data'], data)) return { revision: existing, collisionCount }
      }
    }
  }

  return {
    addIndexes: (informer) => informer.addIndex(ownerIndexName, ownerIndex),

    async adopt(set, liveController) {
      await claim(
        candidates(set).filter((revision) => controllerOf(revision) === undefined),
        { controller: set, objects: clientOf(set), matches: () => true, liveController },
      )
    },

    async revisionsOf(set) {
      const sorted = sortedRevisions(candidates(set))
      let collisionCount: number = set['status']?.collisionCount ?? 0
      let update = holding(sorted, set['spec'].template)
      if (update === undefined) ({ revision: update, collisionCount } = await create(set, nextNumber(sorted)))
      else if (!sameJson(update['data'], sorted.at(-1)?.['data']))
        update = await clientOf(set).update({ ...update, revision: nextNumber(sorted) })
      const at: string | undefined = set['status']?.currentRevision
      const current = sorted.find(({ metadata }) => metadata.name === at) ?? update
      const named = (revision: KubeObject) => ({
        name: revision.metadata.name ?? '',
        template: templateOf(revision),
      })
      const templates = { current: named(current), update: named(update) }
      return {
        names: { current: templates.current.name, update: templates.update.name, collisionCount },
        templates,
      }
    },

    async truncate(set, needed) {
      const limit: number = set['spec'].revisionHistoryLimit ?? defaultLimit
      const surplus = surplusRevisions(
        sortedRevisions(candidates(set)),
        ({ metadata }) => needed.has(metadata.name),
        limit,
      )
      for (const { metadata } of surplus) {
        await clientOf(set)
          .delete(metadata.name ?? '')
          .catch((error) => {
            if (!isNotFound(error)) throw error
          })
      }
    },
  }
}
