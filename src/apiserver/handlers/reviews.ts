/**
 * The review kinds of authorization.k8s.io and SelfSubjectReview: created, answered, never stored (API concepts:
 * SubjectAccessReview, SelfSubjectRulesReview). The create handler has decoded the object, set its managedFields and
 * agreed its namespace; a review fills in the status.
 */

import { type FieldError, invalid, invalidError, required } from '../../api/errors/field-errors.ts'
import type {
  FieldSelectorRequirement,
  LocalSubjectAccessReview,
  NonResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from '../../api/generated/types.ts'
import { asJson, type Given, type KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import { validateLabelRequirement, validateSetOperator } from '../../api/validation/labels.ts'
import type { Policy } from '../auth/abac.ts'
import type { AuthorizationMode, Authorizer } from '../auth/authorizer.ts'
import type { RoleReads } from '../auth/rbac.ts'
import { userInfoOf } from '../auth/user-info.ts'
import { attributesOfSpec, userOfSpec } from './review-attributes.ts'
import { rulesReview } from './rules-review.ts'

export interface ReviewContext {
  readonly user: UserInfo
  /** The namespace of the path; '' for cluster-scoped reviews. */
  readonly namespace: string
  /** metav1.Time of this request. */
  readonly now: string
}

export type Review = (object: KubeObject, context: ReviewContext) => KubeObject | Promise<KubeObject>

export interface ReviewOptions {
  readonly authorizer: Authorizer
  readonly roles: RoleReads
  /** The authorizers, in order; default Node, then RBAC. */
  readonly modes?: () => readonly AuthorizationMode['type'][]
  /** What the mode ABAC goes by. */
  readonly policies?: readonly Policy[]
}

/** By `group/Kind`. @throws StatusError 422 for what the kind's rules refuse */
export function createReviews({
  authorizer,
  roles,
  modes = () => ['Node', 'RBAC'],
  policies = [],
}: ReviewOptions): Readonly<Record<string, Review>> {
  const decide = async (
    object: Given<SubjectAccessReview | SelfSubjectAccessReview>,
    user: UserInfo,
  ): Promise<KubeObject> => {
    const { attributes, ignored } = attributesOfSpec(object.spec ?? {}, user)
    const { verdict, reason, error } = await authorizer.authorize(attributes)
    const errors = error === undefined ? ignored : [...ignored, error]
    return {
      ...object,
      status: {
        allowed: verdict === 'allow',
        ...(verdict === 'deny' ? { denied: true } : {}),
        ...(reason === '' ? {} : { reason }),
        ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
      },
    }
  }
  return {
    'authorization.k8s.io/SubjectAccessReview': (object: Given<SubjectAccessReview>) => {
      refuse([
        ...onlyOneAttributes(object.spec),
        ...someSubject(object.spec),
        ...selectors(object.spec),
        ...emptyMeta(object, []),
      ])
      return decide(object, userOfSpec(object.spec ?? {}))
    },
    'authorization.k8s.io/LocalSubjectAccessReview': (object: Given<LocalSubjectAccessReview>, { namespace }) => {
      const spec: SubjectAccessReviewSpec = object.spec ?? {}
      const errors = [
        ...onlyOneAttributes(spec),
        ...someSubject(spec),
        ...selectors(spec),
        ...emptyMeta(object, ['namespace']),
      ]
      if (spec.resourceAttributes && (spec.resourceAttributes.namespace ?? '') !== namespace)
        errors.push(
          invalid(
            'spec.resourceAttributes.namespace',
            spec.resourceAttributes.namespace ?? '',
            'must match metadata.namespace',
          ),
        )
      if (spec.nonResourceAttributes)
        errors.push(
          invalid(
            'spec.nonResourceAttributes',
            goNonResource(spec.nonResourceAttributes),
            'disallowed on this kind of request',
          ),
        )
      refuse(errors)
      return decide(object, userOfSpec(spec))
    },
    'authorization.k8s.io/SelfSubjectAccessReview': (object: Given<SelfSubjectAccessReview>, { user }) => {
      refuse([...onlyOneAttributes(object.spec), ...selectors(object.spec), ...emptyMeta(object, [])])
      return decide(object, user)
    },
    'authorization.k8s.io/SelfSubjectRulesReview': (object, { user }) =>
      rulesReview(modes(), { roles, policies }, object, user),
    'authentication.k8s.io/SelfSubjectReview': (object, { user, now }) => ({
      ...object,
      metadata: { ...object.metadata, creationTimestamp: now },
      status: { userInfo: userInfoOf(user) },
    }),
  }
}

function refuse(errors: readonly FieldError[]): void {
  // The real server reports these without a kind, and so do we.
  if (errors.length > 0) throw invalidError({ group: 'authorization.k8s.io', kind: '' }, '', errors)
}

type AttributesSpec = SubjectAccessReviewSpec | SelfSubjectAccessReviewSpec

/** The internal type, which messages print, has no JSON names. */
const goNonResource = ({ path = '', verb = '' }: NonResourceAttributes) => ({ Path: path, Verb: verb })

function onlyOneAttributes(spec: AttributesSpec = {}): readonly FieldError[] {
  const other = spec.nonResourceAttributes
  if ((spec.resourceAttributes === undefined) !== (other === undefined)) return []
  return [
    invalid(
      'spec',
      other === undefined ? null : goNonResource(other),
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  ]
}

function someSubject(spec: SubjectAccessReviewSpec = {}): readonly FieldError[] {
  return spec.user || spec.groups?.length
    ? []
    : [invalid('spec.user', '', 'at least one of user or group must be specified')]
}

function selectors(spec: AttributesSpec = {}): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['fieldSelector', 'labelSelector'] as const) {
    const selector = spec.resourceAttributes?.[field]
    if (selector === undefined) continue
    const path = `spec.resourceAttributes.${field}`
    const { rawSelector, requirements = [] } = selector
    if (rawSelector && requirements.length > 0)
      errors.push(invalid(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'))
    if (!rawSelector && requirements.length === 0)
      errors.push(
        required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`),
      )
    requirements.forEach((requirement, i) => {
      const at = `${path}.requirements[${i}]`
      if (field === 'labelSelector') validateLabelRequirement(requirement, at, errors, { allowUnknownOperators: true })
      else fieldRequirement(requirement, at, errors)
    })
  }
  return errors
}

function fieldRequirement(requirement: FieldSelectorRequirement, path: string, errors: FieldError[]): void {
  if (!requirement.key) errors.push(required(`${path}.key`, 'must be specified'))
  validateSetOperator(requirement.operator ?? '', requirement.values ?? [], path, errors)
}

/** Nothing but managedFields (and what is allowed) may stand in a review's metadata. */
function emptyMeta(object: KubeObject, allowed: readonly string[]): readonly FieldError[] {
  const present = Object.entries(object.metadata).filter(
    ([key, value]) => value !== undefined && key !== 'managedFields' && !allowed.includes(key),
  )
  const { name, generateName, namespace, ...more } = object.metadata
  // As the type has them; what is undefined is not printed.
  const first = { name, generateName, namespace }
  const but = allowed.length === 0 ? '' : ` except for ${allowed.join(', ')}`
  return present.length === 0 ? [] : [invalid('metadata', asJson({ ...first, ...more }), `must be empty${but}`)]
}
