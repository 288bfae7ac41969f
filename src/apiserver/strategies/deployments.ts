/** Deployment. */
import type { Deployment } from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import { ROLLBACK_TO } from '../../api/objects/annotated-fields.ts'
import { same } from '../../api/validation/common.ts'
import { podNameWarnings, podTemplateUpdateWarnings, podTemplateWarnings } from '../../api/validation/pod-warnings.ts'
import { validateDeployment, validateDeploymentStatus } from '../../api/validation/workloads.ts'
import type { Strategy } from '../registry/strategy.ts'
import { createdWith, nextGeneration, RESETS_STATUS, withFieldOf } from './common.ts'

/** The revision to go back to belongs to the spec, annotation though it is. */
function withRollbackOf(object: Deployment, old: Deployment): Deployment {
  const wanted = old.metadata.annotations?.[ROLLBACK_TO]
  if (object.metadata.annotations?.[ROLLBACK_TO] === wanted) return object
  const { [ROLLBACK_TO]: _, ...annotations } = object.metadata.annotations ?? {}
  const kept = wanted === undefined ? annotations : { ...annotations, [ROLLBACK_TO]: wanted }
  return withMetadata(object, { annotations: Object.keys(kept).length === 0 ? undefined : kept })
}

export const deployments: Strategy<Deployment> = {
  prepareForCreate: (object) => createdWith(object, {}),
  /** Annotations count too: they can ask for a new rollout's revision. */
  prepareForUpdate(object, old) {
    const kept = withFieldOf(object, old, 'status')
    const changed = !same(kept.spec, old.spec) || !same(kept.metadata.annotations, old.metadata.annotations)
    return nextGeneration(kept, old, changed)
  },
  validate: (object) => validateDeployment(object),
  validateUpdate: (object, old) => validateDeployment(object, old),
  warningsOnCreate: (object) => [
    ...podNameWarnings(object),
    ...podTemplateWarnings(object.spec?.template, 'spec.template'),
  ],
  warningsOnUpdate: (object, old) => podTemplateUpdateWarnings(object, old),
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  status: {
    prepareForUpdate: (object, old) =>
      withRollbackOf(withMetadata(withFieldOf(object, old, 'spec'), { labels: old.metadata.labels }), old),
    validateUpdate: (object, old) => validateDeploymentStatus(object, old),
    resetFields: [['f:spec'], ['f:metadata', 'f:labels']],
  },
}
