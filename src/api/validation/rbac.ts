/** Rules of rbac.authorization.k8s.io. */
import { type FieldError, invalid, notSupportedText, required } from '../errors/field-errors.ts'
import type {
  AggregationRule,
  Binding,
  ClusterRole,
  ClusterRoleBinding,
  LabelSelector,
  PolicyRule,
  Role,
  RoleBinding,
} from '../generated/types.ts'
import { dns1123Subdomain, pathSegmentName } from '../names/name-formats.ts'
import type { Fields, Given, KubeObject } from '../object.ts'
import { IMMUTABLE, same } from './common.ts'
import { isUsableSelector, validateLabelSelector } from './labels.ts'

const GROUP = 'rbac.authorization.k8s.io'
const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group']

export function validateRole(object: Given<Role>): readonly FieldError[] {
  return policyRules(object.rules ?? [], true)
}

export function validateClusterRole(object: Given<ClusterRole>): readonly FieldError[] {
  const errors = [...policyRules(object.rules ?? [], false)]
  const aggregation: AggregationRule | undefined = object.aggregationRule
  if (aggregation !== undefined) {
    const selectors: readonly LabelSelector[] = aggregation.clusterRoleSelectors ?? []
    const path = 'aggregationRule.clusterRoleSelectors'
    if (selectors.length === 0)
      errors.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'))
    selectors.forEach((selector, i) => {
      validateLabelSelector(selector, `${path}[${i}]`, errors)
      if (!isUsableSelector(selector)) errors.push(invalid(`${path}[${i}]`, null, 'invalid label selector.'))
    })
  }
  return errors
}

function policyRules(rules: readonly PolicyRule[], namespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = []
  rules.forEach((rule, i) => {
    const path = `rules[${i}]`
    const has = (field: string) => ((rule as Fields)[field]?.length ?? 0) > 0
    if (has('nonResourceURLs')) {
      if (namespaced)
        errors.push(
          invalid(
            `${path}.nonResourceURLs`,
            rule.nonResourceURLs,
            'namespaced rules cannot apply to non-resource URLs',
          ),
        )
      if (has('apiGroups') || has('resources') || has('resourceNames'))
        errors.push(
          invalid(
            `${path}.nonResourceURLs`,
            rule.nonResourceURLs,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        )
      return
    }
    if (!has('apiGroups'))
      errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
    if (!has('resources'))
      errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'))
  })
  return errors
}

export function validateRoleBinding(object: Given<RoleBinding>): readonly FieldError[] {
  return binding(object, ['Role', 'ClusterRole'], true)
}

export function validateClusterRoleBinding(object: Given<ClusterRoleBinding>): readonly FieldError[] {
  return binding(object, ['ClusterRole'], false)
}

function binding(object: Given<Binding>, kinds: readonly string[], namespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = []
  const { apiGroup = '', kind = '', name = '' } = (object['roleRef'] ?? {}) as Fields
  if (apiGroup !== GROUP) errors.push(notSupportedText('roleRef.apiGroup', apiGroup, [GROUP]))
  if (!kinds.includes(kind)) errors.push(notSupportedText('roleRef.kind', kind, kinds))
  if (name !== '') for (const message of pathSegmentName(name)) errors.push(invalid('roleRef.name', name, message))
  object['subjects']?.forEach((subject: Fields, i: number) => {
    roleSubject(subject, namespaced, `subjects[${i}]`, errors)
  })
  return errors
}

function roleSubject(subject: Fields, namespaced: boolean, path: string, errors: FieldError[]): void {
  const { apiGroup = '', kind = '', name = '', namespace = '' } = subject
  if (kind === 'ServiceAccount') {
    if (name !== '') for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}.name`, name, message))
    if (apiGroup !== '') errors.push(notSupportedText(`${path}.apiGroup`, apiGroup, ['']))
    if (!namespaced && namespace === '') errors.push(required(`${path}.namespace`))
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== GROUP) errors.push(notSupportedText(`${path}.apiGroup`, apiGroup, [GROUP]))
  } else errors.push(notSupportedText(`${path}.kind`, kind, SUBJECT_KINDS))
}

export function validateBindingUpdate(
  object: Given<Binding>,
  old: Given<Binding>,
  validate: (object: KubeObject) => readonly FieldError[],
): readonly FieldError[] {
  const errors = [...validate(object)]
  const { roleRef } = object as { readonly roleRef?: Partial<RoleBinding['roleRef']> }
  // The declared rules tell it again, after that of the reference.
  if ((roleRef?.name ?? '') === '') errors.push(required('roleRef.name'))
  if (!same(roleRef, old['roleRef'])) errors.push(invalid('roleRef', printedReference(roleRef ?? {}), IMMUTABLE))
  return errors
}

function printedReference(reference: Fields) {
  const { apiGroup = '', kind = '', name = '' } = reference
  return { APIGroup: apiGroup, Kind: kind, Name: name }
}
