/**
 * FlowSchemas and PriorityLevelConfigurations that every cluster has, made again when they are deleted, and not to be changed (KEP-1040):
 * so that every request has a priority level, and administrators are served whatever the others say.
 */
import type { Fields } from '../object.ts'

type Mandatory = Readonly<Record<'exempt' | 'catch-all', Fields>>

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const group = (name: string) => ({ kind: 'Group', group: { name } })

/** Their specs, by name. */
export const mandatoryFlowSchemas: Mandatory = {
  exempt: {
    matchingPrecedence: 1,
    priorityLevelConfiguration: { name: 'exempt' },
    rules: [{ subjects: [group('system:masters')], ...everything }],
  },
  'catch-all': {
    matchingPrecedence: 10_000,
    priorityLevelConfiguration: { name: 'catch-all' },
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [group('system:unauthenticated'), group('system:authenticated')], ...everything }],
  },
}

/** Their specs, by name. What `exempt` has under that name in its spec is the administrator's. */
export const mandatoryPriorityLevels: Mandatory = {
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  'catch-all': {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  },
}
