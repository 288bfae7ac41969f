/**
 * Quotas: no pod is made that a counted quota has not been charged for. (A recount from caches may come between the charge and
 * the pod, and forget the charge, as on a real cluster: so the number itself may be passed by what was on its way.)
 */
import type { KubeObject } from '../../../../src/api/object.ts'
import { StatusError } from '../../../../src/api/status.ts'
import type { Truth } from '../truth.ts'
import type { Passing } from '../wire.ts'
import { describe, type Law, type LawParts } from './laws.ts'

export interface QuotaLaw extends Law {
  /** There has been a quota in the namespace: who was refused may wait long before asking again. */
  hasLimited(namespace: string): boolean
  /** Requests for pods that failed since the last recount of a quota there: they may have been charged for. */
  refused(namespace: string): number
}

const CONTROLLER = 'system:serviceaccount:kube-system:resourcequota-controller'
/** Each quota is counted anew so often, and within so much after that. */
const RECOUNT_MS = 300_000 + 20_000

export function quotaLaw({ runtime, truth, failed }: LawParts): QuotaLaw {
  const limited = new Set<string>()
  /** Charges without their pods, by the quota's uid. */
  const charged = new Map<string, number>()
  const onTheirWay = new Set<Passing>()
  /** When requests for pods failed, by namespace. */
  const failures = new Map<string, readonly number[]>()
  /** Failures that a recount on its way has seen. */
  const seen = new WeakMap<Passing, readonly number[]>()
  const failuresIn = ({ place }: Passing) => failures.get(place.namespace) ?? []
  const recounts = ({ user, method, place }: Passing) =>
    user === CONTROLLER && method === 'PUT' && place.resource === 'resourcequotas'
  const makesPod = ({ method, place, subresource }: Passing) =>
    method === 'POST' && place.resource === 'pods' && subresource === ''

  function counted(before: KubeObject | undefined, after: KubeObject): void {
    const uid = after.metadata.uid ?? ''
    limited.add(after.metadata.namespace ?? '')
    if (!isInEffect(after)) return
    // Those that came before it was counted are not its business.
    const free = [...onTheirWay].filter(({ place }) => place.namespace === after.metadata.namespace).length
    const known = charged.get(uid)
    const raised = before === undefined ? 0 : Math.max(0, usedOf(after) - usedOf(before))
    charged.set(uid, known === undefined ? free : known + raised)
  }

  return {
    hasLimited: (namespace) => limited.has(namespace),
    refused: (namespace) =>
      (failures.get(namespace) ?? []).filter((at) => at + RECOUNT_MS > runtime.clock.now() - runtime.earlyMs).length,
    arrives(passing) {
      if (makesPod(passing)) onTheirWay.add(passing)
      if (recounts(passing)) seen.set(passing, failuresIn(passing))
    },
    done(passing, response) {
      onTheirWay.delete(passing)
      const { namespace } = passing.place
      const isRefused = response instanceof StatusError
      if (makesPod(passing) && isRefused)
        failures.set(namespace, [...failuresIn(passing), runtime.clock.now() - runtime.earlyMs])
      const counted = seen.get(passing)
      if (counted !== undefined && !isRefused)
        failures.set(
          namespace,
          failuresIn(passing).filter((at) => !counted.includes(at)),
        )
    },
    changed({ resource, namespace, before, after }) {
      if (resource === 'resourcequotas' && after !== undefined) counted(before, after)
      if (resource !== 'pods' || before !== undefined || after === undefined) return
      for (const quota of quotasOf(truth, namespace)) {
        const uid = quota.metadata.uid ?? ''
        const left = (charged.get(uid) ?? 0) - 1
        charged.set(uid, left)
        if (left < 0) failed(`${describe(after)} is made, and ${describe(quota)} was not charged for it`)
      }
    },
  }
}

const usedOf = (quota: KubeObject): number => Number(quota['status']?.used?.pods ?? 0)
const isInEffect = (quota: KubeObject): boolean => quota['status']?.hard?.pods !== undefined

/** The quotas that are in effect. */
const quotasOf = (truth: Truth, namespace: string): readonly KubeObject[] =>
  truth.list('resourcequotas').filter((quota) => quota.metadata.namespace === namespace && isInEffect(quota))

/** Those that count: what has ended does not. */
export const podsIn = (truth: Truth, namespace: string): readonly KubeObject[] =>
  truth
    .list('pods')
    .filter((pod) => pod.metadata.namespace === namespace && !['Succeeded', 'Failed'].includes(pod['status']?.phase))
