/**
 * Which daemon pods to make and which to delete: one on each node that wants one (manage), and old ones replaced as far as
 * the update strategy lets (roll). Pure.
 */
import type { DaemonSet, Node, Pod, RollingUpdateDaemonSet } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { scaled } from '../int-or-percent.ts'
import { isAvailable, isReady, isTerminated, minReadySecondsOf } from '../pods/pod.ts'
import { isUpdated, nodeOfDaemonPod, placementOn } from './eligible-nodes.ts'

export interface DaemonSetPlanInput {
  readonly set: DaemonSet
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  /** Of the set's present template. */
  readonly hash: string
  readonly nowMs: number
}

export interface DaemonSetPlan {
  /** Names of nodes. */
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
  /** Of those to remove, pods that have ended: their node, to be let alone for a while when it happens again. */
  readonly ended: readonly { readonly pod: Pod; readonly node: string }[]
}

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
export function podsByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>()
  for (const pod of pods) {
    const node = nodeOfDaemonPod(pod)
    if (node === undefined) continue
    const known = byNode.get(node)
    if (known === undefined) byNode.set(node, [pod])
    else known.push(pod)
  }
  return byNode
}

/** Scheduled before unscheduled, running before pending, older before younger. */
export function oldestFirst(pods: readonly Pod[]): readonly Pod[] {
  const rank = (pod: Pod) => (pod.spec?.nodeName ? 0 : 1)
  const created = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? ''
  return [...pods].sort((a, b) => rank(a) - rank(b) || (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : 0))
}

export function planManage(input: DaemonSetPlanInput, mayRetry: (node: string) => boolean): DaemonSetPlan {
  const { set, nodes, pods } = input
  const byNode = podsByNode(pods)
  const create: string[] = []
  const remove: Pod[] = []
  const ended: { pod: Pod; node: string }[] = []
  for (const node of nodes) {
    const name = node.metadata.name ?? ''
    const { runs, stays } = placementOn(set, node)
    const own = byNode.get(name) ?? []
    if (runs && own.length === 0) create.push(name)
    const present = own.filter((pod) => !isGoing(pod))
    if (!stays) {
      remove.push(...present)
      continue
    }
    const running = present.filter((pod) => !isTerminated(pod))
    for (const pod of present) if (isTerminated(pod) && mayRetry(name)) ended.push({ pod, node: name })
    remove.push(...surplus(input, oldestFirst(running)))
  }
  const known = new Set(nodes.map(({ metadata }) => metadata.name))
  for (const [node, own] of byNode)
    if (!known.has(node)) remove.push(...own.filter((pod) => !pod.spec?.nodeName && !isGoing(pod)))
  return { create, remove: [...ended.map(({ pod }) => pod), ...remove], ended }
}

/** More than a node is to have: all but the oldest, or with a surge the oldest of the old template and of the new. */
function surplus({ set, hash, nowMs }: DaemonSetPlanInput, running: readonly Pod[]): readonly Pod[] {
  if (running.length < 2) return []
  if (limitsOf(set, 1).surge === 0) return running.slice(1)
  const updated = running.filter((pod) => isUpdated(set, pod, hash))
  const old = running.filter((pod) => !isUpdated(set, pod, hash))
  const rest = [...updated.slice(1), ...old.slice(1)]
  const [newest] = updated
  const [oldest] = old
  if (newest === undefined || oldest === undefined) return rest
  return !isReady(oldest) || isAvailable(newest, minReadySecondsOf(set), nowMs) ? [...rest, oldest] : rest
}

export interface Limits {
  readonly surge: number
  readonly unavailable: number
}

/** Of so many nodes. Both cannot be nothing, or no update would ever move. */
export function limitsOf(set: DaemonSet, desired: number): Limits {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return { surge: 0, unavailable: 0 }
  const rolling: RollingUpdateDaemonSet = rollingUpdate ?? {}
  const surge = scaled(rolling.maxSurge, desired)
  const unavailable = scaled(rolling.maxUnavailable ?? 1, desired)
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}

/** What the node's pods are: undefined when the node has to be put in order first. */
function pairOn({ set, hash }: DaemonSetPlanInput, pods: readonly Pod[]) {
  const present = pods.filter((pod) => !isGoing(pod))
  const updated = present.filter((pod) => isUpdated(set, pod, hash))
  const old = present.filter((pod) => !isUpdated(set, pod, hash))
  return updated.length > 1 || old.length > 1 ? undefined : { updated: updated[0], old: old[0] }
}

/** The steps of a rolling update. */
export function planRoll(input: DaemonSetPlanInput): Pick<DaemonSetPlan, 'create' | 'remove'> {
  const { set, nodes, pods, nowMs } = input
  const byNode = podsByNode(pods.filter((pod) => !(isTerminated(pod) && isGoing(pod))))
  const wanted = nodes.filter((node) => placementOn(set, node).runs)
  const { surge, unavailable } = limitsOf(set, wanted.length)
  const isUp = (pod: Pod) => isAvailable(pod, minReadySecondsOf(set), nowMs)
  // A node whose pod has ended and is about to go is without one: it counts as unavailable, too.
  const bare = wanted.map(({ metadata }) => metadata.name ?? '').filter((node) => !byNode.has(node))
  const pairs = [...byNode, ...bare.map((node) => [node, []] as const)].map(([node, own]) => ({
    node,
    pair: pairOn(input, own),
  }))
  if (surge === 0) {
    let down = 0
    const broken: Pod[] = []
    const candidates: Pod[] = []
    for (const { pair } of pairs) {
      if (pair === undefined || (pair.updated === undefined) === (pair.old === undefined)) down++
      else if (pair.updated !== undefined) down += isUp(pair.updated) ? 0 : 1
      else if (pair.old !== undefined) (isUp(pair.old) ? candidates : broken).push(pair.old)
    }
    // What is unavailable already costs nothing.
    return { create: [], remove: [...broken, ...candidates.slice(0, Math.max(0, unavailable - down))] }
  }
  let surging = 0
  const remove: Pod[] = []
  const broken: string[] = []
  const candidates: string[] = []
  for (const { node, pair } of pairs) {
    if (pair === undefined) surging++
    else if (pair.old === undefined) continue
    else if (pair.updated === undefined) (isUp(pair.old) ? candidates : broken).push(node)
    else if (!isUp(pair.old) || isUp(pair.updated)) remove.push(pair.old)
    else surging++
  }
  return { create: [...broken, ...candidates.slice(0, Math.max(0, surge - surging))], remove }
}
