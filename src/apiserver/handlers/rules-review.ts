/** SelfSubjectRulesReview: what a user may do, as far as the authorizers can list it. */
import type { SelfSubjectRulesReview } from '../../api/generated/types.ts'
import type { Fields, Given, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import { badRequest } from '../../api/status.ts'
import { type Policy, rulesOfPolicies } from '../auth/abac.ts'
import type { AuthorizationMode } from '../auth/authorizer.ts'
import { grantedRules, type RoleReads, together } from '../auth/rbac.ts'

interface Rules {
  readonly resourceRules: Fields[]
  readonly nonResourceRules: Fields[]
  readonly errors: string[]
  /** An authorizer that decides cannot list what it would allow. */
  incomplete: boolean
}

/** What modes decide by, where it can be listed. */
export interface Listable {
  readonly roles: RoleReads
  readonly policies: readonly Policy[]
}

const EVERYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }

/** `modes`: the authorizers, in order. @throws StatusError 400 without a namespace */
export function rulesReview(
  modes: readonly AuthorizationMode['type'][],
  listable: Listable,
  object: Given<SelfSubjectRulesReview>,
  user: UserInfo,
): KubeObject {
  const namespace: string = object.spec?.namespace ?? ''
  if (namespace === '') throw badRequest('no namespace on request')
  const rules: Rules = { resourceRules: [], nonResourceRules: [], errors: [], incomplete: false }
  for (const mode of modes) addRules(mode, rules, listable, user, namespace)
  const { errors, ...listed } = rules
  return {
    ...object,
    metadata: {},
    spec: {},
    status: {
      ...listed,
      ...(errors.length === 0 ? {} : { evaluationError: together(errors) }),
    },
  }
}

function addRules(
  mode: AuthorizationMode['type'],
  rules: Rules,
  { roles, policies }: Listable,
  user: UserInfo,
  namespace: string,
): void {
  switch (mode) {
    case 'ABAC':
      for (const rule of rulesOfPolicies(policies, user, namespace))
        if ('resources' in rule) rules.resourceRules.push(rule)
        else rules.nonResourceRules.push(rule)
      return
    case 'AlwaysDeny':
      return
    case 'AlwaysAllow':
      rules.resourceRules.push(EVERYTHING)
      rules.nonResourceRules.push({ verbs: ['*'], nonResourceURLs: ['*'] })
      return
    case 'Webhook':
      unlisted(rules, 'webhook')
      return
    case 'Node':
      // What a node may do depends on the pods of the moment: it cannot be listed as rules.
      if (user.groups.includes('system:nodes') && user.name.startsWith('system:node:')) unlisted(rules, 'node')
      return
    case 'RBAC':
      addGranted(rules, roles, user, namespace)
  }
}

function unlisted(rules: Rules, who: string): void {
  rules.incomplete = true
  rules.errors.push(`${who} authorizer does not support user rule resolution`)
}

function addGranted(rules: Rules, roles: RoleReads, user: UserInfo, namespace: string): void {
  const { resourceRules, nonResourceRules } = rules
  const granted = grantedRules(roles, user, namespace)
  if (granted.missing.length > 0) rules.errors.push(together(granted.missing))
  for (const { rule } of granted.rules) {
    const verbs = rule.verbs ?? []
    if (rule.resources?.length)
      resourceRules.push({
        verbs,
        apiGroups: rule.apiGroups ?? [],
        resources: rule.resources,
        ...(rule.resourceNames?.length ? { resourceNames: rule.resourceNames } : {}),
      })
    if (rule.nonResourceURLs?.length) nonResourceRules.push({ verbs, nonResourceURLs: rule.nonResourceURLs })
  }
}
