/** ReplicaSet. */
import type { ReplicaSet } from '../../api/generated/types.ts'
import { podNameWarnings, podTemplateUpdateWarnings, podTemplateWarnings } from '../../api/validation/pod-warnings.ts'
import { validateReplicaSet, validateReplicaSetStatus } from '../../api/validation/workloads.ts'
import type { Strategy } from '../registry/strategy.ts'
import { RESETS_SPEC, RESETS_STATUS, specAndStatus, withFieldOf } from './common.ts'

export const replicaSets: Strategy<ReplicaSet> = {
  ...specAndStatus({ replicas: 0 }),
  validate: (object) => validateReplicaSet(object),
  validateUpdate: (object, old) => validateReplicaSet(object, old),
  warningsOnCreate: (object) => [
    ...podNameWarnings(object),
    ...podTemplateWarnings(object.spec?.template, 'spec.template'),
  ],
  warningsOnUpdate: (object, old) => podTemplateUpdateWarnings(object, old),
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object, old) => validateReplicaSetStatus(object, old),
    resetFields: RESETS_SPEC,
  },
}
