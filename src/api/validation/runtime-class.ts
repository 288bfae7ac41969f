/** Rules of RuntimeClass. */
import { duplicate, type FieldError, invalid, required } from '../errors/field-errors.ts'
import type { RuntimeClass, Toleration } from '../generated/types.ts'
import { dns1123Label } from '../names/name-formats.ts'
import { containerResourceName, resourceQuantity } from '../names/resource-names.ts'
import type { Fields, Given } from '../object.ts'
import { validateTolerations } from './affinity.ts'
import { entries, IMMUTABLE, same } from './common.ts'
import { internalForm } from './internal.ts'
import { validateLabels } from './labels.ts'

export function validateRuntimeClass(object: Given<RuntimeClass>): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [name, value] of entries(object.overhead?.podFixed as Fields | undefined)) {
    const path = `overhead.limits[${name}]`
    containerResourceName(name, path, errors)
    resourceQuantity(name, value as string, path, errors)
  }
  validateLabels(object.scheduling?.nodeSelector, 'scheduling.nodeSelector', errors)
  const tolerations: readonly Toleration[] = object.scheduling?.tolerations ?? []
  validateTolerations(tolerations, 'scheduling.tolerations', errors)
  tolerations.forEach((toleration, i) => {
    if (tolerations.slice(0, i).some((earlier) => same(earlier, toleration)))
      errors.push(duplicate(`scheduling.tolerations[${i}]`, internalForm('io.k8s.api.core.v1.Toleration', toleration)))
  })
  return errors
}

/** A handler that changes is judged by its form, beside being immutable. */
export function validateRuntimeClassUpdate(object: Given<RuntimeClass>): readonly FieldError[] {
  const handler = object.handler ?? ''
  const form = handler === '' ? [] : dns1123Label(handler).map((message) => invalid('handler', handler, message))
  // Without one this order is told; the declared rules tell the same again.
  const none = handler === '' ? [invalid('handler', null, IMMUTABLE), required('handler')] : []
  return [...form, ...validateRuntimeClass(object), ...none]
}
