/** What an access review's spec asks about, and what of it could not be understood. */
import type {
  FieldSelectorAttributes,
  FieldSelectorRequirement,
  LabelSelectorAttributes,
  LabelSelectorRequirement,
  ResourceAttributes,
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
} from '../../api/generated/types.ts'
import { parseFieldSelector } from '../../api/objects/field-selector.ts'
import { formatLabelSelector, labelSelectorOf, parseLabelSelector } from '../../api/objects/label-selector.ts'
import type { UserInfo } from '../../api/request.ts'
import type { Attributes } from '../auth/authorizer.ts'

export interface AskedAbout {
  readonly attributes: Attributes
  /** Parts that were passed over, each in a sentence. */
  readonly ignored: readonly string[]
}

export function userOfSpec(spec: SubjectAccessReviewSpec): UserInfo {
  return {
    name: spec.user ?? '',
    groups: spec.groups ?? [],
    ...(spec.uid ? { uid: spec.uid } : {}),
    ...(spec.extra ? { extra: spec.extra } : {}),
  }
}

export function attributesOfSpec(
  { resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec | SelfSubjectAccessReviewSpec,
  user: UserInfo,
): AskedAbout {
  const isResource = resourceAttributes !== undefined
  const resource: ResourceAttributes = resourceAttributes ?? {}
  const fields = selectorText(resource.fieldSelector, parseFieldSelector, fieldTerm)
  const labels = selectorText(resource.labelSelector, parseLabelSelector, labelTerm)
  const ignored = (['fieldSelector', 'labelSelector'] as const).flatMap((name) => {
    const { problem } = name === 'fieldSelector' ? fields : labels
    return problem === undefined ? [] : [`spec.resourceAttributes.${name} ${problem} due to parse error`]
  })
  return {
    attributes: {
      user,
      isResource,
      verb: resource.verb ?? nonResourceAttributes?.verb ?? '',
      group: resource.group ?? '',
      version: resource.version || (isResource ? '*' : ''),
      resource: resource.resource ?? '',
      subresource: resource.subresource ?? '',
      namespace: resource.namespace ?? '',
      name: resource.name ?? '',
      path: nonResourceAttributes?.path ?? '',
      ...(fields.text === '' ? {} : { fieldSelector: fields.text }),
      ...(labels.text === '' ? {} : { labelSelector: labels.text }),
    },
    ignored,
  }
}

type SelectorRequirement = FieldSelectorRequirement | LabelSelectorRequirement

interface SelectorText {
  readonly text: string
  readonly problem?: 'ignored' | 'partially ignored'
}

/** A review's selector as a request would have it; `term` is undefined for a requirement that cannot be said so. */
function selectorText(
  selector: FieldSelectorAttributes | LabelSelectorAttributes | undefined,
  parse: (text: string) => unknown,
  term: (requirement: SelectorRequirement) => string | undefined,
): SelectorText {
  if (selector === undefined) return { text: '' }
  const { rawSelector: raw = '', requirements = [] } = selector
  if (raw !== '') return parses(parse, raw) ? { text: raw } : { text: '', problem: 'ignored' }
  const terms = requirements.map(term).filter((text) => text !== undefined && parses(parse, text))
  if (terms.length === requirements.length) return { text: terms.join(',') }
  return { text: terms.join(','), problem: terms.length === 0 ? 'ignored' : 'partially ignored' }
}

function parses(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

function fieldTerm({ key, operator, values = [] }: SelectorRequirement): string | undefined {
  if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return undefined
  const value = String(values[0]).replace(/[\\,=]/g, (c) => `\\${c}`)
  return `${key}${operator === 'In' ? '=' : '!='}${value}`
}

function labelTerm(requirement: SelectorRequirement): string | undefined {
  const selector = labelSelectorOf({ matchExpressions: [requirement] })
  return selector.requirements.length === 1 ? formatLabelSelector(selector) : undefined
}
