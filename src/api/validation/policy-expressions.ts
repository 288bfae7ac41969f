/** Whether the expressions of admission policies and match conditions compile, and give what they must. */

import { AUTHORIZER, authorizerFunctions, RESOURCE_CHECK } from '../cel/authorizer.ts'
import { typeCheck } from '../cel/check.ts'
import { wrongPreparation } from '../cel/constants.ts'
import type { Functions } from '../cel/functions.ts'
import { CelSyntaxError, printIssues } from '../cel/issues.ts'
import { allFunctions } from '../cel/libraries.ts'
import { JSON_PATCHES, mutationTypes, OBJECT, withMutationFunctions } from '../cel/mutation.ts'
import { parse, type SyntaxNode } from '../cel/parse.ts'
import {
  BOOL,
  DYN,
  INT,
  listType,
  mapOf,
  type ObjectField,
  printType,
  STRING,
  TIMESTAMP,
  type Type,
} from '../cel/types.ts'
import { type FieldError, invalid } from '../errors/field-errors.ts'
import type { Fields } from '../object.ts'

const object = (name: string, fields: Readonly<Record<string, Type>>): Type => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields).map(([field, type]): [string, ObjectField] => [field, { name: field, type }])),
})

const groupVersion = (last: string) =>
  object('kubernetes.GroupVersion', { group: STRING, version: STRING, [last]: STRING })

/** What expressions of admission policies may name, where the types behind the names are not known. */
export const policyVariables: ReadonlyMap<string, Type> = new Map(
  [
    'object',
    'oldObject',
    'request',
    'params',
    'namespaceObject',
    'variables',
    'authorizer',
    'authorizer.requestResource',
  ].map((name) => [name, DYN]),
)

/** What an expression knows of the request: an AdmissionRequest without its objects. */
const REQUEST_TYPE = object('kubernetes.AdmissionRequest', {
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
    groups: listType(STRING),
    extra: mapOf(STRING, listType(STRING)),
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
    finalizers: listType(STRING),
  }),
  spec: object('kubernetes.NamespaceSpec', { finalizers: listType(STRING) }),
  status: object('kubernetes.NamespaceStatus', { phase: STRING }),
})

const REQUEST_NAMES: readonly (readonly [string, Type])[] = [
  ['object', DYN],
  ['oldObject', DYN],
  ['request', REQUEST_TYPE],
]
const AUTHORIZER_NAMES: readonly (readonly [string, Type])[] = [
  ['authorizer', AUTHORIZER],
  ['authorizer.requestResource', RESOURCE_CHECK],
]

let functions: Functions | undefined
let mutating: Functions | undefined

/** What policies may call: everything, and the authorizer. */
export function policyFunctions(): Functions {
  if (functions === undefined) {
    const all = new Map(allFunctions())
    for (const [name, overloads] of authorizerFunctions) all.set(name, [...(all.get(name) ?? []), ...overloads])
    functions = all
  }
  return functions
}

/** What mutating policies may call besides. */
export function mutatingFunctions(): Functions {
  mutating ??= withMutationFunctions(policyFunctions())
  return mutating
}

/** Types of which a mutation makes objects: its own, and those of its variables. */
export function messageTypes(name: string): (Type & { readonly kind: 'object' }) | undefined {
  return mutationTypes(name) ?? declared.get(name)
}

const declared = new Map<string, Type & { readonly kind: 'object' }>()
declare(REQUEST_TYPE)
declare(NAMESPACE_TYPE)

function declare(type: Type): void {
  if (type.kind !== 'object' || declared.has(type.name)) return
  declared.set(type.name, type)
  for (const field of type.fields.values()) declare(field.type)
}

interface Language {
  readonly functions: Functions
  readonly messages?: typeof messageTypes
}

const plain = (): Language => ({ functions: policyFunctions() })
const makingObjects = (): Language => ({ functions: mutatingFunctions(), messages: messageTypes })

/** Tells what is wrong with an expression that does not compile, or gives something else than it must. */
function expect(
  source: string | undefined,
  wanted: readonly Type[] | undefined,
  variables: ReadonlyMap<string, Type>,
  path: string,
  errors: FieldError[],
  language: Language = plain(),
): Type | undefined {
  if (source === undefined || source.trim() === '') return undefined
  const report = (text: string) => void errors.push(invalid(path, source, text))
  let node: SyntaxNode
  try {
    node = parse(source)
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return report(`compilation failed: ${printIssues(source, [...error.before, error.issue])}`) as undefined
  }
  const checked = typeCheck(node, { variables, ...language })
  const { type, issues, typesRead } = checked
  if (issues.length > 0) return report(`compilation failed: ${printIssues(source, issues)}`) as undefined
  if (wanted !== undefined && !wanted.some((one) => printType(one) === printType(type))) {
    const names = wanted.map(nameOf)
    report(`must evaluate to ${names.length === 1 ? names[0] : `one of [${names.join(' ')}]`} but got ${nameOf(type)}`)
    return undefined
  }
  // Kubernetes cannot take types as values, nor prepare such constants, and says so as if it were to blame.
  const [read] = typesRead
  const wrong = read === undefined ? wrongPreparation(checked) : `reference to undefined type: ${read}`
  if (wrong !== undefined) {
    const message = `Internal error: program instantiation failed: ${wrong}`
    errors.push({ type: 'InternalError', field: path, message })
    return undefined
  }
  return type
}

/** A type by its name in declarations: `null` is a type's value elsewhere. */
function nameOf(type: Type): string {
  switch (type.kind) {
    case 'simple':
      return type.name
    case 'list':
      return `list(${nameOf(type.items)})`
    case 'map':
      return `map(${nameOf(type.key)}, ${nameOf(type.value)})`
    case 'optional':
      return `optional_type(${nameOf(type.of)})`
    default:
      return printType(type) || 'dyn'
  }
}

type Compiler = (source: string, path: string, errors: FieldError[]) => void

/** Match conditions of webhooks: they know neither params nor the namespace. */
export const validateWebhookCondition: Compiler = (source, path, errors) =>
  void expect(source, [BOOL], typesFor({}), path, errors)

/** Match conditions of policies. */
export const conditionCompiler =
  (params: boolean): Compiler =>
  (source, path, errors) =>
    void expect(source, [BOOL], typesFor({ params, namespace: true }), path, errors)

interface Known {
  readonly params?: boolean
  readonly namespace?: boolean
  readonly authorizer?: boolean
}

function typesFor({ params = false, namespace = false, authorizer = true }: Known): Map<string, Type> {
  const types = new Map(REQUEST_NAMES)
  if (authorizer) for (const [name, type] of AUTHORIZER_NAMES) types.set(name, type)
  if (namespace) types.set('namespaceObject', NAMESPACE_TYPE)
  if (params) types.set('params', DYN)
  return types
}

/** What is known of the objects that a policy is about, where that is known. */
export interface PolicyTypes {
  readonly object: Type
  readonly params?: Type
}

/**
 * What cel-go would say of a policy's validations for objects of these types; by `fieldRef`. The policy itself compiles:
 * where nothing is known of objects, any field goes.
 */
export function typeIssues(spec: Fields, known: PolicyTypes): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const types = typesFor({ namespace: true })
  types.set('object', known.object)
  types.set('oldObject', known.object)
  if (spec['paramKind'] !== undefined) types.set('params', known.params ?? DYN)
  const fields = new Map<string, ObjectField>()
  types.set('variables', { kind: 'object', name: 'kubernetes.variables', fields })
  for (const { name, expression } of (spec['variables'] ?? []) as readonly Fields[]) {
    const { type, issues } = typeCheck(parse(expression), { variables: types, ...plain() })
    fields.set(name, { name, type: issues.length > 0 ? DYN : type })
  }
  for (const [at, validation] of ((spec['validations'] ?? []) as readonly Fields[]).entries())
    for (const field of ['expression', 'messageExpression']) {
      const source: string = validation[field] ?? ''
      if (source.trim() === '') continue
      const { issues } = typeCheck(parse(source), { variables: types, ...plain() })
      if (issues.length > 0) found.set(`spec.validations[${at}].${field}`, printIssues(source, issues))
    }
  return found
}

export interface PolicyExpressions {
  variable(source: string, name: string, path: string): void
  rule(source: string, path: string): void
  message(source: string, path: string): void
  audit(source: string, path: string): void
  configuration(source: string, path: string): void
  patch(source: string, path: string): void
}

/** Checks a policy's expressions in their order: each may read the variables before it, if there is such a name at all. */
export function policyExpressions(spec: Fields, errors: FieldError[], hasVariables: boolean): PolicyExpressions {
  const params = spec['paramKind'] !== undefined
  const types = typesFor({ params, namespace: true })
  const messageTypes = typesFor({ params, namespace: true, authorizer: false })
  const fields = new Map<string, ObjectField>()
  const variables: Type = { kind: 'object', name: 'kubernetes.variables', fields }
  if (hasVariables) for (const known of [types, messageTypes]) known.set('variables', variables)
  return {
    variable(source, name, path) {
      if (source.trim() === '') return
      fields.set(name, { name, type: expect(source, undefined, types, path, errors) ?? DYN })
    },
    rule: (source, path) => void expect(source, [BOOL], types, path, errors),
    message: (source, path) => void expect(source, [STRING], messageTypes, path, errors),
    audit: (source, path) => void expect(source, [STRING, NULL_TYPE], types, path, errors),
    configuration: (source, path) => void expect(source, [OBJECT], types, path, errors, makingObjects()),
    patch: (source, path) => void expect(source, [JSON_PATCHES], types, path, errors, makingObjects()),
  }
}
