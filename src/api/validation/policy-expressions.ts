/** Whether the expressions of admission policies and match conditions compile, and give what they must. */

import { authorizerFunctions } from '../cel/authorizer.ts'
import { check } from '../cel/check.ts'
import type { Functions } from '../cel/functions.ts'
import { CelSyntaxError, printIssues } from '../cel/issues.ts'
import { allFunctions } from '../cel/libraries.ts'
import { type Node, parse } from '../cel/parse.ts'
import {
  BOOL,
  DYN,
  INT,
  listOf,
  mapOf,
  type ObjectField,
  printType,
  STRING,
  TIMESTAMP,
  type Type,
} from '../cel/types.ts'
import type { Fields } from '../object.ts'
import { type FieldError, invalid } from './errors.ts'

const object = (name: string, fields: Readonly<Record<string, Type>>): Type => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields).map(([field, type]): [string, ObjectField] => [field, { name: field, type }])),
})

const groupVersion = (last: string) =>
  object('kubernetes.GroupVersion', { group: STRING, version: STRING, [last]: STRING })

/** What an expression knows of the request: an AdmissionRequest without its objects. */
export const REQUEST_TYPE = object('kubernetes.AdmissionRequest', {
  kind: groupVersion('kind'),
  resource: groupVersion('resource'),
  subResource: STRING,
  requestKind: groupVersion('kind'),
  requestResource: groupVersion('resource'),
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: object('kubernetes.UserInfo', {
    username: STRING,
    uid: STRING,
    groups: listOf(STRING),
    extra: mapOf(STRING, listOf(STRING)),
  }),
  dryRun: BOOL,
  options: DYN,
})

const NULL_TYPE: Type = { kind: 'simple', name: 'null_type' }

const labels = mapOf(STRING, STRING)
/** What an expression knows of the request's namespace. */
const NAMESPACE_TYPE = object('kubernetes.Namespace', {
  metadata: object('kubernetes.NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels,
    annotations: labels,
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: object('kubernetes.NamespaceSpec', { finalizers: listOf(STRING) }),
  status: object('kubernetes.NamespaceStatus', { phase: STRING }),
})

export const POLICY_NAMES: ReadonlyMap<string, Type> = new Map<string, Type>([
  ['object', DYN],
  ['oldObject', DYN],
  ['request', REQUEST_TYPE],
  ['authorizer', DYN],
])

let functions: Functions | undefined

/** What policies may call: everything, and the authorizer. */
export function policyFunctions(): Functions {
  if (functions === undefined) {
    const all = new Map(allFunctions())
    for (const [name, overloads] of authorizerFunctions) all.set(name, [...(all.get(name) ?? []), ...overloads])
    functions = all
  }
  return functions
}

/** The type of the expression; undefined when it does not compile, which `errors` then say. */
function typeOf(
  source: string,
  variables: ReadonlyMap<string, Type>,
  path: string,
  errors: FieldError[],
): Type | undefined {
  const report = (text: string) => void errors.push(invalid(path, source, `compilation failed: ${text}`))
  let node: Node
  try {
    node = parse(source)
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return report(printIssues(source, [error.issue])) as undefined
  }
  const { type, issues } = check(node, { variables, functions: policyFunctions() })
  if (issues.length > 0) return report(printIssues(source, issues)) as undefined
  return type
}

function expect(
  source: string | undefined,
  wanted: readonly Type[],
  types: ReadonlyMap<string, Type>,
  path: string,
  errors: FieldError[],
) {
  if (source === undefined || source.trim() === '') return
  const type = typeOf(source, types, path, errors)
  if (type === undefined) return
  const names = wanted.map((one) => (one === NULL_TYPE ? 'null_type' : printType(one)))
  if (wanted.some((one) => printType(one) === printType(type))) return
  const text = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`
  errors.push(invalid(path, source, `must evaluate to ${text} but got ${printType(type)}`))
}

export function validateConditionExpression(
  source: string,
  hasParams: boolean,
  path: string,
  errors: FieldError[],
): void {
  expect(source, [BOOL], typesFor(hasParams, false), path, errors)
}

const typesFor = (hasParams: boolean, withNamespace: boolean): Map<string, Type> => {
  const types = new Map(POLICY_NAMES)
  if (withNamespace) types.set('namespaceObject', NAMESPACE_TYPE)
  if (hasParams) types.set('params', DYN)
  return types
}

export interface PolicyExpressions {
  variable(source: string, name: string, path: string): void
  rule(source: string, path: string): void
  message(source: string, path: string): void
  audit(source: string, path: string): void
}

/** Checks a policy's expressions in their order: each may read the variables before it. */
export function policyExpressions(spec: Fields, errors: FieldError[]): PolicyExpressions {
  const types = typesFor(spec['paramKind'] !== undefined, true)
  const fields = new Map<string, ObjectField>()
  return {
    variable(source, name, path) {
      if (source.trim() === '') return
      const type = typeOf(source, types, path, errors)
      fields.set(name, { name, type: type ?? DYN })
      types.set('variables', { kind: 'object', name: 'kubernetes.variables', fields })
    },
    rule: (source, path) => expect(source, [BOOL], types, path, errors),
    message: (source, path) => expect(source, [STRING], types, path, errors),
    audit: (source, path) => expect(source, [STRING, NULL_TYPE], types, path, errors),
  }
}
