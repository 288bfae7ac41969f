/** What is done for a pod that no node fits (the framework's PostFilter): others may make room for it, and it is told why it waits. */
import type { Pod, PodDisruptionBudget } from '../api/generated/types.ts'
import { messageOf } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import type { AttemptMetrics } from './attempt-metrics.ts'
import { candidatesLeftBy, type Extender, ExtenderError } from './extenders/extender.ts'
import type { FilterState, NodeRefusal } from './filters.ts'
import type { ClusterNodes, NodeInfo } from './node-info.ts'
import { noneFits, noVictims } from './nodes-are-available-message.ts'
import type { Nominations } from './nominations.ts'
import { awaitsNode, isDeleting } from './pod-changes.ts'
import type { PodInfo } from './pod-info.ts'
import { type PodStatusWriter, type Unscheduled, unschedulable } from './pod-status.ts'
import { type Candidate, type Hopeless, leastHarm, preemptionCandidates } from './preemption.ts'
import type { Refuser } from './queueing-hints.ts'

export interface RoomMakerOptions {
  readonly random: Random
  readonly cluster: Pick<ClusterNodes, 'nodes'>
  readonly nominations: Nominations
  readonly podStatus: Pick<PodStatusWriter, 'withdraw'>
  readonly podNow: (key: string) => Pod | undefined
  readonly budgets: () => readonly PodDisruptionBudget[]
  readonly evict: (victim: PodInfo, preemptor: PodInfo, node: NodeInfo) => Promise<void>
  readonly counted: Pick<AttemptMetrics, 'preempting' | 'chosen'>
  /** Tells why a pod got no node. */
  readonly refused: (info: PodInfo, why: Unscheduled, plugins: ReadonlySet<Refuser>) => void
}

/** Why no node fits. */
export interface NoFit {
  readonly state: FilterState
  /** Of all nodes. */
  readonly count: number
  readonly refusals: ReadonlyMap<NodeInfo, NodeRefusal>
  /** Plugins that refused it on some node. */
  readonly plugins: ReadonlySet<Refuser>
  /** What else has been done for the pod. */
  readonly done?: string | undefined
}

/** Undefined where the pod fits nowhere as it is. */
function needless(hopeless: readonly Hopeless[]): string | undefined {
  const nodes = hopeless.flatMap(({ isNeedless }) => isNeedless ?? []).sort()
  const errors = nodes.map((name) => `expected at least one victim pod on node "${name}"`)
  return errors.length > 1 ? `[${errors.join(', ')}]` : errors[0]
}

/** Gives the function that makes room for a pod. It gives a promise where extenders have a preemptVerb, which resolves when they have answered; else undefined, and is done. */
export function createRoomMaker(options: RoomMakerOptions) {
  const { random, cluster, nominations, podStatus, podNow, budgets, evict, refused, counted } = options
  return makeRoom

  /** To be called while the nominated pods are on their nodes. */
  function makeRoom(info: PodInfo, noFit: NoFit, extenders: readonly Extender[] = []): Promise<void> | undefined {
    const { state, count, refusals, plugins, done } = noFit
    const atNodes = noneFits(count, refusals.values())
    const reasons = done === undefined ? atNodes : `${atNodes} ${done},`
    const tell = (why: string) => refused(info, unschedulable(`${reasons} preemption: ${why}`), plugins)
    if (state.profile.preempts) counted.preempting()
    if (!state.profile.preempts) refused(info, unschedulable(reasons), plugins)
    else if (waitsForRoom(info)) tell('not eligible due to a terminating pod on the nominated node.')
    else if (info.pod.spec?.preemptionPolicy === 'Never') tell('not eligible due to preemptionPolicy=Never.')
    else {
      const nodes = [...refusals].filter(([, refusal]) => !refusal.hard).map(([node]) => node)
      const hopeless: Hopeless[] = []
      const note = (why: Hopeless) => void hopeless.push(why)
      const candidates = preemptionCandidates(info, nodes, state, budgets(), random.float, note)
      const told = (message: string) => ({ ...unschedulable(`${reasons} preemption: ${message}`), nominatedNode: null })
      const giveUp = (message: string) => {
        nominations.remove(info.key)
        refused(info, told(message), plugins)
      }
      const conclude = (left: readonly Candidate[], why: () => string) => {
        const chosen = leastHarm(left)
        if (chosen === undefined) giveUp(why())
        else refused(info, { ...told(takePlace(info, chosen)), nominatedNode: chosen.node.name }, plugins)
      }
      const isAsked = extenders.some(({ settings }) => settings.preemptVerb !== '')
      if (!isAsked || candidates.length === 0) {
        conclude(candidates, () => needless(hopeless) ?? noVictims(count, hopeless))
        return undefined
      }
      const asked = candidatesLeftBy(extenders, info, candidates).then(
        (left) => () => conclude(left, () => 'no candidate node for preemption'),
        (error) => {
          if (!(error instanceof ExtenderError)) throw error
          return () => giveUp(messageOf(error))
        },
      )
      return asked.then((end) => {
        // Others make no room for one that went meanwhile.
        if (awaitsNode(podNow(info.key), info.uid)) end()
      })
    }
    return undefined
  }

  /** What is said of it. */
  function takePlace(info: PodInfo, { node, victims }: Candidate): string {
    counted.chosen(victims.length)
    const staying = victims.filter(({ key }) => !isGoing(key))
    for (const victim of staying) void evict(victim, info, node)
    // There may be no room for them any more.
    const hopeful = staying.length > 0 ? nominations.below(info, node.name) : []
    for (const other of hopeful) {
      nominations.remove(other.key)
      void podStatus.withdraw(other)
    }
    nominations.set(info, node.name)
    return `found a potential placement for pod on node ${node.name}, preempting ${victims.length} victims`
  }

  /** Pods of lower priority are going already where this one was nominated. */
  function waitsForRoom(info: PodInfo): boolean {
    const node = cluster.nodes.get(nominations.nodeOf(info.key) ?? '')
    return [...(node?.pods.values() ?? [])].some(({ key, priority }) => priority < info.priority && isGoing(key))
  }
  function isGoing(key: string): boolean {
    const pod = podNow(key)
    return pod !== undefined && isDeleting(pod)
  }
}
