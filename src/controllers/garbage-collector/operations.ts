/** What the garbage collector asks and tells the API server, in its own words. */
import { asJson, type JsonObject, type KubeObject, type OwnerReference } from '../../api/object.ts'
import { sameOwnerReferences } from '../../api/owner-references.ts'
import { isConflict, isNotFound, StatusError } from '../../api/status.ts'
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client, ClientDeleteOptions, DiscoveredResource, ResourceClient } from '../../client/client.ts'
import { type GarbageFinalizer, type GraphNode, type ObjectIdentity, ownersOf } from './graph.ts'

/** Nothing served has this apiVersion and kind. */
export class NoSuchKindError extends Error {
  constructor(apiVersion: string, kind: string) {
    super(`unable to get REST mapping for ${apiVersion}/${kind}.`)
    this.name = 'NoSuchKindError'
  }
}

/** Finds the resource of a kind; undefined when it is not served. */
export type KindLookup = (apiVersion: string, kind: string) => DiscoveredResource | undefined

export type DeletePolicy = 'Orphan' | 'Background' | 'Foreground'

const conflictTries = 5
const conflictWaitMs = 10
const conflictFactor = 5

export function createGarbageOperations(runtime: Runtime, client: Client, lookup: KindLookup) {
  const resourceOf = (apiVersion: string, kind: string): DiscoveredResource => {
    const found = lookup(apiVersion, kind)
    if (found === undefined) throw new NoSuchKindError(apiVersion, kind)
    return found
  }
  const clientOf = (identity: ObjectIdentity): ResourceClient => {
    const found = resourceOf(identity.apiVersion, identity.kind)
    const resource = client.resource(found)
    return found.namespaced ? resource.namespace(identity.namespace) : resource
  }
  const getObject = (identity: ObjectIdentity) => clientOf(identity).get(identity.name)
  const askedFor = new Map<string, Promise<KubeObject>>()

  return {
    resourceOf,
    getObject,

    /**
     * The owner a reference of `namespace`'s object means, by name. Rejects with NotFound when there is none. The dependents
     * of one owner come together: what is asked while the question is under way gets its answer too.
     */
    getOwner(reference: OwnerReference, resource: DiscoveredResource, namespace: string): Promise<KubeObject> {
      const scope = resource.namespaced ? namespace : ''
      const key = [resource.group, resource.version, resource.resource, scope, reference.name].join('/')
      const underWay = askedFor.get(key)
      if (underWay !== undefined) return underWay
      const answer = client.resource(resource).namespace(scope).get(reference.name)
      const answered = () => {
        if (askedFor.get(key) === answer) askedFor.delete(key)
      }
      askedFor.set(key, answer)
      answer.then(answered, answered)
      return answer
    },

    /** A question that is asked because the graph changed is not given the answer of one asked before. */
    graphChanged: () => askedFor.clear(),

    /**
     * Deletes exactly what was looked at. When it changed since but its owners did not, the decision still stands, for any
     * newer state; when its owners changed, the conflict is thrown and the item decided anew.
     */
    async deleteObject(identity: ObjectIdentity, latest: KubeObject, policy: DeletePolicy): Promise<void> {
      const resource = clientOf(identity)
      const { uid } = identity
      const { resourceVersion = '' } = latest.metadata
      const remove = (preconditions: NonNullable<ClientDeleteOptions['preconditions']>) =>
        resource.delete(identity.name, { preconditions, propagationPolicy: policy })
      try {
        await remove({ uid, resourceVersion })
      } catch (error) {
        if (!isConflict(error)) throw error
        let live: KubeObject
        try {
          live = await resource.get(identity.name)
        } catch (liveError) {
          if (isNotFound(liveError)) return
          throw error
        }
        if (live.metadata.uid !== uid) return
        if (!sameOwnerReferences(ownersOf(live), ownersOf(latest))) throw error
        await remove({ uid })
      }
    },

    /** Takes these owners' references from the item. A reference that is gone already is no error. */
    deleteOwnerReferences(item: GraphNode, ownerUids: readonly string[]): Promise<KubeObject | undefined> {
      const strategic = {
        metadata: {
          uid: item.identity.uid,
          ownerReferences: ownerUids.map((uid) => ({ $patch: 'delete', uid })),
        },
      }
      return patchReferences(item, strategic, (owners) => owners.filter((owner) => !ownerUids.includes(owner.uid)))
    },

    /** No owner of the item waits for it any more. */
    unblockOwnerReferences(item: GraphNode): Promise<KubeObject | undefined> {
      const unblocked = (owner: OwnerReference): OwnerReference =>
        owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner
      const ownerReferences = item.owners.filter((owner) => owner.blockOwnerDeletion === true).map(unblocked)
      const strategic = {
        metadata: { uid: item.identity.uid, ...(ownerReferences.length > 0 ? { ownerReferences } : {}) },
      }
      return patchReferences(item, asJson(strategic), (owners) => owners.map(unblocked))
    },

    /** Takes the finalizer off, against conflicts too. Nothing happens when the object or the finalizer is gone. */
    async removeFinalizer(identity: ObjectIdentity, finalizer: GarbageFinalizer): Promise<void> {
      for (let tries = 1, wait = conflictWaitMs; ; tries++, wait *= conflictFactor) {
        let object: KubeObject
        try {
          object = await getObject(identity)
        } catch (error) {
          if (isNotFound(error)) return
          throw new Error(
            `cannot finalize owner ${identity.uid}, because cannot get it: ${error}. The garbage collector will retry later`,
            { cause: error },
          )
        }
        const finalizers = object.metadata.finalizers ?? []
        if (!finalizers.includes(finalizer)) {
          runtime.log.info(5, 'finalizer already removed from object', { item: identity, finalizer })
          return
        }
        const kept = finalizers.filter((other) => other !== finalizer)
        const body = {
          metadata: {
            resourceVersion: object.metadata.resourceVersion ?? '',
            finalizers: kept.length === 0 ? null : kept,
          },
        }
        try {
          await clientOf(identity).patch(identity.name, 'merge', body)
          return
        } catch (error) {
          if (!isConflict(error) || tries >= conflictTries) throw error
        }
        await sleep(runtime.clock, wait * (1 + 0.1 * runtime.random.float()))
      }
    },
  }

  /** Strategic merge where the resource knows it; a JSON merge patch of the whole list for custom resources. */
  async function patchReferences(
    item: GraphNode,
    strategic: JsonObject,
    edit: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
  ): Promise<KubeObject | undefined> {
    const resource = clientOf(item.identity)
    try {
      return await resource.patch(item.identity.name, 'strategic', strategic)
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 415) throw error
    }
    const object = await resource.get(item.identity.name)
    const owners = edit(ownersOf(object))
    return resource.patch(item.identity.name, 'merge', {
      metadata: {
        uid: item.identity.uid,
        resourceVersion: object.metadata.resourceVersion ?? '',
        ownerReferences: owners.length === 0 ? null : owners.map((owner) => ({ ...owner })),
      },
    })
  }
}

export type GarbageOperations = ReturnType<typeof createGarbageOperations>
