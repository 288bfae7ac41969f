/**
 * Pods that came and went while the controller that made them was cut off: it lists anew, never hears of them or hears of them
 * first when they are on their way out, and goes on expecting them for five minutes; after that it acts at the next change of the owner, as on a real cluster.
 */
import { StatusError } from '../../../../src/api/status.ts'
import type { Life } from '../wire.ts'
import type { Law } from './laws.ts'

export interface UnseenLaw extends Law {
  /** uids of owners whose controller expects such a pod, each told once. */
  takeOwners(): readonly string[]
}

export function unseenLaw(): UnseenLaw {
  /** Who made a pod, by its uid, until it has heard of it. */
  const unseen = new Map<string, Life>()
  const owners = new Set<string>()
  return {
    takeOwners() {
      const taken = [...owners]
      owners.clear()
      return taken
    },
    done({ life, method, place, subresource }, response) {
      if (!life.isController || method !== 'POST' || place.resource !== 'pods' || subresource !== '') return
      if (response instanceof StatusError || response.kind !== 'object') return
      unseen.set(response.object.metadata?.uid ?? '', life)
    },
    delivered(life, { metadata: { uid = '', deletionTimestamp } }) {
      if (unseen.get(uid) === life && deletionTimestamp === undefined) unseen.delete(uid)
    },
    changed({ resource, before, after }) {
      if (resource !== 'pods' || before === undefined) return
      const { uid = '', ownerReferences = [] } = before.metadata
      if (after?.metadata.uid === uid || !unseen.has(uid)) return
      for (const owner of ownerReferences) if (owner.controller === true) owners.add(owner.uid)
      unseen.delete(uid)
    },
  }
}
