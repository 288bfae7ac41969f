/**
 * A memory limit that becomes less than what is used would have the kernel end the container: such a resize is not done while that is so (KEP-1287).
 * What is used may have grown before the limit is there.
 */
import { quantityValue } from '../api/values/quantity.ts'
import { podResources } from './machine/cpu-shares-and-memory-limits.ts'
import { type Container, type Pod, uidOf } from './pod.ts'
import type { ContainerUsage } from './runtimes/runtime.ts'

export interface ShrinkingContainer {
  readonly container: Pick<Container, 'name'>
  /** What it is to be held to, as a quantity, by a limit of its own or the pod's. */
  readonly wanted: string | undefined
  /** What it is held to until now. */
  readonly limit: string | undefined
}

const bytesOf = (limit: string | undefined): bigint | undefined =>
  limit === undefined ? undefined : quantityValue(limit)

/** The limit becomes less, or is new. */
export function shrinks({ wanted, limit }: Omit<ShrinkingContainer, 'container'>): boolean {
  const [now, before] = [bytesOf(wanted), bytesOf(limit)]
  return now !== undefined && (before === undefined || now < before)
}

/** Why the pod and these of its containers cannot be held to their limits now; undefined: they can. */
export function shrinkProblem(
  pod: Pod,
  containers: readonly ShrinkingContainer[],
  usage: readonly ContainerUsage[] | undefined,
): string | undefined {
  // What no runtime tells of is not known to be too much.
  if (usage === undefined) return undefined
  const own = usage.filter(({ podUid }) => podUid === uidOf(pod))
  const problems: string[] = []
  const look = (what: string, limit: bigint | undefined, used: number) => {
    if (limit !== undefined && limit < used)
      problems.push(`attempting to set ${what} memory limit (${limit}) below current usage (${used})`)
  }
  const usedOf = (all: readonly ContainerUsage[]) => all.reduce((sum, { usageBytes }) => sum + usageBytes, 0)
  look('pod', podResources(pod).memory, usedOf(own))
  for (const { container, wanted } of containers) {
    const used = own.filter(({ name }) => name === container.name)
    const what = `container ${JSON.stringify(container.name)}`
    if (used.length === 0) problems.push(`missing ${what} memory usage`)
    else look(what, bytesOf(wanted), usedOf(used))
  }
  if (problems.length === 0) return undefined
  return `cannot decrease memory limits: ${problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]}`
}
