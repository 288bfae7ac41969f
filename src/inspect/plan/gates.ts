/** PlanGates of a plan: what may not go, and how much may. For CI, where a plan is read by nothing but an exit code. */
import { servedResource } from '../question.ts'
import { type Causes, unknownBeside, unlistedBeside } from '../twin/partly-read.ts'
import type { ReadCluster } from '../twin/read-cluster.ts'
import type { Plan } from './plan.ts'

export interface PlanGates {
  /** Kinds as kubectl takes them. */
  readonly expectNone: readonly string[]
  readonly max?: number
}

/**
 * Which are closed, each in words. What may go counts, whatever it depends on, and what is marked: nothing unmarks it. What is not known to
 * stay closes a gate too. `changed`: what the deed changes without deleting it. @throws QuestionError for kinds that are not served
 */
export function closedGates(
  plan: Plan,
  read: ReadCluster,
  { expectNone, max }: PlanGates,
  changed: Causes['changed'],
): readonly string[] {
  const ending = [...plan.goes, ...plan.stays].map(({ object }) => object)
  const all = [...new Map([...ending, ...plan.beyond].map((object) => [object.uid, object])).values()]
  const causes: Causes = { ending: all, changed }
  const unread = plan.refused.find(({ isUnread = false }) => isUnread)?.message
  const closed = expectNone.flatMap((kind) => {
    const { group, resource } = servedResource(read.kinds, kind)
    const unknown = unknownBeside(read, { group, resource }, causes) ?? unread
    if (unknown !== undefined)
      return [`whether any ${resource} would go is not known, and none may (--expect-none ${kind}): ${unknown}`]
    const count = all.filter((object) => object.group === group && object.resource === resource).length
    return count === 0 ? [] : [`${count} ${resource} would go, and none may (--expect-none ${kind})`]
  })
  if (max === undefined) return closed
  if (all.length > max) return [...closed, `${all.length} objects would go, and at most ${max} may (--max)`]
  const unlisted = unlistedBeside(read, causes)
  const unknown = unread ?? (unlisted.length === 0 ? undefined : `not listed: ${unlisted.join(', ')}`)
  return unknown === undefined
    ? closed
    : [
        ...closed,
        `at least ${all.length} objects would go, how many is not known, and at most ${max} may (--max): ${unknown}`,
      ]
}
