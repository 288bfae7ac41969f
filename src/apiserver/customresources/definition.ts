/** The rules of CustomResourceDefinitions that are not about their schemas: how one begins to go. */
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeleteOptions, StrategyContext } from '../registry/strategy.ts'
import { CLEANUP_FINALIZER, withDefinitionCondition } from './name-conflicts.ts'

/** A definition goes after its instances: the first delete marks it and sets the finalizer that stands for them. */
export function beginDefinitionDeletion(
  object: KubeObject,
  _options: DeleteOptions,
  { now }: StrategyContext,
): KubeObject | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return object
  const finalizers = object.metadata.finalizers ?? []
  const marked = withMetadata(object, {
    deletionTimestamp: now,
    ...(finalizers.includes(CLEANUP_FINALIZER) ? {} : { finalizers: [...finalizers, CLEANUP_FINALIZER] }),
  })
  return withDefinitionCondition(
    marked,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  )
}
