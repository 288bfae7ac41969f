/** The CEL expressions with which claims and classes select devices: whether they compile, and give a boolean. */
import { compileExpression } from '../cel/program.ts'
import { BOOL, DYN, mapOf, type ObjectField, printType, QUANTITY, STRING, type Type } from '../cel/types.ts'
import type { Fields } from '../object.ts'
import { type FieldError, invalid, required, tooLong } from './errors.ts'

const LONGEST_EXPRESSION = 10 * 1024

const fields: Readonly<Record<string, Type>> = {
  driver: STRING,
  attributes: mapOf(STRING, mapOf(STRING, DYN)),
  capacity: mapOf(STRING, mapOf(STRING, QUANTITY)),
  allowMultipleAllocations: BOOL,
}

/** What an expression knows: one device, its attributes and capacities by domain and name. */
const VARIABLES: ReadonlyMap<string, Type> = new Map<string, Type>([
  [
    'device',
    {
      kind: 'object',
      name: 'kubernetes.DRADevice',
      fields: new Map(Object.entries(fields).map(([name, type]): [string, ObjectField] => [name, { name, type }])),
    },
  ],
])

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
  const compiled = compileExpression(source, VARIABLES)
  if ('error' in compiled) {
    errors.push(invalid(path, source, `compilation failed: ${compiled.error}`))
    return
  }
  const type = printType(compiled.program.type)
  if (type !== 'bool' && type !== 'dyn' && type !== 'any')
    errors.push(invalid(path, source, `must evaluate to bool or the unknown type, not ${type}`))
}
