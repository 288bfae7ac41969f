/** What `skiff status` says of nodes: how many are ready, and of each that is not, is short of something or is cordoned, what that means and what helps. */
import type { Node } from '../api/generated/types.ts'

/** More of them are counted. */
const MOST_NODES = 5

/** By condition: what the node is short of, in words that lead on. */
const PRESSURES: Readonly<Record<string, string>> = {
  DiskPressure:
    'no pod starts there but critical ones until more of its disk is free, by default 5 % of what its images and its own directory lie on (skiff up --eviction-hard sets other thresholds; those of a skiff kubelet are 15 % and 10 %)',
  MemoryPressure: 'pods without requests do not start there until more of its memory is free',
  PIDPressure: 'no pod starts there but critical ones until fewer processes run',
}

type Conditions = NonNullable<NonNullable<Node['status']>['conditions']>

const conditionsOf = (node: Node): Conditions => node.status?.conditions ?? []

const isReady = (node: Node): boolean =>
  conditionsOf(node).some(({ type, status }) => type === 'Ready' && status === 'True')

export const readyLine = (nodes: readonly Node[], runtime: string): string =>
  `${nodes.filter(isReady).length} of ${nodes.length} ready, ${runtime}`

/** A line for each node that is not ready, short of something or cordoned. */
export function unwellLines(nodes: readonly Node[]): readonly string[] {
  const lines = nodes.flatMap((node) => {
    const { name } = node.metadata
    const told = [...readyWords(node), ...pressureWords(node), ...cordonWords(node)]
    return told.length === 0 ? [] : [`${name} ${told.join('; it ')}`]
  })
  const more = lines.length - MOST_NODES
  return more > 0 ? [...lines.slice(0, MOST_NODES), `and ${more} more: kubectl describe nodes`] : lines
}

function readyWords(node: Node): readonly string[] {
  const ready = conditionsOf(node).find(({ type }) => type === 'Ready')
  const why = ready?.message || ready?.reason || 'its kubelet has not said how it is'
  return isReady(node) ? [] : [`is not ready: ${why}`]
}

const pressureWords = (node: Node): readonly string[] =>
  conditionsOf(node).flatMap(({ type, status }) => {
    const means = status === 'True' ? PRESSURES[type] : undefined
    return means === undefined ? [] : [`has ${type}: ${means}`]
  })

const cordonWords = ({ metadata, spec }: Node): readonly string[] =>
  spec?.unschedulable === true
    ? [`is cordoned: only pods that tolerate that are scheduled there until kubectl uncordon ${metadata.name}`]
    : []
