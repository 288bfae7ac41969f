/**
 * What a node promises about containers: a pod's object outlives them unless it was forced away; SIGTERM comes before SIGKILL;
 * nobody is killed before the grace period is over, nor lives on long after it.
 */
import type { KubeObject } from '../../../../src/api/object.ts'
import type { ContainerRuntime } from '../../../../src/kubelet/runtimes/runtime.ts'
import { POD_UID_LABEL } from '../../../../src/kubelet/runtimes/runtime.ts'
import type { Counter } from '../happenings.ts'
import { isKubelet, type Life } from '../wire.ts'
import { describe, type Law, type LawParts } from './laws.ts'

export interface ContainerLaw extends Law {
  /** The same runtime, watched until the power goes off. */
  watch(node: string, containers: ContainerRuntime, power: AbortSignal): ContainerRuntime
  /** The node's machine went down with all that ran on it. */
  reboots(node: string): void
  /** Containers of pods that are gone, and of ones that ought to have been killed. */
  problems(): readonly string[]
}

interface Running {
  readonly id: string
  readonly uid: string
  readonly node: string
  readonly name: string
  readonly start: Moment
  /** When it was first asked to end. */
  stoppedAt?: number
}

interface Moment {
  readonly at: number
  /** The runtime's earlyMs then: by what it has grown since, everything may be late. */
  readonly early: number
}

/** What a kubelet knows of the end of a pod, told at this time. */
interface Told extends Moment {
  readonly grace: number
}

const KILLED = 137
/** A kubelet gives a container that had a hook at least so long after it; sidecars end one after the other. */
const MINIMUM_GRACE_MS = 2000
/** Sidecars of a pod of this simulation, at most. */
const SIDECARS = 1

export function containerLaw({ runtime, truth, failed, happened }: LawParts & Pick<Counter, 'happened'>): ContainerLaw {
  const { clock } = runtime
  const moment = (): Moment => ({ at: clock.now(), early: runtime.earlyMs })
  const running = new Map<string, Running>()
  const forced = new Set<string>()
  /** By pod: when the shortest grace period of which a kubelet was ever told is over. */
  const soonest = new Map<string, number>()
  const told = new WeakMap<Life, Map<string, Told[]>>()
  const livesOf = new Map<string, Life>()
  const nameOf = (uid: string) => {
    const pod = truth.ofUid(uid)
    return pod === undefined ? `a pod that is gone (${uid})` : describe(pod)
  }

  function force(place: { namespace: string; name: string }): void {
    for (const pod of truth.list('pods')) {
      if (pod.metadata.namespace !== place.namespace) continue
      if (place.name === '' || pod.metadata.name === place.name) forced.add(pod.metadata.uid ?? '')
    }
  }

  /** Before this it may not be killed; undefined when nobody asked its pod to go, or when it is gone already. */
  function soonestOf({ uid }: Running): number | undefined {
    return truth.ofUid(uid) === undefined ? undefined : soonest.get(uid)
  }

  /** When it has to have ended at the latest. */
  function dueOf({ uid, node, start }: Running): { at: number; by: string } | undefined {
    const life = livesOf.get(node)
    // Nobody is there to see to it.
    if (life === undefined || life.signal.aborted) return undefined
    const ends = told.get(life)?.get(uid) ?? []
    let due: { at: number; by: string } | undefined
    for (const told of ends) {
      const from = told.at > start.at ? told : start
      const late = runtime.earlyMs - from.early
      const limit = from.at + late + Math.max(told.grace, 1) * 1000 + MINIMUM_GRACE_MS * (1 + SIDECARS)
      if (due === undefined || limit < due.at) due = { at: limit, by: `${told.grace} s, told at ${told.at}` }
    }
    return due
  }

  function ended(one: Running, exitCode: number): void {
    running.delete(one.id)
    const now = clock.now()
    const what = `container ${one.name} of ${nameOf(one.uid)}`
    if (exitCode === KILLED) {
      happened('a container is killed by SIGKILL')
      if (one.stoppedAt === undefined) failed(`${what} is killed without SIGTERM`)
      const soonest = soonestOf(one)
      if (soonest !== undefined && now < soonest) failed(`${what} is killed ${soonest - now} ms too early`)
    }
    const due = dueOf(one)
    if (due !== undefined && now > due.at)
      failed(`${what} ends ${now - due.at} ms later than its grace period (${due.by})`)
  }

  return {
    watch(node, containers, power) {
      containers.containerEvents?.((event) => {
        if (event.type === 'created') return
        void containers.listContainers({ labels: { [POD_UID_LABEL]: event.podUid } }).then((all) => {
          const found = all.find(({ id }) => id === event.containerId)
          const known = running.get(event.containerId)
          if (event.type === 'started' && found?.state === 'running' && known === undefined)
            running.set(found.id, {
              id: found.id,
              uid: event.podUid,
              node,
              name: found.metadata.name,
              start: moment(),
            })
          if (event.type === 'stopped' && known !== undefined) ended(known, found?.exitCode ?? KILLED)
          if (event.type === 'deleted' && known !== undefined) ended(known, KILLED)
        })
      }, power)
      return {
        ...containers,
        async stopContainer(id, timeoutSeconds) {
          const one = running.get(id)
          if (one !== undefined) one.stoppedAt ??= clock.now()
          return containers.stopContainer(id, timeoutSeconds)
        },
      }
    },
    reboots(node) {
      for (const [id, one] of running) if (one.node === node) running.delete(id)
    },
    arrives({ method, user, place, body, query, subresource }) {
      if (place.resource !== 'pods' || user.startsWith('system:node:')) return
      const evicts = subresource === 'eviction'
      if (method !== 'DELETE' && !evicts) return
      const options = evicts ? (body['deleteOptions'] ?? {}) : body
      if (options['gracePeriodSeconds'] === 0 || query.get('gracePeriodSeconds') === '0') force(place)
    },
    changed({ resource, before, after }) {
      if (resource !== 'pods' || before === undefined || after?.metadata.uid === before.metadata.uid) return
      const { uid = '' } = before.metadata
      // Whose own grace period is 0 goes at once, whoever deletes it.
      if (forced.has(uid) || before['spec'].terminationGracePeriodSeconds === 0) return
      for (const one of running.values())
        if (one.uid === uid) failed(`${describe(before)} goes while its container ${one.name} runs`)
    },
    delivered(life, object, type) {
      if (object.kind !== 'Pod' || !isKubelet(life.component)) return
      livesOf.set(life.component, life)
      let pods = told.get(life)
      if (pods === undefined) {
        pods = new Map()
        told.set(life, pods)
      }
      note(pods, object, type === 'DELETED')
    },
    problems() {
      const problems: string[] = []
      for (const one of running.values()) {
        const due = dueOf(one)
        const what = `container ${one.name} of ${nameOf(one.uid)} still runs`
        if (truth.ofUid(one.uid) === undefined) problems.push(what)
        else if (due !== undefined && clock.now() > due.at) problems.push(`${what} after its grace period (${due.by})`)
      }
      return problems
    },
  }

  function note(pods: Map<string, Told[]>, { metadata, spec }: KubeObject, gone: boolean): void {
    const { uid = '', deletionGracePeriodSeconds } = metadata
    if (deletionGracePeriodSeconds === undefined && !gone) return
    const own = spec?.terminationGracePeriodSeconds ?? 30
    const grace = deletionGracePeriodSeconds ?? own
    const over = clock.now() + grace * 1000
    if (!gone) soonest.set(uid, Math.min(soonest.get(uid) ?? over, over))
    const before = pods.get(uid) ?? []
    if (before.some((told) => told.grace <= grace)) return
    pods.set(uid, [...before, { ...moment(), grace }])
  }
}
