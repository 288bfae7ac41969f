/** Steps as the trees that their causes make. A chain of owners is as long as its makers like: nothing here goes down one by recursion. */
import type { TimelineStep } from './timeline-types.ts'

export interface TreeNode {
  readonly step: TimelineStep
  /** 0: it begins a tree. */
  readonly depth: number
}

/** Each step below its cause, before what comes after that; where its cause is not among them, it begins a tree. */
export function treeOrder(steps: readonly TimelineStep[]): TreeNode[] {
  const among = new Set(steps.map(({ id }) => id))
  const next = Map.groupBy(steps, ({ cause }) =>
    cause.step !== undefined && among.has(cause.step) ? cause.step : undefined,
  )
  const below = (id: string | undefined, depth: number) =>
    (next.get(id) ?? []).map((step) => ({ step, depth })).reverse()
  const ordered: TreeNode[] = []
  const left = below(undefined, 0)
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    ordered.push(node)
    for (const child of below(node.step.id, node.depth + 1)) left.push(child)
  }
  return ordered
}

/** The step with which each began, by id. */
export function rootsOf(steps: readonly TimelineStep[]): Map<string, string> {
  const roots = new Map<string, string>()
  for (const step of steps) {
    const led = step.cause.step
    roots.set(step.id, (led === undefined ? undefined : roots.get(led)) ?? step.id)
  }
  return roots
}
