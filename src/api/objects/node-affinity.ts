/** Node selectors: spec.nodeSelector and node affinity terms (API concept: assigning pods to nodes). */
import type { Node } from '../generated/types.ts'
import type { Fields } from '../object.ts'

type Labels = Readonly<Record<string, string>>

function requirementMatches(requirement: Fields, value: string | undefined): boolean {
  const values = (requirement['values'] ?? []) as readonly string[]
  switch (requirement['operator']) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      if (value === undefined || !/^-?\d+$/.test(value)) return false
      const [left, right] = [BigInt(value), BigInt(values[0] ?? '0')]
      return requirement['operator'] === 'Gt' ? left > right : left < right
    }
    default:
      return false
  }
}

/** One term: all its requirements; a term without any selects nothing. */
export function nodeTermMatches(term: Fields, node: Node): boolean {
  const labels: Labels = node.metadata.labels ?? {}
  const expressions = (term['matchExpressions'] ?? []) as readonly Fields[]
  const fields = (term['matchFields'] ?? []) as readonly Fields[]
  if (expressions.length === 0 && fields.length === 0) return false
  return (
    expressions.every((requirement) => requirementMatches(requirement, labels[requirement['key']])) &&
    fields.every((requirement) =>
      requirementMatches(requirement, requirement['key'] === 'metadata.name' ? node.metadata.name : undefined),
    )
  )
}

export function selectsNode(spec: Fields, node: Node): boolean {
  const labels: Labels = node.metadata.labels ?? {}
  for (const [key, value] of Object.entries((spec['nodeSelector'] ?? {}) as Labels))
    if (labels[key] !== value) return false
  const required: Fields | undefined = spec['affinity']?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return (
    required === undefined ||
    ((required['nodeSelectorTerms'] ?? []) as readonly Fields[]).some((term) => nodeTermMatches(term, node))
  )
}
