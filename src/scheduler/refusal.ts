/** Why a node does not do for a pod: `hard` reasons cannot be cured by evicting pods from the node, the others could be. */
export interface Refusal {
  readonly reasons: readonly string[]
  readonly hard: boolean
}

export const hard = (...reasons: string[]): Refusal => ({ reasons, hard: true })
export const soft = (...reasons: string[]): Refusal => ({ reasons, hard: false })
