/** Rules of a list of meta/v1 Conditions, as a status may hold one. */
import { duplicate, type FieldError, invalid, notSupported, required, tooLong } from '../errors/field-errors.ts'
import { qualifiedName } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'

const STATUSES = ['False', 'True', 'Unknown']
const MAX_REASON = 1024
const MAX_MESSAGE = 32 * 1024

const REASON = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/
const BAD_REASON =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"

export function validateConditions(list: readonly Fields[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>()
  list.forEach((condition, i) => {
    const at = `${path}[${i}]`
    const type: string = condition['type'] ?? ''
    if (seen.has(type)) errors.push(duplicate(at, type))
    seen.add(type)
    validateCondition(condition, at, errors)
  })
}

function validateCondition(condition: Fields, path: string, errors: FieldError[]): void {
  const { type = '', status = '', reason = '', message = '', observedGeneration = 0, lastTransitionTime } = condition
  if (type === '') errors.push(required(`${path}.type`, 'is required'))
  else for (const problem of qualifiedName(type)) errors.push(invalid(`${path}.type`, type, problem))
  if (status === '') errors.push(required(`${path}.status`))
  else if (!STATUSES.includes(status)) errors.push(notSupported(`${path}.status`, status, STATUSES))
  if (observedGeneration < 0)
    errors.push(invalid(`${path}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero'))
  if (!lastTransitionTime) errors.push(required(`${path}.lastTransitionTime`))
  if (reason === '') errors.push(required(`${path}.reason`))
  else if (Buffer.byteLength(reason) > MAX_REASON) errors.push(tooLong(`${path}.reason`, MAX_REASON))
  else if (!REASON.test(reason)) errors.push(invalid(`${path}.reason`, reason, BAD_REASON))
  if (Buffer.byteLength(message) > MAX_MESSAGE) errors.push(tooLong(`${path}.message`, MAX_MESSAGE))
}
