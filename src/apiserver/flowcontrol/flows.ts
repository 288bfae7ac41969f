/** Which flow a request belongs to, by the FlowSchemas and PriorityLevelConfigurations that there now are. */
import type { KubeObject } from '../../api/object.ts'
import type { Headers, RequestInfo, UserInfo } from '../../api/request.ts'
import type { ServerReads } from '../reads.ts'
import { type FlowSchema, flowSchemasOf } from './flow-schemas.ts'
import type { FlowCounts, FlowMetrics } from './metrics.ts'
import type { PriorityLevel, PriorityLevels } from './priority-levels.ts'

export interface Flow {
  readonly schema: FlowSchema
  readonly level: PriorityLevel
  readonly counts: FlowCounts
  /** Tell who asks what he was judged by. */
  readonly headers: Headers
}

type Candidate = readonly [flow: Flow, matches: (info: RequestInfo) => boolean]

const GROUP = 'flowcontrol.apiserver.k8s.io'
const FLOW_SCHEMAS = { group: GROUP, resource: 'flowschemas' }
const PRIORITY_LEVELS = { group: GROUP, resource: 'prioritylevelconfigurations' }

export function createFlows(
  reads: Pick<ServerReads, 'list' | 'generationOf'>,
  levels: PriorityLevels,
  metrics: FlowMetrics,
): (user: UserInfo, info: RequestInfo) => Flow {
  const generation = reads.generationOf([FLOW_SCHEMAS, PRIORITY_LEVELS])
  let at = -1
  let flows: readonly Flow[] = []
  /** Users keep their identity from request to request of a connection. */
  let byUser = new WeakMap<UserInfo, readonly Candidate[]>()

  function configure(): void {
    levels.configure(withMandatory(reads.list(GROUP, PRIORITY_LEVELS.resource), MANDATORY_LEVELS))
    const schemas = flowSchemasOf(withMandatory(reads.list(GROUP, FLOW_SCHEMAS.resource), MANDATORY_SCHEMAS))
    flows = schemas.flatMap((schema) => {
      // One that names no level there is stands for nothing.
      const level = levels.get(schema.level)
      if (level === undefined) return []
      const headers = {
        ...(schema.uid === '' ? {} : { 'x-kubernetes-pf-flowschema-uid': schema.uid }),
        ...(level.uid === '' ? {} : { 'x-kubernetes-pf-prioritylevel-uid': level.uid }),
      }
      return [{ schema, level, headers, counts: metrics.of(schema.name, level.name) }]
    })
    byUser = new WeakMap()
  }

  function candidatesOf(user: UserInfo): readonly Candidate[] {
    const candidates = flows.flatMap((flow): Candidate[] => {
      const matches = flow.schema.matcherFor(user)
      return matches === undefined ? [] : [[flow, matches]]
    })
    byUser.set(user, candidates)
    return candidates
  }

  return (user, info) => {
    const now = generation()
    if (now !== at) {
      at = now
      configure()
    }
    for (const [flow, matches] of byUser.get(user) ?? candidatesOf(user)) if (matches(info)) return flow
    // Whoever is in no group that any of them is about.
    return flows.findLast(({ schema }) => schema.name === 'catch-all') as Flow
  }
}

/** A cluster has these whoever deletes them. */
function withMandatory(objects: readonly KubeObject[], mandatory: readonly KubeObject[]): readonly KubeObject[] {
  const names = new Set(objects.map(({ metadata }) => metadata.name))
  const missing = mandatory.filter(({ metadata }) => !names.has(metadata.name))
  return missing.length === 0 ? objects : [...objects, ...missing]
}

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const group = (name: string) => ({ kind: 'Group', group: { name } })
const mandatory = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name },
  spec,
})
const MANDATORY_LEVELS = [
  mandatory('PriorityLevelConfiguration', 'exempt', { type: 'Exempt' }),
  mandatory('PriorityLevelConfiguration', 'catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } },
  }),
]
const MANDATORY_SCHEMAS = [
  mandatory('FlowSchema', 'exempt', {
    matchingPrecedence: 1,
    priorityLevelConfiguration: { name: 'exempt' },
    rules: [{ subjects: [group('system:masters')], ...everything }],
  }),
  mandatory('FlowSchema', 'catch-all', {
    matchingPrecedence: 10_000,
    priorityLevelConfiguration: { name: 'catch-all' },
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [group('system:unauthenticated'), group('system:authenticated')], ...everything }],
  }),
]
