/**
 * Jobs: no pod is counted twice, none is let go uncounted, there are never more at work than asked for, and no more fail than the
 * job bears.
 */
import type { KubeObject } from '../../../../src/api/object.ts'
import { isControlledBy } from '../ownership.ts'
import { isTracked } from '../rest/jobs.ts'
import type { Life, Passing } from '../wire.ts'
import { describe, isMarked, type Law, type LawParts } from './laws.ts'

const CONTROLLER = 'system:serviceaccount:kube-system:job-controller'
/** What was asked for so long ago still counts: whoever makes pods may not have heard of anything newer. */
const RECENT_MS = 60_000

interface Record {
  /** Pods that were ever waiting to be counted, or are, by what became of them. */
  readonly noted: Set<string>
  /** Parallelism asked for, and since when it is not any more. */
  readonly asked: { readonly parallelism: number; until: number }[]
  /** Pods made of which the controller was not told, or not the one that made them. */
  unheard: number
}

export function jobLaw({ runtime, truth, failed }: LawParts): Law {
  const records = new Map<string, Record>()
  /** When a life of the controller was first told that a pod has ended, by the pod's uid. */
  const ends = new WeakMap<Life, Map<string, number>>()
  /** The last request of the controller to let a pod go, by the pod's namespace and name. */
  const letGo = new Map<string, Passing>()
  /** What the clock would show if nothing had been late. */
  const now = () => runtime.clock.now() - runtime.earlyMs

  function recordOf(job: KubeObject): Record {
    const uid = job.metadata.uid ?? ''
    let record = records.get(uid)
    if (record === undefined) {
      record = { noted: new Set(), asked: [], unheard: 0 }
      records.set(uid, record)
    }
    return record
  }

  function jobOf(pod: KubeObject): KubeObject | undefined {
    const owner = pod.metadata.ownerReferences?.find(({ kind, controller }) => controller === true && kind === 'Job')
    return owner && truth.ofUid(owner.uid)
  }

  function jobChanged(before: KubeObject | undefined, after: KubeObject): void {
    const record = recordOf(after)
    const { parallelism } = after['spec']
    const last = record.asked.at(-1)
    if (last?.parallelism !== parallelism) {
      if (last !== undefined) last.until = now()
      record.asked.push({ parallelism, until: Number.POSITIVE_INFINITY })
    }
    for (const which of ['succeeded', 'failed'] as const) {
      const waited = uncounted(before, which)
      const waits = uncounted(after, which)
      for (const uid of waits) {
        if (waited.includes(uid)) continue
        if (record.noted.has(uid)) failed(`${describe(after)} counts the pod ${uid} a second time`)
        record.noted.add(uid)
        const phase = truth.ofUid(uid)?.['status']?.phase
        if (which === 'succeeded' && phase !== undefined && phase !== 'Succeeded')
          failed(`${describe(after)} counts a pod that is ${phase} as succeeded`)
      }
      const counted = waited.filter((uid) => !waits.includes(uid)).length
      const [had, has]: number[] = [before?.['status']?.[which] ?? 0, after['status']?.[which] ?? 0]
      if ((has ?? 0) - (had ?? 0) > counted)
        failed(`${describe(after)} counts ${(has ?? 0) - (had ?? 0)} more ${which}, and ${counted} were to be counted`)
    }
    const { completions } = after['spec']
    if ((after['status']?.succeeded ?? 0) > completions + most(record))
      failed(`${describe(after)} has more successes than it ever had pods`)
  }

  function podMade(pod: KubeObject, job: KubeObject): void {
    const record = recordOf(job)
    const active = truth
      .list('pods')
      .filter((other) => isControlledBy(other, job) && !isMarked(other) && !hasEnded(other)).length
    const allowed = most(record) + record.unheard
    if (active > allowed) failed(`${describe(pod)} is made, the ${active}th at work of ${allowed}`)
    if (!isTracked(pod)) failed(`${describe(pod)} is made, and will not be counted`)
    if ((job['status']?.failed ?? 0) > job['spec'].backoffLimit)
      failed(`${describe(pod)} is made after ${job['status'].failed} failures`)
  }

  const most = ({ asked }: Record): number =>
    Math.max(0, ...asked.filter(({ until }) => until + RECENT_MS > now()).map(({ parallelism }) => parallelism))

  return {
    changed({ resource, before, after }) {
      if (after === undefined) return
      const same = before?.metadata.uid === after.metadata.uid ? before : undefined
      if (resource === 'jobs') jobChanged(same, after)
      if (resource !== 'pods') return
      const job = jobOf(after)
      if (job === undefined) return
      if (same === undefined) podMade(after, job)
      else if (isTracked(same) && !isTracked(after) && hasEnded(after) && !isMarked(job) && !isNoted(job, after)) {
        if (tookForActive(after)) return
        failed(`${describe(after)} is let go before it was noted to be counted`)
      }
    },
    arrives(passing) {
      const { user, method, place } = passing
      if (user === CONTROLLER && method === 'PATCH' && place.resource === 'pods')
        letGo.set(`${place.namespace}/${place.name}`, passing)
    },
    delivered(life, object) {
      if (!life.isController || object.kind !== 'Pod' || !hasEnded(object)) return
      const told = ends.get(life) ?? new Map<string, number>()
      const { uid = '' } = object.metadata
      ends.set(life, told.set(uid, told.get(uid) ?? now()))
    },
    done(passing, response) {
      if (passing.user !== CONTROLLER || !makesPod(passing)) return
      if (passing.hasAnswer && !passing.life.signal.aborted && !('code' in response && response.code === 503)) return
      const owner = passing.body['metadata']?.ownerReferences?.[0]
      const job = owner && truth.ofUid(owner.uid)
      if (job !== undefined) recordOf(job).unheard++
    },
  }

  /**
   * Pods that are too many (the job is suspended, or may have fewer) are let go and deleted, without preconditions, as a real
   * job controller was seen to. Of one that ended before it heard of it, it does not know.
   */
  function tookForActive({ metadata: { namespace, name, uid = '' } }: KubeObject): boolean {
    const passing = letGo.get(`${namespace}/${name}`)
    if (passing === undefined) return false
    const told = ends.get(passing.life)?.get(uid)
    return told === undefined || told >= passing.sentAt
  }

  function isNoted(job: KubeObject, pod: KubeObject): boolean {
    return recordOf(job).noted.has(pod.metadata.uid ?? '') || hasFinished(job)
  }
}

const makesPod = ({ method, place, subresource }: Passing) =>
  method === 'POST' && place.resource === 'pods' && subresource === ''

const uncounted = (job: KubeObject | undefined, which: 'succeeded' | 'failed'): readonly string[] =>
  job?.['status']?.uncountedTerminatedPods?.[which] ?? []

const hasEnded = (pod: KubeObject): boolean => ['Succeeded', 'Failed'].includes(pod['status']?.phase)

const hasFinished = (job: KubeObject): boolean =>
  (job['status']?.conditions ?? []).some(
    ({ type, status }: { type: string; status: string }) =>
      (type === 'Complete' || type === 'Failed') && status === 'True',
  )
