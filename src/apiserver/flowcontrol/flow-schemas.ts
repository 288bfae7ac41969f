/**
 * flowcontrol: API priority and fairness (API concept; KEP-1040). FlowSchemas say which requests are one flow and which
 * priority level they belong to; a level has its share of what the server works on at once, and queues for what comes then.
 * Called by the fairness filter alone. It must never know how objects are stored, nor what a request is answered with.
 *
 * Here: which FlowSchema a request matches.
 */
import type {
  FlowSchema,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  FlowcontrolV1Subject as Subject,
} from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { RequestInfo, UserInfo } from '../../api/request.ts'

export interface CompiledFlowSchema {
  readonly name: string
  readonly uid: string
  /** Name of its PriorityLevelConfiguration. */
  readonly level: string
  readonly distinguisher: string
  /** What of `user`'s requests it takes; undefined when it takes none. */
  matcherFor(user: UserInfo): ((info: RequestInfo) => boolean) | undefined
}

/** In the order in which they are asked. */
export function flowSchemasOf(objects: readonly KubeObject[]): readonly CompiledFlowSchema[] {
  const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 0
  return [...objects]
    .sort((a, b) => precedence(a) - precedence(b) || (nameOf(a) < nameOf(b) ? -1 : 1))
    .map((object) => {
      const spec: Partial<FlowSchemaSpec> = (object as FlowSchema).spec ?? {}
      const rules = spec.rules ?? []
      return {
        name: nameOf(object),
        uid: object.metadata.uid ?? '',
        level: spec.priorityLevelConfiguration?.name ?? '',
        distinguisher: spec.distinguisherMethod?.type ?? '',
        matcherFor: (user) => {
          const own = rules.filter(({ subjects }) => subjects.some((subject) => isAbout(subject, user)))
          return own.length === 0 ? undefined : (info) => own.some((rule) => takes(rule, info))
        },
      }
    })
}

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''

function isAbout({ kind, user, group, serviceAccount }: Subject, by: UserInfo): boolean {
  switch (kind) {
    case 'User':
      return user?.name === '*' || user?.name === by.name
    case 'Group':
      return group !== undefined && (group.name === '*' || by.groups.includes(group.name))
    case 'ServiceAccount': {
      const { namespace, name } = serviceAccount ?? { namespace: '', name: '' }
      const prefix = `system:serviceaccount:${namespace}:`
      return name === '*' ? by.name.startsWith(prefix) : by.name === prefix + name
    }
    default:
      return false
  }
}

function takes({ resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects, info: RequestInfo): boolean {
  return info.isResource
    ? resourceRules.some((rule) => takesResource(rule, info))
    : nonResourceRules.some(
        ({ verbs, nonResourceURLs }) => has(verbs, info.verb) && nonResourceURLs.some((url) => isUnder(url, info.path)),
      )
}

function takesResource(
  { verbs, apiGroups, resources, namespaces, clusterScope }: ResourcePolicyRule,
  info: RequestInfo,
): boolean {
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const isPlaced = info.namespace === '' ? clusterScope === true : has(namespaces, info.namespace)
  return isPlaced && has(verbs, info.verb) && has(apiGroups, info.group) && has(resources, resource)
}

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes(value) || list.includes('*'))

/** A path stands for all below it. */
function isUnder(url: string, path: string): boolean {
  if (url === '*' || url === path) return true
  const folder = url.endsWith('*') ? url.slice(0, -1) : `${url}/`
  return path.startsWith(folder)
}
