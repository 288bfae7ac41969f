/** Deployment. */
import { same } from '../../../api/validation/common.ts'
import {
  podNameWarnings,
  podTemplateUpdateWarnings,
  podTemplateWarnings,
} from '../../../api/validation/pod-warnings.ts'
import { validateDeployment, validateDeploymentStatus } from '../../../api/validation/workloads.ts'
import type { Strategy } from '../strategy.ts'
import { createdWith, nextGeneration, RESETS_STATUS, withFieldOf, withMeta } from './common.ts'

export const deployments: Strategy = {
  prepareForCreate: (object) => createdWith(object, {}),
  /** Annotations count too: they can ask for a new rollout's revision. */
  prepareForUpdate(object, old) {
    const kept = withFieldOf(object, old, 'status')
    const changed = !same(kept['spec'], old['spec']) || !same(kept.metadata.annotations, old.metadata.annotations)
    return nextGeneration(kept, old, changed)
  },
  validate: (object) => validateDeployment(object),
  validateUpdate: (object, old) => validateDeployment(object, old),
  warningsOnCreate: (object) => [
    ...podNameWarnings(object),
    ...podTemplateWarnings(object['spec']?.template, 'spec.template'),
  ],
  warningsOnUpdate: (object, old) => podTemplateUpdateWarnings(object, old),
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  status: {
    prepareForUpdate: (object, old) => withMeta(withFieldOf(object, old, 'spec'), { labels: old.metadata.labels }),
    validateUpdate: (object, old) => validateDeploymentStatus(object, old),
    resetFields: [['f:spec'], ['f:metadata', 'f:labels']],
  },
}
