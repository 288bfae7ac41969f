/**
 * Which requests a webhook or policy is about: rules of operations, groups, versions and resources, selectors of namespaces
 * and objects, and other versions of the same resource (matchPolicy Equivalent).
 */

import type { MatchResources, NamedRuleWithOperations, Namespace } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type CompiledSelector, labelSelectorOf } from '../../../api/objects/label-selector.ts'
import type { ResourceRow, Scheme } from '../../../api/scheme/resource.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes } from '../plugin.ts'

export interface Matcher {
  readonly rules: readonly NamedRuleWithOperations[]
  readonly excluded: readonly NamedRuleWithOperations[]
  readonly equivalent: boolean
  readonly namespaceSelector: CompiledSelector
  readonly objectSelector: CompiledSelector
}

/** Takes what a webhook or a policy's matchConstraints say. An absent selector selects everything. */
export function webhookMatcher(
  spec: Pick<MatchResources, 'excludeResourceRules' | 'matchPolicy' | 'namespaceSelector' | 'objectSelector'>,
  rules: readonly NamedRuleWithOperations[],
): Matcher {
  return {
    rules,
    excluded: spec.excludeResourceRules ?? [],
    equivalent: (spec.matchPolicy ?? 'Equivalent') === 'Equivalent',
    namespaceSelector: labelSelectorOf(spec.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(spec.objectSelector ?? {}),
  }
}

const holds = (list: readonly string[] | undefined, value: string) =>
  list?.some((item) => item === '*' || item === value) ?? false

function ruleMatches(
  rule: NamedRuleWithOperations,
  row: ResourceRow,
  { operation, subresource, name }: AdmissionAttributes,
): boolean {
  const scope = rule.scope ?? '*'
  // A Namespace is an object of the cluster, whatever request it comes in.
  if (scope !== '*' && (scope === 'Namespaced') !== row.namespaced) return false
  if (!holds(rule.operations, operation)) return false
  if (!holds(rule.apiGroups, row.group) || !holds(rule.apiVersions, row.version)) return false
  const names = rule.resourceNames
  if (names !== undefined && names.length > 0 && !names.includes(name)) return false
  return (rule.resources ?? []).some((pattern) => {
    const [resource, sub = ''] = pattern.split('/')
    return (resource === '*' || resource === row.resource) && (sub === '*' || sub === subresource)
  })
}

/** The resource as the rules name it: the request's own, or the same one in another version or group. */
export function matchingRow(
  matcher: Matcher,
  attributes: AdmissionAttributes,
  scheme: Scheme,
): ResourceRow | undefined {
  const { endpoint } = attributes
  const { row } = endpoint
  const excluded = (candidate: ResourceRow) => matcher.excluded.some((rule) => ruleMatches(rule, candidate, attributes))
  const included = (candidate: ResourceRow) => matcher.rules.some((rule) => ruleMatches(rule, candidate, attributes))
  if (matcher.equivalent && matcher.excluded.length > 0 && equivalents(row, scheme).some(excluded)) return undefined
  if (excluded(row)) return undefined
  if (included(row)) return row
  if (!matcher.equivalent) return undefined
  return equivalents(row, scheme).find((candidate) => candidate !== row && included(candidate))
}

const equivalents = (row: ResourceRow, scheme: Scheme): readonly ResourceRow[] =>
  row.storagePrefix === '' ? [row] : scheme.sharing(row).filter((other) => other.kind === row.kind)

/** Labels of the namespace the request is in; of a Namespace, its own. undefined: the request is in none. */
export function namespaceLabels(
  { endpoint, namespace, object, oldObject, operation, subresource }: AdmissionAttributes,
  reads: CacheReads,
): Readonly<Record<string, string>> | undefined {
  const { row } = endpoint
  if (row.isOwnNamespace) {
    if (operation === 'CREATE' || operation === 'UPDATE' || subresource !== '') return object?.metadata?.labels ?? {}
    return oldObject?.metadata.labels ?? {}
  }
  if (!row.namespaced || namespace === '') return undefined
  return reads.get<Namespace>('', 'namespaces', '', namespace)?.metadata.labels ?? {}
}

export function selectsObject(matcher: Matcher, attributes: AdmissionAttributes, reads: CacheReads): boolean {
  const { namespaceSelector, objectSelector } = matcher
  if (objectSelector.requirements.length > 0) {
    const { object, oldObject } = attributes
    const has = (candidate: KubeObject | undefined) =>
      // Options of a connection have no metadata, and so no labels to select by.
      candidate?.metadata !== undefined && objectSelector.matches(candidate.metadata.labels ?? {})
    if (!has(object) && !has(oldObject)) return false
  }
  if (namespaceSelector.requirements.length === 0) return true
  const labels = namespaceLabels(attributes, reads)
  return labels === undefined || namespaceSelector.matches(labels)
}

const OWN = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])

/** What configures admission is never judged by it: a webhook could not be mended any more. */
export const configuresAdmission = ({ endpoint: { row } }: AdmissionAttributes): boolean =>
  row.group === 'admissionregistration.k8s.io' && OWN.has(row.resource)
