/** Rules of file paths that stand in pods: relative ones, and such that may not leave their directory. */
import { type FieldError, invalid } from '../errors/field-errors.ts'

/** A path that may not climb: no `..` between slashes. */
export function noDotDot(text: string, path: string, errors: FieldError[]): void {
  if (text.split('/').includes('..')) errors.push(invalid(path, text, "must not contain '..'"))
}

export function relativePath(text: string, path: string, errors: FieldError[]): void {
  if (text.startsWith('/')) errors.push(invalid(path, text, 'must be a relative path'))
  noDotDot(text, path, errors)
}

/** Not absolute, and neither climbing nor hidden at its start. */
export function localNonReservedPath(text: string, path: string, errors: FieldError[]): void {
  relativePath(text, path, errors)
  if (text.startsWith('..') && !text.startsWith('../')) errors.push(invalid(path, text, "must not start with '..'"))
}
