/** Conditions of a namespace that is being emptied: what could not be discovered or deleted, and what is left. */
import type { NamespaceCondition } from '../../api/generated/types.ts'
import { formatTime } from '../../base/clock.ts'

export interface Content {
  discoveryFailure: string | undefined
  readonly failures: string[]
  /** Objects left, by `resource.group`. */
  readonly remaining: Map<string, number>
  /** Objects left, by finalizer. */
  readonly finalizers: Map<string, number>
}

export const emptyContent = (): Content => ({
  discoveryFailure: undefined,
  failures: [],
  remaining: new Map(),
  finalizers: new Map(),
})

interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export function contentConditions(content: Content): readonly Condition[] {
  const condition = (
    type: string,
    problem: string | undefined,
    reason: string,
    good: { readonly reason: string; readonly message: string },
  ): Condition =>
    problem === undefined ? { type, status: 'False', ...good } : { type, status: 'True', reason, message: problem }
  const failures = [...content.failures].sort().join(', ')
  return [
    condition('NamespaceDeletionDiscoveryFailure', content.discoveryFailure, 'DiscoveryFailed', {
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    }),
    condition('NamespaceDeletionGroupVersionParsingFailure', undefined, 'GroupVersionParsingFailed', {
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    }),
    condition(
      'NamespaceDeletionContentFailure',
      failures === ''
        ? undefined
        : `Failed to delete all resource types, ${content.failures.length} remaining: ${failures}`,
      'ContentDeletionFailed',
      {
        reason: 'ContentDeleted',
        message: 'All content successfully deleted, may be waiting on finalization',
      },
    ),
    condition(
      'NamespaceContentRemaining',
      listed(
        'Some resources are remaining: ',
        content.remaining,
        (name, count) => `${name} has ${count} resource instances`,
      ),
      'SomeResourcesRemain',
      { reason: 'ContentRemoved', message: 'All content successfully removed' },
    ),
    condition(
      'NamespaceFinalizersRemaining',
      listed(
        'Some content in the namespace has finalizers remaining: ',
        content.finalizers,
        (name, count) => `${name} in ${count} resource instances`,
      ),
      'SomeFinalizersRemain',
      { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    ),
  ]
}

function listed(
  intro: string,
  counts: ReadonlyMap<string, number>,
  text: (name: string, count: number) => string,
): string | undefined {
  if (counts.size === 0) return undefined
  return (
    intro +
    [...counts]
      .map(([name, count]) => text(name, count))
      .sort()
      .join(', ')
  )
}

/** The same array when no condition says anything new. */
export function withConditions(
  old: readonly NamespaceCondition[],
  conditions: readonly Condition[],
  nowMs: number,
): readonly NamespaceCondition[] {
  const next = [...old]
  let changed = false
  for (const condition of conditions) {
    const at = next.findIndex((other) => other.type === condition.type)
    const known = next[at]
    if (known === undefined) {
      next.push({ ...condition, lastTransitionTime: formatTime(nowMs) })
      changed = true
    } else if (known.status !== condition.status || known.message !== condition.message) {
      next[at] = { ...condition, lastTransitionTime: formatTime(nowMs) }
      changed = true
    }
  }
  return changed ? next : old
}
