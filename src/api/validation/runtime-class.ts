/** Rules of RuntimeClass. */
import type { Fields, KubeObject } from '../object.ts'
import { entries, IMMUTABLE } from './common.ts'
import { type FieldError, invalid, required } from './errors.ts'
import { validateLabels } from './labels.ts'
import { dns1123Label } from './names.ts'
import { containerResourceName, resourceQuantity } from './resource-names.ts'

export function validateRuntimeClass(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [name, value] of entries(object['overhead']?.podFixed as Fields | undefined)) {
    const path = `overhead.limits[${name}]`
    containerResourceName(name, path, errors)
    resourceQuantity(name, value as string, path, errors)
  }
  validateLabels(object['scheduling']?.nodeSelector, 'scheduling.nodeSelector', errors)
  const handler: string = object['handler'] ?? ''
  if (handler === '') errors.push(required('handler'))
  else for (const message of dns1123Label(handler)) errors.push(invalid('handler', handler, message))
  return errors
}

export function validateRuntimeClassUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return object['handler'] === old['handler'] ? [] : [invalid('handler', null, IMMUTABLE)]
}
