/**
 * Field errors as Kubernetes reports them (apimachinery's field.Error) and the 422 they add up to. Rules return lists of
 * these, in the order in which Kubernetes reports them.
 */
import { goFloat } from '../../base/go-float.ts'
import type { Json } from '../object.ts'
import { goQuote } from '../quote.ts'
import { type StatusCause, StatusError } from '../status.ts'
import { goJson } from '../values/json.ts'

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueNotFound'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

export interface FieldError {
  readonly type: FieldErrorType
  /** `spec.containers[0].name`; Kubernetes prints `<nil>` for the empty path. */
  readonly field: string
  /** Without the field: `Invalid value: "x": must be …`. */
  readonly message: string
  /** The option of the server under which this is no error. */
  readonly liftedBy?: 'allow-privileged'
}

/** A value as messages print it: strings as Go quotes them, numbers bare, the rest as Go's JSON. */
export function printValue(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'number' && !(Number.isInteger(value) && Math.abs(value) < 2 ** 63)) return goFloat(value)
  return typeof value === 'string' ? goQuote(value) : goJson(value)
}

export const required = (field: string, detail = ''): FieldError => ({
  type: 'FieldValueRequired',
  field,
  message: detail === '' ? 'Required value' : `Required value: ${detail}`,
})
export const invalid = (field: string, value: Json | undefined, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${printValue(value)}${detail === '' ? '' : `: ${detail}`}`,
})
/** Of a value that messages leave out. */
export const invalidOmitted = (field: string, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${detail}`,
})
export const typeInvalid = (field: string, value: Json | undefined, detail: string): FieldError => ({
  type: 'FieldValueTypeInvalid',
  field,
  message: `Invalid value: ${printValue(value)}${detail === '' ? '' : `: ${detail}`}`,
})
/**
 * Of a text with a Go type of its own, which is printed as JSON, as most values are that have names to choose from. `supported` in
 * the order to print (Kubernetes mostly sorts; the caller decides).
 */
export const notSupported = (field: string, value: Json | undefined, supported: readonly string[]): FieldError =>
  unsupported(field, ofOwnType(value), supported)
/** The same of a plain text. */
export const notSupportedText = (field: string, value: Json | undefined, supported: readonly string[]): FieldError =>
  unsupported(field, printValue(value), supported)

const ofOwnType = (value: Json | undefined): string => (typeof value === 'string' ? goJson(value) : printValue(value))

const unsupported = (field: string, shown: string, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${shown}${supported.length ? `: supported values: ${supported.map((s) => JSON.stringify(s)).join(', ')}` : ''}`,
})
/** An invalid text with a Go type of its own. */
export const invalidChoice = (field: string, value: string, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${goJson(value)}: ${detail}`,
})
export const duplicate = (field: string, value: Json | undefined): FieldError => ({
  type: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${printValue(value)}`,
})
export const forbiddenField = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${detail}`,
})
export const internal = (field: string, detail: string): FieldError => ({
  type: 'InternalError',
  field,
  message: `Internal error: ${detail}`,
})
export const tooLong = (field: string, maxBytes: number): FieldError => ({
  type: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${maxBytes} bytes`,
})
export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  type: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${max} item${max === 1 ? '' : 's'}`,
})
export const notFoundField = (field: string, value: Json | undefined): FieldError => ({
  type: 'FieldValueNotFound',
  field,
  message: `Not found: ${printValue(value)}`,
})

/** The kind that errors are told of. */
export interface FaultyKind {
  readonly group: string
  readonly kind: string
  /** What is wrong twice has two causes, as it has in the server that Kubernetes has for definitions and their objects. Default: one. */
  readonly repeatsCauses?: boolean
}

/** The 422 Status for field errors: `Kind.group "name" is invalid: …` with equal ones once, and a cause for each that differs. */
export function invalidError(kind: FaultyKind, name: string, errors: readonly FieldError[]): StatusError {
  const qualifiedKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  const all = errors.map(
    ({ type, field, message }): StatusCause => ({ reason: type, message, field: field === '' ? '<nil>' : field }),
  )
  const byText = new Map(all.map((cause) => [`${cause.field}: ${cause.message}`, cause]))
  const texts = [...byText.keys()]
  const causes = kind.repeatsCauses === true ? all : [...byText.values()]
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return new StatusError(
    422,
    'Invalid',
    `${qualifiedKind} ${goQuote(name)} is invalid${errors.length ? `: ${text}` : ''}`,
    {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      ...(causes.length ? { causes } : {}),
    },
  )
}
