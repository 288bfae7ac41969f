/** When a job's successPolicy calls it done before all its indexes are (KEP-3998). Pure. */
import type { Job, SuccessPolicyRule } from '../../api/generated/types.ts'
import { parseIndexes } from './completion-indexes.ts'
import type { Ending } from './job.ts'

/** By the first rule that the succeeded indexes fulfil. */
export function successByPolicy(job: Job, succeeded: ReadonlySet<number>): Ending | undefined {
  const { successPolicy, completions = 0 } = job.spec!
  const rules = successPolicy?.rules ?? []
  const at = rules.findIndex((rule) => fulfils(rule, succeeded, completions))
  if (at < 0) return undefined
  return { type: 'Complete', reason: 'SuccessPolicy', message: `Matched rules at index ${at}` }
}

function fulfils(rule: SuccessPolicyRule, succeeded: ReadonlySet<number>, completions: number): boolean {
  const { succeededIndexes, succeededCount } = rule
  if (succeededIndexes === undefined) return succeeded.size >= (succeededCount ?? Number.POSITIVE_INFINITY)
  const wanted = parseIndexes(succeededIndexes, completions)
  let met = 0
  for (const index of wanted) if (succeeded.has(index)) met++
  return succeededCount === undefined ? met === wanted.size : met >= succeededCount
}
