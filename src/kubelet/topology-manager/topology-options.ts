/** Options of the topology manager (topologyManagerPolicyOptions), and the feature gates that show or hide groups of them. */
import { policyOptionBool } from '../policy-option-bool.ts'

export interface TopologyPolicyOptions {
  readonly prefersClosestNodes: boolean
  /** Of more nodes there would be too many combinations to try. */
  readonly mostNodes: number
}

/** Nodes are bits of an integer. */
const MOST_NODES = 31

export const NO_TOPOLOGY_OPTIONS: TopologyPolicyOptions = { prefersClosestNodes: false, mostNodes: 8 }

/** @throws Error in kubelet's words */
export function topologyPolicyOptions(given: Readonly<Record<string, string>>): TopologyPolicyOptions {
  let options = NO_TOPOLOGY_OPTIONS
  for (const [name, value] of Object.entries(given))
    switch (name) {
      case 'prefer-closest-numa-nodes':
        options = { ...options, prefersClosestNodes: policyOptionBool(name, value) }
        break
      case 'max-allowable-numa-nodes':
        options = { ...options, mostNodes: Math.min(MOST_NODES, countOf(name, value)) }
        break
      default:
        throw new Error(`unknown Topology Manager Policy option: ${JSON.stringify(name)}`)
    }
  return options
}

function countOf(name: string, value: string): number {
  if (!/^[+-]?\d+$/.test(value))
    throw new Error(
      `unable to convert policy option to integer ${JSON.stringify(name)}: strconv.Atoi: parsing ${JSON.stringify(value)}: invalid syntax`,
    )
  const count = Number(value)
  if (count < 8) throw new Error(`the minimum value of ${JSON.stringify(name)} should not be less than 8`)
  return count
}
