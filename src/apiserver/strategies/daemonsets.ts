/** DaemonSet. Its template's generation, once a field, lives on in an annotation that only the server counts. */
import type { DaemonSet } from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import { TEMPLATE_GENERATION } from '../../api/objects/annotated-fields.ts'
import { addInt64, type Int64, maxInt64, parseInt64 } from '../../api/objects/integers.ts'
import { same } from '../../api/validation/common.ts'
import { validateDaemonSet, validateDaemonSetStatus } from '../../api/validation/daemonsets.ts'
import { daemonSetUpdateWarnings, podTemplateWarnings } from '../../api/validation/pod-warnings.ts'
import type { Strategy } from '../registry/strategy.ts'
import { createdWith, nextGeneration, RESETS_SPEC, RESETS_STATUS, withFieldOf } from './common.ts'

const templateGeneration = (object: DaemonSet): Int64 =>
  parseInt64(object.metadata.annotations?.[TEMPLATE_GENERATION]) ?? 0

function withTemplateGeneration(object: DaemonSet, generation: Int64): DaemonSet {
  const annotations = object.metadata.annotations
  if (annotations?.[TEMPLATE_GENERATION] === String(generation)) return object
  return withMetadata(object, { annotations: { ...annotations, [TEMPLATE_GENERATION]: String(generation) } })
}

export const daemonSets: Strategy<DaemonSet> = {
  prepareForCreate(object) {
    const created = createdWith(object, {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    })
    return withTemplateGeneration(created, maxInt64(templateGeneration(object), 1))
  },
  prepareForUpdate(object, old) {
    const kept = withFieldOf(object, old, 'status')
    const newTemplate = !same(kept.spec?.template, old.spec?.template)
    const counted = withTemplateGeneration(kept, addInt64(templateGeneration(old), newTemplate ? 1 : 0))
    return nextGeneration(counted, old, !same(kept.spec, old.spec))
  },
  validate: (object) => validateDaemonSet(object),
  validateUpdate: (object, old) => validateDaemonSet(object, old),
  warningsOnCreate: (object) => podTemplateWarnings(object.spec?.template, 'spec.template'),
  warningsOnUpdate: (object, old) => daemonSetUpdateWarnings(object, old),
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  status: {
    prepareForUpdate: (object, old) =>
      withTemplateGeneration(withFieldOf(object, old, 'spec'), templateGeneration(old)),
    validateUpdate: (object, old) => validateDaemonSetStatus(object, old),
    resetFields: RESETS_SPEC,
  },
}
