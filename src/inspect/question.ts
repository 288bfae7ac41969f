/** What a user may ask about, and that it cannot be asked. */
import type { NamedResource } from '../client/aggregated-discovery.ts'
import type { Kinds } from './kinds.ts'

export interface QuestionTarget {
  /** As kubectl takes it. */
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

/** A question that cannot be asked: a kind that is not served, a name that cannot be one. */
export class QuestionError extends Error {}

/** @throws QuestionError for a kind that is not served */
export function servedResource(kinds: Kinds, kind: string): NamedResource {
  const resource = kinds.find(kind)
  if (resource !== undefined) return resource
  throw notServed(kinds, kind)
}

/** The same, or all that are in a category of that name. @throws QuestionError for what is neither */
export function servedResources(kinds: Kinds, kind: string): readonly NamedResource[] {
  const found = kinds.findAll(kind)
  if (found.length === 0) throw notServed(kinds, kind)
  return found
}

function notServed(kinds: Kinds, kind: string): QuestionError {
  const group = kind.slice(kind.indexOf('.') + 1)
  const down = kinds.stale.filter((version) => kind.includes('.') && version.startsWith(`${group}/`))
  return new QuestionError(
    down.length > 0
      ? `the API ${down.join(', ')} does not answer, so "${kind}" is not known: skiff why apiservice/v1.${group}`
      : `the server serves no kind "${kind}": kubectl api-resources lists what it serves`,
  )
}
