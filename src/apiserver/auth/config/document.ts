/**
 * Configuration files of an API server (group apiserver.config.k8s.io): YAML or JSON, of one kind, decoded strictly. A field that
 * is not known is a mistake, not something to be passed over.
 */

import { kindInVersions, strictConfiguration } from '../../../api/configuration/decode.ts'
import type { Struct, ValueOf, ValueShape } from '../../../api/configuration/shape.ts'
import type { FieldError } from '../../../api/errors/field-errors.ts'
import { messageOf } from '../../../base/errors.ts'
import { parseGoDurationMs } from '../../../base/go-duration.ts'
import { oneLine } from '../../../base/plain-text.ts'

/** What is wrong with a configuration, in one line. */
export class ConfigurationError extends Error {}

/** What is wrong with what it says, field by field. */
export class FieldsError extends ConfigurationError {}

/** What is wrong with it as a document, before anything is asked of what it says. */
export class DocumentError extends ConfigurationError {}

/** A document of a shape. A duration is in milliseconds, and what is null is not there. */
export type DocumentOf<S> = S extends 'duration' | 'duration or null'
  ? number
  : S extends readonly [infer Item]
    ? readonly DocumentOf<Item>[]
    : S extends { readonly fields: infer Inner }
      ? { readonly [Name in keyof Inner]?: DocumentOf<Inner[Name]> | undefined }
      : ValueOf<S>

const GROUP = 'apiserver.config.k8s.io'

/** The document, of which every field is known and of its type; what is not there is undefined. @throws ConfigurationError */
export function readDocument<S extends Struct>(text: string, shape: S): DocumentOf<S> {
  try {
    const kinds = kindInVersions(shape.type, GROUP, 'v1', 'v1beta1', 'v1alpha1')
    return shaped(strictConfiguration(text, kinds, shape), shape) as DocumentOf<S>
  } catch (cause) {
    throw new DocumentError(messageOf(cause), { cause })
  }
}

/** As for every JSON of Kubernetes, null is what is not there, and an item of a list that is null an empty one. */
function shaped(value: unknown, shape: ValueShape): unknown {
  if (value === null || value === undefined) return undefined
  if (shape === 'duration' || shape === 'duration or null') return parseGoDurationMs(value as string)
  if (typeof shape === 'string' || 'named' in shape || 'of' in shape) return value
  if ('fields' in shape)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, shaped(item, shape.fields[name] ?? 'any')]),
    )
  return (value as readonly unknown[]).map((item) => shaped(item, shape[0]) ?? empty(shape[0]))
}

const empty = (shape: ValueShape): unknown => (typeof shape === 'object' && 'fields' in shape ? {} : '')

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
