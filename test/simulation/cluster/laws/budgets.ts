/**
 * Disruption budgets: an eviction that a budget is about goes through only when the budget was charged for it, and it is charged
 * only where it allows that at that moment. What has ended, waits to begin or goes already costs nothing, nor does a pod that is
 * not ready where enough others are (unhealthyPodEvictionPolicy).
 */
import type { Fields, KubeObject } from '../../../../src/api/object.ts'
import { StatusError } from '../../../../src/api/status.ts'
import type { Passing } from '../wire.ts'
import { describe, isMarked, isReady, type Law, type LawParts } from './laws.ts'

interface Eviction {
  /** The pod it was about when it came. */
  readonly pod: KubeObject
  /** Its budgets allowed it without being charged, or there were none, at some moment since it came. */
  free: boolean
  charged: boolean
  /** Its own work from here on: what becomes of the pod excuses nothing any more. */
  decided: boolean
}

/** The test's budgets select by one label. */
export const covers = (budget: KubeObject, pod: KubeObject): boolean =>
  budget.metadata.namespace === pod.metadata.namespace &&
  budget['spec'].selector.matchLabels.app === pod.metadata.labels?.['app']

export function budgetLaw({ truth, failed }: LawParts): Law {
  const underWay = new Map<Passing, Eviction>()

  /** Whether this pod can go at this moment without a charge. */
  function isFree({ metadata }: KubeObject): boolean {
    const pod = truth.ofUid(metadata.uid ?? '')
    if (pod === undefined || isMarked(pod) || ['Pending', 'Succeeded', 'Failed'].includes(pod['status']?.phase))
      return true
    const budgets = truth.list('poddisruptionbudgets').filter((budget) => covers(budget, pod))
    return budgets.every((budget) => isNoted(budget, pod) || (!isReady(pod) && sparesUnready(budget)))
  }

  function look(resource: string, before: KubeObject | undefined): void {
    for (const eviction of underWay.values()) {
      const isOwn = resource === 'pods' && before?.metadata.uid === eviction.pod.metadata.uid
      if (isOwn && before !== undefined && isTarget(before)) eviction.decided = true
      if (!eviction.decided) eviction.free ||= isFree(eviction.pod)
    }
  }

  function spent(before: KubeObject, after: KubeObject): void {
    const named = Object.keys(after['status']?.disruptedPods ?? {})
    const added = named.filter((name) => before['status']?.disruptedPods?.[name] === undefined)
    for (const name of added) {
      const what = `${describe(after)} is charged for ${name}`
      const asking = [...underWay].find(
        ([{ place }, { charged }]) => !charged && place.name === name && place.namespace === after.metadata.namespace,
      )
      if (asking === undefined) failed(`${what}, which nobody evicts`)
      else asking[1].charged = true
      const [had, has]: number[] = [before['status']?.disruptionsAllowed ?? 0, after['status']?.disruptionsAllowed]
      if (had === 0) failed(`${what} although it allows none`)
      if (has !== (had ?? 0) - added.length) failed(`${what} and allows ${has} after ${had}`)
      if ((before['status']?.observedGeneration ?? 0) < (before.metadata.generation ?? 0))
        failed(`${what} before its spec was looked at`)
    }
  }

  return {
    arrives(passing) {
      if (passing.subresource !== 'eviction') return
      const pod = truth.find(passing.place)
      if (pod !== undefined) underWay.set(passing, { pod, free: isFree(pod), charged: false, decided: false })
    },
    done(passing, response) {
      const eviction = underWay.get(passing)
      underWay.delete(passing)
      if (eviction === undefined || response instanceof StatusError || eviction.free || eviction.charged) return
      failed(`${describe(eviction.pod)} is evicted, and its budget was not charged`)
    },
    changed({ resource, before, after }) {
      if (resource === 'poddisruptionbudgets' && after !== undefined) {
        if ((after['status']?.disruptionsAllowed ?? 0) < 0) failed(`${describe(after)} allows less than nothing`)
        if (before !== undefined) spent(before, after)
      }
      if (underWay.size > 0 && (resource === 'poddisruptionbudgets' || resource === 'pods')) look(resource, before)
    },
  }
}

function sparesUnready({ spec, status }: KubeObject): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 }: Record<string, number> = status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/** It was charged for this pod already, a moment ago. */
const isNoted = ({ status }: KubeObject, { metadata }: KubeObject): boolean =>
  status?.disruptedPods?.[metadata.name ?? ''] !== undefined

/** An eviction has said so of a pod that was not going: it asked the budget before. */
const isTarget = (pod: KubeObject): boolean =>
  !isMarked(pod) && (pod['status']?.conditions ?? []).some(({ reason }: Fields) => reason === 'EvictionByEvictionAPI')
