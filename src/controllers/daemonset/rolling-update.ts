/** The steps of a DaemonSet's rolling update: which old pods are deleted now, and which nodes get a new one beside the old. Pure. */
import type { Node, Pod } from '../../api/generated/types.ts'
import { isAvailable, minReadySecondsOf } from '../pods/min-ready-seconds.ts'
import { isTerminated } from '../pods/pod.ts'
import { isUpdated, placementOn } from './eligible-nodes-and-tolerations.ts'
import { limitsOf } from './max-surge-max-unavailable.ts'
import { type DaemonSetPlan, type DaemonSetPlanInput, isGoing, podsByNode } from './pods-per-node.ts'

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
  const nameOf = ({ metadata }: Node) => metadata.name ?? ''
  const [wanted, barred] = [new Set<string>(), new Set<string>()]
  for (const node of nodes) (placementOn(set, node).runs ? wanted : barred).add(nameOf(node))
  const { surge, unavailable } = limitsOf(set, wanted.size)
  const isUp = (pod: Pod) => isAvailable(pod, minReadySecondsOf(set), nowMs)
  // A node whose pod has ended and is about to go is without one: it counts as unavailable, too.
  const bare = [...wanted].filter((node) => !byNode.has(node))
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
    else if (pair.updated === undefined && barred.has(node)) {
      // It may stay where none would be made now, until there is a newer template: no new one could come up beside it.
      remove.push(pair.old)
    } else if (pair.updated === undefined) (isUp(pair.old) ? candidates : broken).push(node)
    else if (!isUp(pair.old) || isUp(pair.updated)) remove.push(pair.old)
    else surging++
  }
  return { create: [...broken, ...candidates.slice(0, Math.max(0, surge - surging))], remove }
}
