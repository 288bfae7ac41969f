/** Rules of webhooks and policies: which requests they are about. */
import type { ObjectRef } from './finding.ts'

export interface WhyRule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
}

export function ruleMatches(rules: readonly WhyRule[], ref: ObjectRef, operation: string): boolean {
  const has = (list: readonly string[] | undefined, value: string) => list?.some((one) => one === '*' || one === value)
  return rules.some(
    ({ operations, apiGroups, resources, scope = '*' }) =>
      has(operations, operation) &&
      has(apiGroups, ref.group) &&
      resources?.some((one) => one === '*' || one === '*/*' || one === ref.resource) &&
      (scope === '*' || scope === (ref.namespace === '' ? 'Cluster' : 'Namespaced')),
  )
}
