/** ControllerRevision. */
import { validateControllerRevision } from '../../api/validation/workloads.ts'
import type { Strategy } from '../registry/strategy.ts'
import { JUDGES_FINALIZERS_FIRST } from './common.ts'

export const controllerRevisions: Strategy = {
  ...JUDGES_FINALIZERS_FIRST,
  validate: (object) => validateControllerRevision(object),
  validateUpdate: (object, old) => validateControllerRevision(object, old),
  defaultGarbageCollectionPolicy: 'DeleteDependents',
}
