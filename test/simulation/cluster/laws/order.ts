/**
 * StatefulSets that keep order: a pod is made when those before it have been ready, and one that is too many goes when those
 * behind it have gone.
 */
import type { KubeObject } from '../../../../src/api/object.ts'
import { isControlledBy } from '../ownership.ts'
import { describe, isReady, type Law, type LawParts } from './laws.ts'

const CONTROLLER = 'system:serviceaccount:kube-system:statefulset-controller'

export function orderLaw({ truth, failed }: LawParts): Law {
  /** Ordinals that have been ready once, by the uid of their set. */
  const ready = new Map<string, Set<number>>()

  const setOf = (pod: KubeObject): KubeObject | undefined => {
    const owner = pod.metadata.ownerReferences?.find(({ kind, controller }) => controller && kind === 'StatefulSet')
    const set = owner && truth.ofUid(owner.uid)
    return set?.['spec'].podManagementPolicy === 'OrderedReady' ? set : undefined
  }

  return {
    changed({ resource, before, after }) {
      const set = resource === 'pods' && after !== undefined ? setOf(after) : undefined
      if (set === undefined || after === undefined) return
      const known = ready.get(set.metadata.uid ?? '') ?? new Set<number>()
      ready.set(set.metadata.uid ?? '', known)
      const ordinal = ordinalOf(after)
      if (before === undefined)
        for (let earlier = 0; earlier < ordinal; earlier++)
          if (!known.has(earlier)) failed(`${describe(after)} is made, and number ${earlier} has never been ready`)
      if (isReady(after)) known.add(ordinal)
    },
    arrives({ user, method, place }) {
      if (user !== CONTROLLER || method !== 'DELETE' || place.resource !== 'pods') return
      const pod = truth.find(place)
      const set = pod && setOf(pod)
      if (pod === undefined || set === undefined || ordinalOf(pod) < set['spec'].replicas) return
      const behind = truth
        .list('pods')
        .filter((other) => isControlledBy(other, set) && ordinalOf(other) > ordinalOf(pod))
      if (behind.length > 0) failed(`${describe(pod)} is to go before ${behind.map(describe)}`)
    },
  }
}

export const ordinalOf = ({ metadata }: KubeObject): number => Number(/-(\d+)$/.exec(metadata.name ?? '')?.[1])
