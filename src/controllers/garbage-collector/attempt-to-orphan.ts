/** What the workers do with one owner that is to go without its dependents: they lose their references to it, then it its finalizer. */
import { isNotFound } from '../../api/status.ts'
import type { AttemptParts } from './attempt-to-delete.ts'
import { type GraphNode, orphanFinalizer } from './graph.ts'

/** @throws whatever makes the owner worth another try; a dependent that has gone does not. */
export async function attemptToOrphanDependents(
  { operations, log }: Pick<AttemptParts, 'operations' | 'log'>,
  owner: GraphNode,
): Promise<void> {
  log.info(5, 'orphan dependents of owner', { owner: owner.identity })
  const outcomes = await Promise.allSettled(
    [...owner.dependents].map((dependent) => operations.deleteOwnerReferences(dependent, [owner.identity.uid])),
  )
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected' && !isNotFound(outcome.reason)) throw outcome.reason
  }
  await operations.removeFinalizer(owner.identity, orphanFinalizer)
}
