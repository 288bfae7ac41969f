/**
 * A memory limit that becomes less than what is used would have the kernel end the container: such a resize is not done while that is so (KEP-1287).
 * What is used may have grown before the limit is there.
 */
import { quantityValue } from '../api/objects/quantity.ts'
import { podResources } from './machine/cpu-shares-and-memory-limits.ts'
import { type Container, type Pod, uidOf } from './pod.ts'
import type { ContainerUsage } from './runtimes/runtime.ts'

export interface ShrinkingContainer {
  readonly container: Container
  /** What it is held to until now, as a quantity. */
  readonly limit: string | undefined
}

const bytesOf = (limit: string | undefined): bigint | undefined =>
  limit === undefined ? undefined : quantityValue(limit)

/** Those whose limit becomes less, or is new. */
export const shrinking = (all: readonly ShrinkingContainer[]): readonly ShrinkingContainer[] =>
  all.filter(({ container, limit }) => {
    const [wanted, before] = [bytesOf(container.resources?.limits?.['memory']), bytesOf(limit)]
    return wanted !== undefined && (before === undefined || wanted < before)
  })

/** Why these cannot be held to their limits now; undefined: they can. */
export function shrinkProblem(
  pod: Pod,
  containers: readonly ShrinkingContainer[],
  usage: readonly ContainerUsage[],
): string | undefined {
  const own = usage.filter(({ podUid }) => podUid === uidOf(pod))
  const problems: string[] = []
  const look = (what: string, limit: bigint | undefined, used: number) => {
    if (limit !== undefined && limit < used)
      problems.push(`attempting to set ${what} memory limit (${limit}) below current usage (${used})`)
  }
  const usedOf = (all: readonly ContainerUsage[]) => all.reduce((sum, { usageBytes }) => sum + usageBytes, 0)
  look('pod', podResources(pod).memory, usedOf(own))
  for (const { container } of containers) {
    const used = usedOf(own.filter(({ name }) => name === container.name))
    look(`container ${JSON.stringify(container.name)}`, bytesOf(container.resources?.limits?.['memory']), used)
  }
  if (problems.length === 0) return undefined
  return `cannot decrease memory limits: ${problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]}`
}
