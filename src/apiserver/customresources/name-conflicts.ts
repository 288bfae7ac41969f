/**
 * Names of custom resources: a definition serves nothing before its names are accepted, and names that another definition of
 * the group has are not (API concept: CustomResourceDefinition conditions NamesAccepted, Established, Terminating). Pure;
 * the loop that writes what comes out is crd-loop.ts.
 */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
} from '../../api/generated/types.ts'
import type { Fields, Given, KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import type { NamesInUse } from './names-in-use.ts'
import { definitionCondition, isConditionTrue } from './rows.ts'

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'
const APPROVED = 'api-approved.kubernetes.io'

export interface DefinitionCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** The definition with a condition set; its time changes only with its status. The same object when nothing changes. */
export function withDefinitionCondition(
  definition: Given<CustomResourceDefinition>,
  condition: DefinitionCondition,
  now: string,
): KubeObject {
  const status: Partial<CustomResourceDefinitionStatus> = definition.status ?? {}
  const conditions: readonly CustomResourceDefinitionCondition[] = status.conditions ?? []
  const old = definitionCondition(definition, condition.type)
  if (
    old !== undefined &&
    old.status === condition.status &&
    old.reason === condition.reason &&
    old.message === condition.message
  )
    return definition
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : now
  const { type, ...rest } = condition
  const next = { type, status: rest.status, lastTransitionTime, reason: rest.reason, message: rest.message }
  const all = old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one))
  return { ...definition, status: { ...status, conditions: all } }
}

/** The next status of a definition's names and conditions among the others; the same object when it is as it should be. */
export function withNames(definition: Given<CustomResourceDefinition>, inUse: NamesInUse, now: string): KubeObject {
  const spec: Partial<CustomResourceDefinitionSpec> = definition.spec ?? {}
  const { accepted, problem } = acceptedNames(definition, inUse)
  let next = definition
  if (!sameJson(definition.status?.acceptedNames, accepted))
    next = { ...next, status: { ...next.status, acceptedNames: accepted } } as Given<CustomResourceDefinition>
  next = withDefinitionCondition(
    next,
    problem === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...problem },
    now,
  )
  if (!isConditionTrue(next, 'Established'))
    next = withDefinitionCondition(
      next,
      problem === undefined
        ? {
            type: 'Established',
            status: 'False',
            reason: 'Installing',
            message: 'the initial names have been accepted',
          }
        : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
      now,
    )
  return withApproval(next, spec, now)
}

/** What a definition with accepted names becomes: served. */
export function withEstablished(definition: Given<CustomResourceDefinition>, now: string): KubeObject {
  if (!isConditionTrue(definition, 'NamesAccepted') || isConditionTrue(definition, 'Established')) return definition
  if (definition.metadata.deletionTimestamp !== undefined) return definition
  return withDefinitionCondition(
    definition,
    {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
    now,
  )
}

interface Problem {
  readonly reason: string
  readonly message: string
}

function acceptedNames(definition: Given<CustomResourceDefinition>, inUse: NamesInUse) {
  const group: string = definition.spec?.group ?? ''
  const own = definition.metadata.name ?? ''
  const isResource = (name: string) => inUse.isResource(group, name, own)
  const isKind = (name: string) => inUse.isKind(group, name, own)
  const wanted: Partial<CustomResourceDefinitionNames> = definition.spec?.names ?? {}
  const before: Partial<CustomResourceDefinitionNames> = definition.status?.acceptedNames ?? {}
  let problem: Problem | undefined
  const take = (field: string, isUsed: (name: string) => boolean, reason: string): string => {
    const name: string = (wanted as Fields)[field] ?? ''
    if (name === '' || !isUsed(name)) return name
    problem = { reason, message: `${JSON.stringify(name)} is already in use` }
    return (before as Fields)[field] ?? ''
  }
  const plural = take('plural', isResource, 'PluralConflict')
  const singular = take('singular', isResource, 'SingularConflict')
  const short: readonly string[] = wanted.shortNames ?? []
  const taken = short.filter(isResource)
  let shortNames = short
  if (taken.length > 0) {
    const texts = taken.map((name) => `${JSON.stringify(name)} is already in use`)
    problem = { reason: 'ShortNamesConflict', message: texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]` }
    shortNames = before.shortNames ?? []
  }
  const kind = take('kind', isKind, 'KindConflict')
  const listKind = take('listKind', isKind, 'ListKindConflict')
  const categories: readonly string[] = wanted.categories ?? []
  const accepted: Fields = {
    plural,
    ...(singular === '' ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    kind,
    ...(listKind === '' ? {} : { listKind }),
    ...(categories.length === 0 ? {} : { categories }),
  }
  return { accepted, problem: problem as Problem | undefined }
}

/** Groups of Kubernetes itself carry their approval in an annotation (KEP-1111). */
export function isProtectedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group)
}

/** How the approval annotation reads; undefined when it is well. */
export function approvalOf(annotation: string | undefined): 'approved' | 'bypassed' | 'missing' | 'invalid' {
  if (annotation === undefined || annotation === '') return 'missing'
  if (annotation.startsWith('unapproved')) return 'bypassed'
  return URL.canParse(annotation) && /^https?:\/\/[^/]+/.test(annotation) ? 'approved' : 'invalid'
}

function withApproval(
  definition: Given<CustomResourceDefinition>,
  spec: Partial<CustomResourceDefinitionSpec>,
  now: string,
): KubeObject {
  if (!isProtectedGroup(spec.group ?? '')) return definition
  const annotation = definition.metadata.annotations?.[APPROVED]
  const type = 'KubernetesAPIApprovalPolicyConformant'
  switch (approvalOf(annotation)) {
    case 'approved':
      return withDefinitionCondition(
        definition,
        { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${annotation}` },
        now,
      )
    case 'bypassed':
      return withDefinitionCondition(
        definition,
        {
          type,
          status: 'False',
          reason: 'UnapprovedAnnotation',
          message: `not approved: ${JSON.stringify(annotation)}`,
        },
        now,
      )
    case 'invalid':
      return withDefinitionCondition(
        definition,
        {
          type,
          status: 'False',
          reason: 'InvalidAnnotation',
          message: `protected groups must have approval annotation ${JSON.stringify(APPROVED)} with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`,
        },
        now,
      )
    case 'missing':
      return withDefinitionCondition(
        definition,
        {
          type,
          status: 'False',
          reason: 'MissingAnnotation',
          message: `protected groups must have approval annotation ${JSON.stringify(APPROVED)}, see https://github.com/kubernetes/enhancements/pull/1111`,
        },
        now,
      )
  }
}
