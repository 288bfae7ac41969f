/**
 * Namespace. Its life ends in two steps of its own: a delete only marks it Terminating, and it goes when the last of its
 * spec.finalizers is gone, which only the finalize endpoint can take away.
 */
import type { Namespace } from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import { labelName } from '../../api/names/name-formats.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  validateNamespace,
  validateNamespaceFinalize,
  validateNamespaceStatus,
} from '../../api/validation/namespace.ts'
import { deletionFinalizersForGarbageCollection } from '../registry/finalizers-grace-period-and-propagation.ts'
import type { Strategy } from '../registry/strategy.ts'
import { JUDGES_GENERATE_NAME_FIRST, RESETS_STATUS, withFieldOf } from './common.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'

const specFinalizers = (object: Namespace): readonly string[] => object.spec?.finalizers ?? []

export const namespaces: Strategy<Namespace> = {
  ...JUDGES_GENERATE_NAME_FIRST,
  validateName: (name, prefix) => labelName(name, prefix),
  prepareForCreate(object) {
    const finalizers: readonly string[] = object.spec?.finalizers ?? []
    const spec = finalizers.includes('kubernetes')
      ? object.spec
      : { ...object.spec, finalizers: [...finalizers, 'kubernetes'] }
    return { ...object, spec, status: { phase: 'Active' } }
  },
  validate: (object) => validateNamespace(object),
  canonicalize(object) {
    const name = object.metadata.name ?? ''
    return object.metadata.labels?.[NAME_LABEL] === name
      ? object
      : withMetadata(object, { labels: { ...object.metadata.labels, [NAME_LABEL]: name } })
  },
  prepareForUpdate: (object, old) => withFieldOf(withFieldOf(object, old, 'status'), old, 'spec'),
  resetFields: RESETS_STATUS,
  returnDeletedObject: true,
  fieldLabels: ['status.phase'],
  selectableFields: (object) => ({ 'status.phase': object.status?.phase ?? '' }),
  preconditionFailed: 'Precondition failed',
  beginDeletion(object, options, context): KubeObject | undefined {
    if (specFinalizers(object).length === 0) return undefined
    if (object.metadata.deletionTimestamp !== undefined) return object
    const finalizers = deletionFinalizersForGarbageCollection(namespaces, object, options)
    return {
      ...withMetadata(object, { deletionTimestamp: context.now, ...(finalizers.length > 0 ? { finalizers } : {}) }),
      status: { ...object.status, phase: 'Terminating' },
    }
  },
  ownFinalizers: specFinalizers,
  mayRemove: (object) => specFinalizers(object).length === 0,
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object) => validateNamespaceStatus(object),
    resetFields: [['f:spec']],
  },
  subresources: {
    finalize: {
      prepareForUpdate: (object, old) => withFieldOf(object, old, 'status'),
      validateUpdate: (object) => validateNamespaceFinalize(object),
      resetFields: RESETS_STATUS,
    },
  },
}
