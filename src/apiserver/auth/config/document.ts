/**
 * Configuration files of an API server (group apiserver.config.k8s.io): YAML or JSON, of one kind, decoded strictly. A field that
 * is not known is a mistake, not something to be passed over.
 */

import { parse } from 'yaml'
import type { FieldError } from '../../../api/errors/field-errors.ts'
import type { JsonObject } from '../../../api/object.ts'
import { messageOf } from '../../../base/errors.ts'
import { parseGoDurationMs } from '../../../base/go-duration.ts'
import { oneLine } from '../../../base/plain-text.ts'

/** What is wrong with a configuration, in one line. */
export class ConfigurationError extends Error {}

/** What is wrong with what it says, field by field. */
export class FieldsError extends ConfigurationError {}

/** What is wrong with it as a document, before anything is asked of what it says. */
export class DocumentError extends ConfigurationError {}

export type DocumentShape =
  | 'string'
  | 'boolean'
  | 'duration'
  | { readonly list: DocumentShape }
  | { readonly fields: Readonly<Record<string, DocumentShape>> }

/** A document of a shape. A duration is in milliseconds. */
export type DocumentOf<S extends DocumentShape> = S extends 'string'
  ? string
  : S extends 'boolean'
    ? boolean
    : S extends 'duration'
      ? number
      : S extends { readonly list: infer L extends DocumentShape }
        ? readonly DocumentOf<L>[]
        : S extends { readonly fields: infer F extends Readonly<Record<string, DocumentShape>> }
          ? { readonly [Name in keyof F]?: DocumentOf<F[Name]> | undefined }
          : never

const GROUP = 'apiserver.config.k8s.io'
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1']

/** The document, of which every field is known and of its type; what is not there is undefined. @throws ConfigurationError */
export function readDocument<F extends Readonly<Record<string, DocumentShape>>>(
  text: string,
  kind: string,
  fields: F,
): DocumentOf<{ readonly fields: F }> {
  let document: unknown
  try {
    document = parse(text, { maxAliasCount: 100 })
  } catch (error) {
    throw new DocumentError(`it is not YAML: ${(error as Error).message.split('\n')[0]}`)
  }
  if (document === null || document === undefined) throw new DocumentError('empty config data')
  if (typeof document !== 'object' || Array.isArray(document)) throw new DocumentError('it is no object')
  const { apiVersion, kind: named, ...rest } = document as JsonObject
  if (named === undefined) throw new DocumentError("Object 'Kind' is missing")
  if (named !== kind || !VERSIONS.some((version) => apiVersion === `${GROUP}/${version}`))
    throw new DocumentError(
      `no kind ${JSON.stringify(named)} is registered for version ${JSON.stringify(apiVersion ?? '')}: it must be ${kind} of ${GROUP}/v1`,
    )
  const unknown: string[] = []
  const checked = shaped(rest, { fields }, '', unknown) as DocumentOf<{ readonly fields: F }>
  if (unknown.length > 0)
    throw new DocumentError(
      `strict decoding error: ${unknown.map((path) => `unknown field ${JSON.stringify(path)}`).join(', ')}`,
    )
  return checked
}

function shaped(value: unknown, shape: DocumentShape, path: string, unknown: string[]): unknown {
  // As for every JSON of Kubernetes, null is what is not there.
  if (value === null || value === undefined) return undefined
  const wrong = (wanted: string) => new DocumentError(`${path === '' ? 'it' : path} must be ${wanted}`)
  if (shape === 'string' || shape === 'duration') {
    if (typeof value !== 'string') throw wrong(shape === 'string' ? 'text' : 'a duration like "30s"')
    return shape === 'string' ? value : configuredDurationMs(value, path)
  }
  if (shape === 'boolean') {
    if (typeof value !== 'boolean') throw wrong('true or false')
    return value
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) throw wrong('a list')
    return value.map((item, i) => shaped(item, shape.list, `${path}[${i}]`, unknown) ?? empty(shape.list))
  }
  if (typeof value !== 'object' || Array.isArray(value)) throw wrong('an object')
  const made: Record<string, unknown> = Object.create(null)
  for (const [name, item] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (known === undefined) unknown.push(at)
    else made[name] = shaped(item, known, at, unknown)
  }
  return made
}

const empty = (shape: DocumentShape): unknown => (typeof shape === 'object' && 'fields' in shape ? {} : '')

/** A Go duration, in milliseconds. @throws ConfigurationError */
export function configuredDurationMs(text: string, where: string): number {
  try {
    return parseGoDurationMs(text)
  } catch (error) {
    throw new DocumentError(`${where}: ${messageOf(error)}`)
  }
}

/** @throws FieldsError when there are errors: all of them, in one line */
export function refuse(errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  // An expression's problem is shown with the line it is in; here everything stands in one.
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${oneLine(message)}`))]
  throw new FieldsError(texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`)
}
