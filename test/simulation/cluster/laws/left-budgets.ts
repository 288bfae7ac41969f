/**
 * Budgets that a pod has left because its labels changed: their controller is told of the pod as it is now, and looks at no budget that
 * it is not covered by any more, as on a real cluster.
 */
import type { Truth } from '../truth.ts'
import { covers } from './budgets.ts'
import type { Law } from './laws.ts'

export interface LeftBudgetsLaw extends Law {
  /** uids of budgets, each told once. */
  take(): readonly string[]
}

export function leftBudgetsLaw({ truth }: { readonly truth: Truth }): LeftBudgetsLaw {
  const left = new Set<string>()
  return {
    take() {
      const taken = [...left]
      left.clear()
      return taken
    },
    changed({ resource, before, after }) {
      if (resource !== 'pods' || before === undefined || after === undefined) return
      for (const budget of truth.list('poddisruptionbudgets'))
        if (covers(budget, before) && !covers(budget, after)) left.add(budget.metadata.uid ?? '')
    },
  }
}
