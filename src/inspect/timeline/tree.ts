/** Steps as the trees that their causes make. */
import type { TimelineStep } from './timeline-types.ts'

export interface TreeNode {
  readonly step: TimelineStep
  /** In the order of their revisions. */
  readonly next: readonly TreeNode[]
}

/** Each step stands under its cause; where that is not among them, it begins a tree. */
export function forestOf(steps: readonly TimelineStep[]): TreeNode[] {
  const nodes = new Map<string, { readonly step: TimelineStep; readonly next: TreeNode[] }>()
  const roots: TreeNode[] = []
  for (const step of steps) {
    const node = { step, next: [] }
    nodes.set(step.id, node)
    const above = step.cause.step === undefined ? undefined : nodes.get(step.cause.step)
    if (above === undefined) roots.push(node)
    else above.next.push(node)
  }
  return roots
}
