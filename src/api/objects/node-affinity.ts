/** Node selectors: spec.nodeSelector and node affinity terms (API concept: assigning pods to nodes). */
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '../generated/types.ts'
import { parseInt64 } from './integers.ts'

type Labels = Readonly<Record<string, string>>

function requirementMatches({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
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
      const [left, right] = [parseInt64(value), parseInt64(values[0])]
      if (left === undefined || right === undefined) return false
      return operator === 'Gt' ? left > right : left < right
    }
    default:
      return false
  }
}

/** One term: all its requirements; a term without any selects nothing. */
export function nodeTermMatches({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  const labels: Labels = node.metadata.labels ?? {}
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  return (
    matchExpressions.every((requirement) => requirementMatches(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) =>
      requirementMatches(requirement, requirement.key === 'metadata.name' ? node.metadata.name : undefined),
    )
  )
}

export function selectsNode(spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>, node: Node): boolean {
  const labels: Labels = node.metadata.labels ?? {}
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (labels[key] !== value) return false
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || (required.nodeSelectorTerms ?? []).some((term) => nodeTermMatches(term, node))
}
