/** ControllerRevision. */
import { validateControllerRevision } from '../../api/validation/workloads.ts'
import type { Strategy } from '../registry/strategy.ts'

export const controllerRevisions: Strategy = {
  validate: (object) => validateControllerRevision(object),
  validateUpdate: (object, old) => validateControllerRevision(object, old),
  defaultGarbageCollectionPolicy: 'DeleteDependents',
}
