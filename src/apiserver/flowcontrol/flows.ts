/** Which flow a request belongs to, by the FlowSchemas and PriorityLevelConfigurations that there now are. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../../api/objects/mandatory-flows.ts'
import type { Headers, RequestInfo, UserInfo } from '../../api/request.ts'
import type { ServerReads } from '../reads.ts'
import { type CompiledFlowSchema, flowSchemasOf } from './flow-schemas.ts'
import type { FlowCounts, FlowMetrics } from './metrics.ts'
import type { PriorityLevel, PriorityLevels } from './priority-levels.ts'

export interface Flow {
  readonly schema: CompiledFlowSchema
  readonly level: PriorityLevel
  readonly counts: FlowCounts
  /** Tell the client which flow schema and level its request fell under. */
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
    const found = reads.list(GROUP, PRIORITY_LEVELS.resource)
    levels.configure(withMandatory(found, 'PriorityLevelConfiguration', mandatoryPriorityLevels))
    const schemas = flowSchemasOf(
      withMandatory(reads.list(GROUP, FLOW_SCHEMAS.resource), 'FlowSchema', mandatoryFlowSchemas),
    )
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
    // Of a user in no group that any of them is about. The level that catch-all names cannot be changed.
    return flows.findLast(({ schema }) => schema.name === 'catch-all') as Flow
  }
}

/** With those that a cluster has even where they were deleted. */
function withMandatory(
  objects: readonly KubeObject[],
  kind: string,
  specs: Readonly<Record<string, Fields>>,
): readonly KubeObject[] {
  const names = new Set(objects.map(({ metadata }) => metadata.name))
  const missing = Object.entries(specs).filter(([name]) => !names.has(name))
  const made = missing.map(
    ([name, spec]): KubeObject => ({ apiVersion: `${GROUP}/v1`, kind, metadata: { name }, spec }),
  )
  return made.length === 0 ? objects : [...objects, ...made]
}
