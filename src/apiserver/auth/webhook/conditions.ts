/** matchConditions of an authorization webhook (KEP-3221): expressions over the review. It is asked where all of them hold. */

import { CALL_COST_LIMIT } from '../../../api/cel/cost-limits.ts'
import { BudgetExceeded } from '../../../api/cel/eval-within-cost-limit.ts'
import { compileExpression, type Program } from '../../../api/cel/program.ts'
import { listType, mapOf, type ObjectField, printType, STRING, type Type } from '../../../api/cel/types.ts'
import { CelError, type Value, wrap } from '../../../api/cel/values.ts'
import type { Fields, Json } from '../../../api/object.ts'
import type { AccessReviewSpec } from './review.ts'

const object = (name: string, fields: Readonly<Record<string, Type>>): Type => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields).map(([field, type]): [string, ObjectField] => [field, { name: field, type }])),
})
const selector = (name: string) =>
  object(`kubernetes.${name}Attributes`, {
    rawSelector: STRING,
    requirements: listType(
      object(`kubernetes.${name}Requirement`, { key: STRING, operator: STRING, values: listType(STRING) }),
    ),
  })
const TEXTS = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name']
const texts = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, STRING]))
const REQUEST = object('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: object('kubernetes.ResourceAttributes', {
    ...texts(TEXTS),
    fieldSelector: selector('FieldSelector'),
    labelSelector: selector('LabelSelector'),
  }),
  nonResourceAttributes: object('kubernetes.NonResourceAttributes', texts(['path', 'verb'])),
  user: STRING,
  groups: listType(STRING),
  extra: mapOf(STRING, listType(STRING)),
  uid: STRING,
})
const VARIABLES: ReadonlyMap<string, Type> = new Map([['request', REQUEST]])

export interface WebhookMatchCondition {
  readonly source: string
  readonly program: Program
}

/** What is wrong with an expression is told in cel-go's words. */
export function compileCondition(source: string): WebhookMatchCondition | { readonly error: string } {
  const made = compileExpression(source, VARIABLES)
  if ('error' in made) return { error: `compilation failed: ${made.error}` }
  const { type } = made.program
  if (type.kind !== 'simple' || type.name !== 'bool')
    return { error: `must evaluate to bool but got ${printType(type)}` }
  return { source, program: made.program }
}

/** Whether all hold for a v1 review's spec. One that is false decides; `error`: none is, and some could not be evaluated. */
export function conditionsHold(
  conditions: readonly WebhookMatchCondition[],
  spec: AccessReviewSpec,
): { readonly matches: boolean } | { readonly error: string } {
  const request = {
    user: '',
    uid: '',
    groups: [],
    extra: {},
    ...spec,
    ...('resourceAttributes' in spec ? { resourceAttributes: filled(spec.resourceAttributes) } : {}),
  }
  const variables = new Map<string, Value>([['request', wrap(request as Json, REQUEST)]])
  // All conditions of one webhook together.
  const budget = { used: 0, limit: CALL_COST_LIMIT }
  const errors: string[] = []
  for (const { source, program } of conditions) {
    try {
      if (program.run(variables, budget) !== true) return { matches: false }
    } catch (error) {
      if (!(error instanceof CelError || error instanceof BudgetExceeded)) throw error
      errors.push(`cel evaluation error: expression '${source}' resulted in error: ${error.message}`)
    }
  }
  if (errors.length === 0) return { matches: true }
  return { error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]` }
}

const filled = (attributes: Fields): Fields => ({
  ...Object.fromEntries(TEXTS.map((name) => [name, ''])),
  ...attributes,
})
