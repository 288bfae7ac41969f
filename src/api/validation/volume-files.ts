/** Files that volumes bring into a container: their paths, modes, and what they are made of. */
import { type FieldError, invalid, required } from '../errors/field-errors.ts'
import type { Fields } from '../object.ts'
import { validateFieldRef, validateResourceFieldRef } from './environment.ts'
import { localNonReservedPath } from './paths.ts'

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive'

export function fileMode(mode: number | undefined | null, path: string, errors: FieldError[]): void {
  if (mode !== undefined && mode !== null && (mode < 0 || mode > 0o777)) errors.push(invalid(path, mode, MODE))
}

export function keyToPath(items: readonly Fields[] | undefined, path: string, errors: FieldError[]): void {
  items?.forEach((item, i) => {
    const at = `${path}[${i}]`
    if (!item['key']) errors.push(required(`${at}.key`))
    if (!item['path']) errors.push(required(`${at}.path`))
    else localNonReservedPath(item['path'], `${at}.path`, errors)
    fileMode(item['mode'], `${at}.mode`, errors)
  })
}

const DOWNWARD_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

export function downwardFile(file: Fields, path: string, errors: FieldError[]): void {
  if (!file['path']) errors.push(required(`${path}.path`))
  else localNonReservedPath(file['path'], `${path}.path`, errors)
  if (file['fieldRef']) {
    validateFieldRef(file['fieldRef'], DOWNWARD_FIELDS, `${path}.fieldRef`, errors)
    if (file['resourceFieldRef'])
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (file['resourceFieldRef'])
    validateResourceFieldRef(file['resourceFieldRef'], true, `${path}.resourceFieldRef`, errors)
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  fileMode(file['mode'], `${path}.mode`, errors)
}
