/** The CEL expressions with which claims and classes select devices: whether they compile, and give a boolean. */
import { DEVICE_VARIABLES } from '../cel/devices.ts'
import { compileExpression } from '../cel/program.ts'
import { printType } from '../cel/types.ts'
import { type FieldError, invalid, required, tooLong } from '../errors/field-errors.ts'
import type { Fields } from '../object.ts'

const LONGEST_EXPRESSION = 10 * 1024

export function deviceSelectors(list: readonly Fields[], path: string, errors: FieldError[]): void {
  list.forEach(({ cel }, i) => {
    const at = `${path}[${i}].cel`
    if (cel === undefined) errors.push(required(at))
    else expression(cel.expression ?? '', `${at}.expression`, errors)
  })
}

function expression(source: string, path: string, errors: FieldError[]): void {
  if (Buffer.byteLength(source) > LONGEST_EXPRESSION) {
    errors.push(tooLong(path, LONGEST_EXPRESSION))
    return
  }
  const compiled = compileExpression(source, DEVICE_VARIABLES)
  if ('error' in compiled) {
    errors.push(invalid(path, source, `compilation failed: ${compiled.error}`))
    return
  }
  const type = printType(compiled.program.type)
  if (type !== 'bool' && type !== 'dyn' && type !== 'any')
    errors.push(invalid(path, source, `must evaluate to bool or the unknown type, not ${type}`))
}
