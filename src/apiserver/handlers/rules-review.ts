/** SelfSubjectRulesReview: what a user may do, as far as those who decide can list it. */
import type { Fields, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import { badRequest } from '../../api/status.ts'
import type { Mode } from '../auth/authorizer.ts'
import { grantedRules, type RoleReads } from '../auth/rbac.ts'

interface Rules {
  readonly resourceRules: Fields[]
  readonly nonResourceRules: Fields[]
  readonly errors: string[]
}

const EVERYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }

/** `modes`: who decides, in order. @throws StatusError 400 without a namespace */
export function rulesReview(
  modes: readonly Mode['type'][],
  roles: RoleReads,
  object: KubeObject,
  user: UserInfo,
): KubeObject {
  const namespace: string = object['spec']?.namespace ?? ''
  if (namespace === '') throw badRequest('no namespace on request')
  const rules: Rules = { resourceRules: [], nonResourceRules: [], errors: [] }
  for (const mode of modes) addRules(mode, rules, roles, user, namespace)
  const { errors, ...listed } = rules
  return {
    ...object,
    metadata: {},
    spec: {},
    status: {
      ...listed,
      incomplete: errors.length > 0,
      ...(errors.length === 0 ? {} : { evaluationError: errors.length === 1 ? errors[0] : `[${errors.join(', ')}]` }),
    },
  }
}

function addRules(mode: Mode['type'], rules: Rules, roles: RoleReads, user: UserInfo, namespace: string): void {
  switch (mode) {
    case 'AlwaysDeny':
      return
    case 'AlwaysAllow':
      rules.resourceRules.push(EVERYTHING)
      rules.nonResourceRules.push({ verbs: ['*'], nonResourceURLs: ['*'] })
      return
    case 'Webhook':
      rules.errors.push('webhook authorizer does not support user rule resolution')
      return
    case 'Node':
      // What a node may do depends on the pods of the moment: it cannot be listed as rules.
      if (user.groups.includes('system:nodes') && user.name.startsWith('system:node:'))
        rules.errors.push('node authorizer does not support user rule resolution')
      return
    case 'RBAC':
      addGranted(rules, roles, user, namespace)
  }
}

function addGranted({ resourceRules, nonResourceRules }: Rules, roles: RoleReads, user: UserInfo, namespace: string) {
  for (const { rule } of grantedRules(roles, user, namespace)) {
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
