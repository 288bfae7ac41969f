/** Which nodes of a DaemonSet lack its pod, and which pods are too many or where they may not be. Pure. */
import type { DaemonSet, Node, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isAvailable, minReadySecondsOf } from '../pods/min-ready-seconds.ts'
import { isReady, isTerminated } from '../pods/pod.ts'
import { isUpdated, nodeOfDaemonPod, placementOn } from './eligible-nodes-and-tolerations.ts'
import { limitsOf } from './max-surge-max-unavailable.ts'

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

export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

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
