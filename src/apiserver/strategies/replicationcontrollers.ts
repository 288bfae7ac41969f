/** ReplicationController. */

import type { ReplicationController } from '../../api/generated/types.ts'
import { podNameWarnings, podTemplateUpdateWarnings, podTemplateWarnings } from '../../api/validation/pod-warnings.ts'
import { validateReplicationController, validateReplicationControllerStatus } from '../../api/validation/workloads.ts'
import type { Strategy } from '../registry/strategy.ts'
import { RESETS_SPEC, RESETS_STATUS, specAndStatus, withFieldOf } from './common.ts'

export const replicationControllers: Strategy<ReplicationController> = {
  ...specAndStatus({ replicas: 0 }),
  nameDeclared: true,
  validate: (object) => validateReplicationController(object),
  validateUpdate: (object, old) => validateReplicationController(object, old),
  warningsOnCreate: (object) => [
    ...podNameWarnings(object),
    ...podTemplateWarnings(object.spec?.template, 'spec.template'),
  ],
  // Of the template that goes, as Kubernetes does it with ReplicationControllers alone.
  warningsOnUpdate: (object, old) => podTemplateUpdateWarnings(old, object),
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'OrphanDependents',
  fieldLabels: ['status.replicas'],
  selectableFields: (object) => ({ 'status.replicas': String(object.status?.replicas ?? 0) }),
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object, old) => validateReplicationControllerStatus(object, old),
    resetFields: RESETS_SPEC,
  },
}
