/**
 * Rollouts, by what the deployment controller itself does: it never asks for more pods than replicas and surge, never takes
 * available ones away below what may be unavailable, begins no rollout while paused, and (Recreate) no new pods beside old ones.
 * It can only know what it was told: sizes and counts of a while ago, and specs since the one it last observed, count too.
 */
import type { KubeObject } from '../../../../src/api/object.ts'
import { isControlledBy } from '../ownership.ts'
import type { Passing } from '../wire.ts'
import { describe, isMarked, type Law, type LawParts } from './laws.ts'

const CONTROLLER = 'system:serviceaccount:kube-system:deployment-controller'
const DESIRED = 'deployment.kubernetes.io/desired-replicas'
const RECENT_MS = 20_000

interface Seen {
  readonly object: KubeObject
  /** When the next state came. */
  until: number
}

export function rolloutLaw({ runtime, truth, failed }: LawParts): Law {
  const history = new Map<string, Seen[]>()
  /** Replica sets that others than the controller have resized. */
  const meddled = new Set<string>()
  const now = () => runtime.clock.now() - runtime.earlyMs

  /** Its states that the controller may act on. */
  function recent(uid: string): readonly KubeObject[] {
    return (history.get(uid) ?? []).filter(({ until }) => until + RECENT_MS > now()).map(({ object }) => object)
  }

  function note(before: KubeObject | undefined, after: KubeObject): void {
    const uid = after.metadata.uid ?? ''
    const seen = history.get(uid) ?? []
    history.set(uid, seen)
    const last = seen.at(-1)
    if (before !== undefined && last !== undefined) last.until = now()
    seen.push({ object: after, until: Number.POSITIVE_INFINITY })
  }

  function check(passing: Passing, wanted: KubeObject, deployment: KubeObject, set: KubeObject | undefined): void {
    const specs = recent(deployment.metadata.uid ?? '')
    const others = truth
      .list('replicasets')
      .filter((other) => isControlledBy(other, deployment) && other.metadata.uid !== set?.metadata.uid)
    const known = [...others, ...(set === undefined ? [] : [set])]
    if (known.some(({ metadata }) => meddled.has(metadata.uid ?? ''))) return
    const what = `${describe(deployment)}: ${passing.method} ${wanted.metadata.name}`
    const [from, to]: number[] = [set?.['spec'].replicas ?? 0, wanted['spec'].replicas]
    if (from === undefined || to === undefined) return
    if (set === undefined && specs.every(({ spec }) => spec.paused === true)) failed(`${what}: a rollout while paused`)
    if (to > from) checkSurge(what, to, specs, others)
    if (to > from) checkRecreate(what, passing, wanted, specs, others)
    if (to < from && set !== undefined) checkUnavailable(what, to, specs, set, others)
  }

  function checkSurge(what: string, to: number, specs: readonly KubeObject[], others: readonly KubeObject[]): void {
    const smallest = (set: KubeObject) =>
      Math.min(...[set, ...recent(set.metadata.uid ?? '')].map(({ spec }) => spec.replicas))
    const total = to + others.reduce((sum, set) => sum + smallest(set), 0)
    const most = Math.max(...specs.map((one) => one['spec'].replicas + surgeOf(one)))
    if (total > most) failed(`${what} makes ${total} pods of at most ${most}`)
  }

  function checkUnavailable(
    what: string,
    to: number,
    specs: readonly KubeObject[],
    set: KubeObject,
    others: readonly KubeObject[],
  ): void {
    if (specs.some((one) => one['spec'].strategy.type !== 'RollingUpdate' || isMarked(one))) return
    // One that is being scaled shares the change out, whatever is available.
    if (new Set(specs.map((one) => one['spec'].replicas)).size > 1) return
    const desired: number = specs[0]?.['spec'].replicas
    if ([set, ...others].some(({ metadata }) => metadata.annotations?.[DESIRED] !== String(desired))) return
    const available = (one: KubeObject) =>
      Math.max(...[one, ...recent(one.metadata.uid ?? '')].map(({ status }) => status?.availableReplicas ?? 0))
    const had = available(set)
    if (to >= had) return
    // By the counts as told: that of a set may be from before it was last resized, and count what goes already.
    // Pods that it never got, as for a quota, are none of those that go.
    const own = Math.max(0, to - set['spec'].replicas + had)
    const left = own + others.reduce((sum, one) => sum + available(one), 0)
    const least = Math.min(...specs.map((one) => desired - unavailableOf(one)))
    if (left < least) failed(`${what} leaves ${left} available of at least ${least}`)
  }

  function checkRecreate(
    what: string,
    { life }: Passing,
    wanted: KubeObject,
    specs: readonly KubeObject[],
    others: readonly KubeObject[],
  ): void {
    if (life.signal.aborted || specs.some((one) => one['spec'].strategy.type !== 'Recreate')) return
    const own = wanted.metadata.labels?.['pod-template-hash']
    for (const set of others) {
      if (set.metadata.labels?.['pod-template-hash'] === own) continue
      const running = truth
        .list('pods')
        .filter((pod) => isControlledBy(pod, set) && !['Succeeded', 'Failed'].includes(pod['status'].phase))
      // A pod of a moment ago may not be known yet.
      const old = running.filter((pod) => (history.get(pod.metadata.uid ?? '')?.[0]?.until ?? 0) + RECENT_MS < now())
      if (old.length > 0) failed(`${what} beside ${old.map(describe)}, which are to go first`)
    }
  }

  return {
    changed({ resource, before, after }) {
      if (after === undefined) return
      const same = before?.metadata.uid === after.metadata.uid ? before : undefined
      if (resource === 'deployments' || resource === 'replicasets') note(same, after)
      if (resource === 'pods' && same === undefined)
        history.set(after.metadata.uid ?? '', [{ object: after, until: now() }])
    },
    arrives(passing) {
      const { user, method, place, body, subresource } = passing
      if (place.resource !== 'replicasets' || subresource !== '' || !('spec' in body)) return
      const set = truth.find(place)
      if (user !== CONTROLLER) {
        if (set !== undefined && body['spec'].replicas !== undefined) meddled.add(set.metadata.uid ?? '')
        return
      }
      const wanted = body as KubeObject
      // Refused by its resourceVersion or its name it does nothing.
      const acts =
        method === 'POST'
          ? !truth.find({ ...place, name: wanted.metadata.name ?? '' })
          : method === 'PUT' && set?.metadata.resourceVersion === wanted.metadata.resourceVersion
      const owner = wanted.metadata.ownerReferences?.find(({ controller }) => controller === true)
      const deployment = owner && truth.ofUid(owner.uid)
      if (acts && deployment !== undefined) check(passing, wanted, deployment, set)
    },
  }
}

function share(value: number | string | undefined, of: number, round: (value: number) => number): number {
  if (typeof value === 'string') return round((Number(value.replace('%', '')) * of) / 100)
  return value ?? 0
}

function surgeOf({ spec }: KubeObject): number {
  return spec.strategy.type === 'RollingUpdate'
    ? share(spec.strategy.rollingUpdate.maxSurge, spec.replicas, Math.ceil)
    : 0
}

/** Where rounding leaves neither surge nor unavailability, one may be unavailable. */
function unavailableOf(deployment: KubeObject): number {
  const { strategy, replicas } = deployment['spec']
  const few = share(strategy.rollingUpdate.maxUnavailable, replicas, Math.floor)
  return few === 0 && surgeOf(deployment) === 0 ? 1 : few
}
