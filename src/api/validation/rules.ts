/**
 * Validation rules as rows. A rule belongs to a schema type, not to a kind; a type's rules are a
 * table of rows in the order in which Kubernetes reports them, a named function where a row cannot say it:
 *
 *   export const lifecycle = rows(
 *     ['postStart', lifecycleHandler],
 *     ['preStop', lifecycleHandler],
 *   )
 */
import { type FieldError, invalid, notSupported, required } from '../errors/field-errors.ts'

/** What rules may ask beside the value: the object's root, and the old object on update. */
export interface RuleContext {
  // biome-ignore lint/suspicious/noExplicitAny: a rule knows its type by the table it stands in
  readonly root: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly old?: any
  readonly [option: string]: unknown
}

/** Appends to `errors` what is wrong with `value`, which stands at `path`. An absent value is undefined. */
// biome-ignore lint/suspicious/noExplicitAny: a rule knows its type by the table it stands in
export type Rule = (value: any, path: string, errors: FieldError[], context: RuleContext) => void

export type Row = readonly [field: string, ...rules: readonly Rule[]]

export function joinPath(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
}

/** Runs each row's rules on value[field]; field '' is the value itself. An absent value of the whole type is skipped. */
export function rows(...table: readonly Row[]): Rule {
  return (value, path, errors, context) => {
    if (value === undefined || value === null) return
    for (const [field, ...rules] of table) {
      const inner = field === '' ? value : value[field]
      const at = field === '' ? path : joinPath(path, field)
      for (const rule of rules) rule(inner, at, errors, context)
    }
  }
}

/** The rules on every item of a list, at path[i]. */
export function each(...rules: readonly Rule[]): Rule {
  return (value, path, errors, context) => {
    value?.forEach((item: unknown, i: number) => {
      for (const rule of rules) rule(item, `${path}[${i}]`, errors, context)
    })
  }
}

/** The rules only where a value is present. */
export function ifPresent(...rules: readonly Rule[]): Rule {
  return (value, path, errors, context) => {
    if (value === undefined || value === null) return
    for (const rule of rules) rule(value, path, errors, context)
  }
}

export function isRequired(detail = ''): Rule {
  return (value, path, errors) => {
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0))
      errors.push(required(path, detail))
  }
}

/** An enum; `supported` in the order Kubernetes prints. Absent or '' is left to isRequired. */
export function oneOf(...supported: readonly string[]): Rule {
  return (value, path, errors) => {
    if (value === undefined || value === '') return
    if (!supported.includes(value)) errors.push(notSupported(path, value, supported))
  }
}

export function inRange(low: number, high: number): Rule {
  return (value, path, errors) => {
    if (typeof value === 'number' && (value < low || value > high))
      errors.push(invalid(path, value, `must be between ${low} and ${high}, inclusive`))
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the root of any kind
export function check(rule: Rule, object: any, context: Omit<RuleContext, 'root'> = {}): readonly FieldError[] {
  const errors: FieldError[] = []
  rule(object, '', errors, { root: object, ...context })
  return errors
}
