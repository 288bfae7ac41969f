/** StatefulSet. */

import type { StatefulSet } from '../../api/generated/types.ts'
import { labelName } from '../../api/names/name-formats.ts'
import { podTemplateUpdateWarnings, podTemplateWarnings } from '../../api/validation/pod-warnings.ts'
import {
  statefulSetWarnings,
  validateStatefulSet,
  validateStatefulSetStatus,
} from '../../api/validation/statefulsets.ts'
import { claimTemplateWarnings } from '../../api/validation/warnings.ts'
import type { Strategy } from '../registry/strategy.ts'
import { RESETS_SPEC, RESETS_STATUS, specAndStatus, withFieldOf } from './common.ts'

export const statefulSets: Strategy<StatefulSet> = {
  ...specAndStatus({ replicas: 0, availableReplicas: 0 }),
  validateName: labelName,
  validate: (object) => validateStatefulSet(object),
  validateUpdate: (object, old) => validateStatefulSet(object, old),
  warningsOnCreate: (object) => [
    ...podTemplateWarnings(object.spec?.template, 'spec.template'),
    ...claimTemplateWarnings(object),
    ...statefulSetWarnings(object),
  ],
  warningsOnUpdate: (object, old) => [...podTemplateUpdateWarnings(object, old), ...statefulSetWarnings(object)],
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object, old) => validateStatefulSetStatus(object, old),
    resetFields: RESETS_SPEC,
  },
}
