/** PodTemplate. */
import type { PodTemplate } from '../../api/generated/types.ts'
import { same } from '../../api/validation/common.ts'
import { podTemplateWarnings } from '../../api/validation/pod-warnings.ts'
import { validatePodTemplate } from '../../api/validation/workloads.ts'
import type { Strategy } from '../registry/strategy.ts'
import { createdWith, nextGeneration } from './common.ts'

export const podTemplates: Strategy<PodTemplate> = {
  prepareForCreate: (object) => createdWith(object, undefined),
  prepareForUpdate: (object, old) => nextGeneration(object, old, !same(object.template, old.template)),
  validate: (object) => validatePodTemplate(object),
  validateUpdate: (object, old) => validatePodTemplate(object, old),
  warningsOnCreate: (object) => podTemplateWarnings(object.template, 'template'),
  warningsOnUpdate: (object, old) =>
    same(object.template, old.template) ? [] : podTemplateWarnings(object.template, 'template'),
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  returnDeletedObject: true,
}
