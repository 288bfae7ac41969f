/** The Content-Type of a body (RFC 9110, 8.3), as Go reads it; and the answer for one that is not understood. */
import { StatusError } from '../status.ts'

/** type "/" subtype, then parameters of a name and a token or quoted text; one semicolon may end them. */
const FORM =
  /^\s*([\w!#$%&'*+.^`|~-]+(?:\/[\w!#$%&'*+.^`|~-]+)?)\s*((?:;\s*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*")\s*)*);?\s*$/

/** In lower case, without parameters; `` for a body that says nothing of itself, undefined for what is malformed. */
export function mediaTypeOf(contentType: string): string | undefined {
  if (contentType === '' || contentType === 'application/json') return contentType
  const [, type, parameters = ''] = FORM.exec(contentType) ?? []
  const names = Array.from(parameters.matchAll(/;\s*([^=\s]+)=/g), ([, name]) => (name as string).toLowerCase())
  return names.length === new Set(names).size ? type?.toLowerCase() : undefined
}

export function unsupportedBody(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new StatusError(415, 'UnsupportedMediaType', message)
}
