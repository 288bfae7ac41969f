/** What a request asks for, as a SubjectAccessReview (authorization.k8s.io) says it, its fields in Kubernetes' order. */
import type { Fields } from '../../../api/object.ts'
import { parseFieldSelector } from '../../../api/objects/field-selector.ts'
import { parseLabelSelector, SelectorError } from '../../../api/objects/label-selector.ts'
import type { UserInfo } from '../../../api/request.ts'
import type { Attributes } from '../authorizer.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

export type AccessReviewSpec = ReturnType<typeof accessReview>['spec']

export function accessReview(attributes: Attributes, version: ReviewVersion) {
  const { user } = attributes
  const groups = user.groups.length > 0 ? user.groups : undefined
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: {},
    spec: {
      ...(attributes.isResource
        ? { resourceAttributes: resourceAttributes(attributes) }
        : { nonResourceAttributes: present({ path: attributes.path, verb: attributes.verb }) }),
      ...present({ user: user.name }),
      ...(groups === undefined ? {} : version === 'v1' ? { groups } : { group: groups }),
      ...userExtra(user),
      ...present({ uid: user.uid ?? '' }),
    },
    status: { allowed: false },
  }
}

const present = (texts: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

const userExtra = ({ extra }: UserInfo): Fields => (extra && Object.keys(extra).length > 0 ? { extra } : {})

function resourceAttributes(attributes: Attributes): Fields {
  const { namespace, verb, group, version, resource, subresource, name } = attributes
  const fields = fieldRequirements(attributes.fieldSelector)
  const labels = labelRequirements(attributes.labelSelector)
  return {
    ...present({ namespace, verb, group, version, resource, subresource, name }),
    ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  }
}

/** What a webhook can be told of a selector; one that cannot be understood narrows nothing. */
function fieldRequirements(text: string | undefined): readonly Fields[] {
  return understood(text, (selector) =>
    parseFieldSelector(selector).map(({ field, value, negated }) => ({
      key: field,
      operator: negated ? 'NotIn' : 'In',
      values: [value],
    })),
  )
}

const OPERATORS: Readonly<Record<string, string>> = {
  in: 'In',
  '=': 'In',
  '==': 'In',
  notin: 'NotIn',
  '!=': 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

function labelRequirements(text: string | undefined): readonly Fields[] {
  return understood(text, (selector) =>
    [...parseLabelSelector(selector).requirements]
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      .flatMap(({ key, operator, values }) => {
        const named = OPERATORS[operator]
        if (named === undefined) return []
        return [values.length === 0 ? { key, operator: named } : { key, operator: named, values: [...values].sort() }]
      }),
  )
}

function understood(text: string | undefined, parse: (text: string) => readonly Fields[]): readonly Fields[] {
  if (text === undefined || text === '') return []
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof SelectorError) return []
    throw error
  }
}
