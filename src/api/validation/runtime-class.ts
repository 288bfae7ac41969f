/** Rules of RuntimeClass. */
import type { Fields, KubeObject } from '../object.ts'
import { entries } from './common.ts'
import type { FieldError } from './errors.ts'
import { validateLabels } from './labels.ts'
import { containerResourceName, resourceQuantity } from './resource-names.ts'

export function validateRuntimeClass(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [name, value] of entries(object['overhead']?.podFixed as Fields | undefined)) {
    const path = `overhead.limits[${name}]`
    containerResourceName(name, path, errors)
    resourceQuantity(name, value as string, path, errors)
  }
  validateLabels(object['scheduling']?.nodeSelector, 'scheduling.nodeSelector', errors)
  return errors
}
