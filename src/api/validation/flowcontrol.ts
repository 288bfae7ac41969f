/** Rules of flowcontrol.apiserver.k8s.io. */

import { duplicate, type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type {
  FlowcontrolV1Subject,
  FlowDistinguisherMethod,
  FlowSchema,
  FlowSchemaCondition,
  FlowSchemaSpec,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationCondition,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
  ResourcePolicyRule,
  ServiceAccountSubject,
} from '../generated/types.ts'
import { dns1123Label, dns1123Subdomain } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../objects/mandatory-flows.ts'
import { same, starAlone } from './common.ts'
import { internalForm } from './internal.ts'

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const MAX_PRECEDENCE = 10000

export function validateFlowSchema(object: FlowSchema): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<FlowSchemaSpec> = object.spec ?? {}
  const precedence: number = spec.matchingPrecedence ?? 0
  if (precedence <= 0) errors.push(invalid('spec.matchingPrecedence', precedence, 'must be a positive value'))
  if (precedence > MAX_PRECEDENCE)
    errors.push(invalid('spec.matchingPrecedence', precedence, `must not be greater than ${MAX_PRECEDENCE}`))
  if (precedence === 1 && object.metadata.name !== 'exempt')
    errors.push(
      invalid('spec.matchingPrecedence', precedence, "only the schema named 'exempt' may have matchingPrecedence 1"),
    )
  const method: FlowDistinguisherMethod | undefined = spec.distinguisherMethod
  const methods = ['ByNamespace', 'ByUser']
  if (method !== undefined && !methods.includes(method.type ?? ''))
    errors.push(notSupported('spec.distinguisherMethod.type', { Type: method.type ?? '' }, methods))
  const level: string = spec.priorityLevelConfiguration?.name ?? ''
  if (level === '') errors.push(required('spec.priorityLevelConfiguration.name', 'must reference a priority level'))
  else
    for (const message of dns1123Subdomain(level))
      errors.push(invalid('spec.priorityLevelConfiguration.name', level, message))
  spec.rules?.forEach((rule, i) => {
    policyRule(rule, `spec.rules[${i}]`, errors)
  })
  const { name = '' } = object.metadata
  if (isMandatory(name) && !same(spec, mandatoryFlowSchemas[name])) {
    const shown = internalForm('io.k8s.api.flowcontrol.v1.FlowSchemaSpec', spec)
    errors.push(invalid('spec', shown, `spec of '${name}' must equal the fixed value`))
  }
  return errors
}

const isMandatory = (name: string): name is keyof typeof mandatoryFlowSchemas =>
  Object.hasOwn(mandatoryFlowSchemas, name)

function policyRule(rule: PolicyRulesWithSubjects, path: string, errors: FieldError[]): void {
  const subjects: readonly FlowcontrolV1Subject[] = rule.subjects ?? []
  if (subjects.length === 0) errors.push(required(`${path}.subjects`, 'subjects must contain at least one value'))
  subjects.forEach((subject, i) => {
    flowSubject(subject, `${path}.subjects[${i}]`, errors)
  })
  if (!rule.resourceRules?.length && !rule.nonResourceRules?.length)
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'))
  rule.resourceRules?.forEach((inner, i) => {
    resourceRule(inner, `${path}.resourceRules[${i}]`, errors)
  })
  rule.nonResourceRules?.forEach((inner, i) => {
    nonResourceRule(inner, `${path}.nonResourceRules[${i}]`, errors)
  })
}

function flowSubject(subject: FlowcontrolV1Subject, path: string, errors: FieldError[]): void {
  const { kind = '', user, group, serviceAccount } = subject
  const only = (field: string, value: Fields | undefined) => {
    if (value !== undefined)
      errors.push(
        forbiddenField(`${path}.${field}`, `${field} is forbidden when subject kind is not '${kindOf(field)}'`),
      )
  }
  if (kind === 'User') {
    if (user === undefined) errors.push(required(`${path}.user`, "user is required when subject kind is 'User'"))
    else if (!user.name) errors.push(required(`${path}.user.name`))
    only('serviceAccount', serviceAccount)
    only('group', group)
  } else if (kind === 'Group') {
    if (group === undefined) errors.push(required(`${path}.group`, "group is required when subject kind is 'Group'"))
    else if (!group.name) errors.push(required(`${path}.group.name`))
    only('serviceAccount', serviceAccount)
    only('user', user)
  } else if (kind === 'ServiceAccount') {
    if (serviceAccount === undefined)
      errors.push(
        required(`${path}.serviceAccount`, "serviceAccount is required when subject kind is 'ServiceAccount'"),
      )
    else accountSubject(serviceAccount, `${path}.serviceAccount`, errors)
    only('user', user)
    only('group', group)
  } else errors.push(notSupported(`${path}.kind`, kind, ['Group', 'ServiceAccount', 'User']))
}

const kindOf = (field: string): string => field[0]!.toUpperCase() + field.slice(1)

function accountSubject(
  { name = '', namespace = '' }: ServiceAccountSubject,
  path: string,
  errors: FieldError[],
): void {
  if (name === '') errors.push(required(`${path}.name`))
  else if (name !== '*')
    for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}.name`, name, message))
  if (namespace === '') errors.push(required(`${path}.namespace`, 'must specify namespace for service account'))
  else for (const message of dns1123Label(namespace)) errors.push(invalid(`${path}.namespace`, namespace, message))
}

/** Requests for paths that are no resources have resources' verbs as well here. */
function verbs(list: readonly string[], path: string, errors: FieldError[]): void {
  if (list.length === 0) errors.push(required(path, 'verbs must contain at least one value'))
  else if (list.length > 1 && list.includes('*'))
    errors.push(invalid(path, list, "if '*' is present, must not specify other verbs"))
  else if (list.some((verb) => verb !== '*' && !VERBS.includes(verb))) errors.push(notSupported(path, list, VERBS))
}

function resourceRule(rule: ResourcePolicyRule, path: string, errors: FieldError[]): void {
  const list = (field: string): readonly string[] => (rule as Fields)[field] ?? []
  const [allowed, apiGroups] = [list('verbs'), list('apiGroups')]
  const [resources, namespaces] = [list('resources'), list('namespaces')]
  verbs(allowed, `${path}.verbs`, errors)
  if (apiGroups.length === 0)
    errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
  else starAlone(apiGroups, `${path}.apiGroups`, 'api groups', errors)
  if (resources.length === 0)
    errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'))
  else starAlone(resources, `${path}.resources`, 'resources', errors)
  if (namespaces.length === 0 && rule.clusterScope !== true)
    errors.push(
      required(`${path}.namespaces`, 'resource rules that are not cluster scoped must supply at least one namespace'),
    )
  else if (namespaces.length > 1 && namespaces.includes('*'))
    errors.push(invalid(`${path}.namespaces`, namespaces, "if '*' is present, must not specify other namespaces"))
  else
    namespaces.forEach((name: string, i: number) => {
      if (name !== '*')
        for (const message of dns1123Label(name))
          errors.push(
            invalid(
              `${path}.namespaces[${i}]`,
              name,
              `each member of this list must be '*' or a DNS-1123 label; ${message}`,
            ),
          )
    })
}

function nonResourceRule(rule: NonResourcePolicyRule, path: string, errors: FieldError[]): void {
  const allowed: readonly string[] = rule.verbs ?? []
  const urls: readonly string[] = rule.nonResourceURLs ?? []
  verbs(allowed, `${path}.verbs`, errors)
  const at = `${path}.nonResourceURLs`
  if (urls.length === 0) errors.push(required(at, 'nonResourceURLs must contain at least one value'))
  else if (urls.length > 1 && urls.includes('*'))
    errors.push(invalid(at, urls, "if '*' is present, must not specify other non-resource URLs"))
  else
    urls.forEach((url: string, i: number) => {
      urlPath(url, `${at}[${i}]`, errors)
    })
}

function urlPath(url: string, path: string, errors: FieldError[]): void {
  if (url === '*') return
  if (url === '/') return
  if (url === '') return void errors.push(invalid(path, url, 'must not be empty'))
  if (!url.startsWith('/')) return void errors.push(invalid(path, url, 'must start with slash'))
  if (url.includes(' ')) errors.push(invalid(path, url, 'must not contain white-space'))
  if (url.includes('//')) errors.push(invalid(path, url, 'must not contain double slash'))
  if (url.slice(0, -1).includes('*') || (url.endsWith('*') && !url.endsWith('/*')))
    errors.push(invalid(path, url, 'wildcard can only do suffix matching'))
}

export function validatePriorityLevelConfiguration(object: PriorityLevelConfiguration): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<PriorityLevelConfigurationSpec> = object.spec ?? {}
  const type: string = spec.type ?? ''
  if (object.metadata.name === 'exempt' && type !== 'Exempt')
    errors.push(invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'"))
  if (type === 'Exempt' && object.metadata.name !== 'exempt')
    errors.push(invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'"))
  if (type !== '' && type !== 'Exempt' && type !== 'Limited')
    errors.push(notSupported('spec.type', type, ['Exempt', 'Limited']))
  if (type === 'Limited') {
    if (spec.exempt !== undefined)
      errors.push({ type: 'FieldValueForbidden', field: 'spec.exempt', message: 'Forbidden' })
    if (spec.limited !== undefined) limited(spec.limited, errors)
  }
  const { name = '' } = object.metadata
  if (isMandatory(name) && !same(fixedPart(name, spec), fixedPart(name, mandatoryPriorityLevels[name]))) {
    const shown = internalForm('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec', spec)
    const but = name === 'exempt' ? " except the 'spec.exempt' field" : ''
    errors.push(invalid('spec', shown, `spec of '${name}'${but} must equal the fixed value`))
  }
  return errors
}

/** An administrator may say how many seats `exempt` has for others to borrow. */
const fixedPart = (name: string, spec: Fields): Fields => (name === 'exempt' ? { ...spec, exempt: undefined } : spec)

function limited(value: LimitedPriorityLevelConfiguration, errors: FieldError[]): void {
  const path = 'spec.limited'
  const shares: number = value.nominalConcurrencyShares ?? 0
  if (shares < 0) errors.push(invalid(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer'))
  const lend: number | undefined = value.lendablePercent
  if (lend !== undefined && (lend < 0 || lend > 100))
    errors.push(invalid(`${path}.lendablePercent`, lend, 'must be between 0 and 100, inclusive'))
  const borrow: number | undefined = value.borrowingLimitPercent
  if (borrow !== undefined && borrow < 0)
    errors.push(invalid(`${path}.borrowingLimitPercent`, borrow, 'if specified, must be a non-negative integer'))
  const response: Partial<LimitResponse> = value.limitResponse ?? {}
  const type: string = response.type ?? ''
  const queuing: QueuingConfiguration | undefined = response.queuing
  const at = `${path}.limitResponse`
  if (type !== '' && type !== 'Queue' && type !== 'Reject')
    errors.push(notSupported(`${at}.type`, type, ['Queue', 'Reject']))
  if (type === 'Queue' && queuing !== undefined) queues(queuing, `${at}.queuing`, errors)
}

const MAX_QUEUES = 10_000_000

function queues(
  { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration,
  path: string,
  errors: FieldError[],
): void {
  if (queueLengthLimit <= 0) errors.push(invalid(`${path}.queueLengthLimit`, queueLengthLimit, 'must be positive'))
  if (queues <= 0) errors.push(invalid(`${path}.queues`, queues, 'must be positive'))
  else if (queues > MAX_QUEUES) errors.push(invalid(`${path}.queues`, queues, `must not be greater than ${MAX_QUEUES}`))
  if (handSize <= 0) errors.push(invalid(`${path}.handSize`, handSize, 'must be positive'))
  else if (handSize > queues)
    errors.push(invalid(`${path}.handSize`, handSize, `should not be greater than queues (${queues})`))
  else if (Math.ceil(Math.log2(queues)) * handSize > 60)
    errors.push(
      invalid(
        `${path}.handSize`,
        handSize,
        `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than 60`,
      ),
    )
}

/** Of a FlowSchema and of a PriorityLevelConfiguration. */
export function validateFlowStatus(object: FlowSchema | PriorityLevelConfiguration): readonly FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const conditions: readonly (FlowSchemaCondition | PriorityLevelConfigurationCondition)[] =
    object.status?.conditions ?? []
  conditions.forEach(({ type = '' }, i) => {
    const path = `status.conditions[${i}].type`
    if (seen.has(type)) errors.push(duplicate(path, type))
    seen.add(type)
    if (type === '') errors.push(required(path))
  })
  return errors
}
