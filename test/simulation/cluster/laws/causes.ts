/**
 * Nothing begins to go unless somebody asks for just that object at that moment, and who may only delete what is theirs to
 * delete does no more. A precondition's uid holds for the very object.
 */

import { StatusError } from '../../../../src/api/status.ts'
import type { Passing } from '../wire.ts'
import { describe, isMarked, type Law, type LawParts } from './laws.ts'

const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector'
const NAMESPACES = 'system:serviceaccount:kube-system:namespace-controller'

export function causeLaw({ truth, failed }: LawParts): Law {
  /** Under way, each as the delete it asks for: an eviction brings its options in its body. */
  const deletes = new Map<Passing, Passing>()
  /** A Status says little: what the delete was about when it came. */
  const uidOf = ({ body }: Passing): string | undefined => body['preconditions']?.uid

  const asksFor = (passing: Passing, change: { resource: string; namespace: string; name: string; uid: string }) => {
    const { place } = passing
    if (place.resource !== change.resource) return false
    if (place.name === '') return place.namespace === '' || place.namespace === change.namespace
    if (place.namespace !== change.namespace || place.name !== change.name) return false
    return uidOf(passing) === undefined || uidOf(passing) === change.uid
  }

  return {
    arrives(passing) {
      const { method, user, place, subresource, body } = passing
      const evicts = subresource === 'eviction'
      if (method !== 'DELETE' && !evicts) return
      deletes.set(passing, evicts ? { ...passing, body: body['deleteOptions'] ?? {} } : passing)
      const target = truth.find(place)
      const what = `${user} deletes ${place.resource} ${place.namespace}/${place.name}`
      if (user === COLLECTOR || user.startsWith('system:node:')) {
        if (uidOf(passing) === undefined) failed(`${what} without its uid`)
        else if (target === undefined || target.metadata.uid !== uidOf(passing)) return
      }
      if (user.startsWith('system:node:') && target !== undefined && !isMarked(target))
        failed(`${what}, which nobody wants deleted`)
      if (user === NAMESPACES) {
        const namespace = truth.find({ resource: 'namespaces', namespace: '', name: place.namespace })
        if (namespace !== undefined && !isMarked(namespace)) failed(`${what}, whose namespace lives`)
      }
    },
    done(passing, response) {
      const uid = passing.method === 'DELETE' ? uidOf(passing) : undefined
      deletes.delete(passing)
      if (uid === undefined || response instanceof StatusError || response.kind !== 'object' || response.status >= 300)
        return
      const { object } = response
      const about = object.kind === 'Status' ? object['details']?.uid : object.metadata.uid
      if (about !== uid) failed(`${passing.user} deletes ${passing.place.name} with the uid of another object`)
    },
    changed({ resource, namespace, name, before, after }) {
      if (before === undefined || isMarked(before) || (after !== undefined && !isMarked(after))) return
      const change = { resource, namespace, name, uid: before.metadata.uid ?? '' }
      if (![...deletes.values()].some((passing) => asksFor(passing, change)))
        failed(`${describe(before)} begins to go, and nobody asked for it`)
    },
  }
}
