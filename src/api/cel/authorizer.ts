/**
 * The authorizer library of Kubernetes' CEL: `authorizer.group('apps').resource('deployments').namespace('x').check('get')`.
 * A value carries the question as it is put together; what answers comes with the first of them.
 */
import { dns1123Label, dns1123Subdomain } from '../names/name-formats.ts'
import { define, method } from './functions.ts'
import { BOOL, STRING, type Type } from './types.ts'
import { CelError, Opaque, type Value } from './values.ts'

export interface AuthorizerQuestion {
  readonly verb: string
  readonly path: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** Another user than the request's. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
}

export type AuthorizerAnswer = (question: AuthorizerQuestion) => { readonly allowed: boolean; readonly reason: string }

interface Asked {
  readonly answer: AuthorizerAnswer
  readonly question: AuthorizerQuestion
}

const sealed = (name: string): Type & { readonly kind: 'object' } => ({
  kind: 'object',
  name: `kubernetes.authorization.${name}`,
  fields: new Map(),
  sealed: true,
})
export const AUTHORIZER = sealed('Authorizer')
export const RESOURCE_CHECK = sealed('ResourceCheck')
const PATH_CHECK = sealed('PathCheck')
const GROUP_CHECK = sealed('GroupCheck')
const DECISION = sealed('Decision')

const nothing: AuthorizerQuestion = {
  verb: '',
  path: '',
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
}

const opaque = ({ name }: { readonly name: string }, data: unknown): Opaque => new Opaque(name, data, name, null)

/** The variable `authorizer`. */
export const authorizerValue = (answer: AuthorizerAnswer): Value => opaque(AUTHORIZER, { answer, question: nothing })

/** The variable `authorizer.requestResource`: may the user do something with what the request is about? */
export const requestResourceValue = (
  answer: AuthorizerAnswer,
  about: Pick<AuthorizerQuestion, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>,
): Value => opaque(RESOURCE_CHECK, { answer, question: { ...nothing, ...about } })

/** @throws CelError */
function notEmpty(what: string): (value: string) => void {
  return (value) => {
    if (value === '') throw new CelError(`${what} must not be empty`)
  }
}

/** The question with a field more, as the next type. */
const set = (
  on: Type,
  field: keyof AuthorizerQuestion | undefined,
  result: Type & { readonly kind: 'object' },
  judge?: (value: string) => void,
) =>
  method([on, STRING], result, (asked: Opaque, value: string) => {
    judge?.(value)
    const { answer, question } = asked.data as Asked
    return opaque(result, { answer, question: field === undefined ? question : { ...question, [field]: value } })
  })

const checked = (on: Type) =>
  method([on, STRING], DECISION, (asked: Opaque, verb: string) => {
    const { answer, question } = asked.data as Asked
    return opaque(DECISION, answer({ ...question, verb }))
  })

export const authorizerFunctions = define({
  path: [set(AUTHORIZER, 'path', PATH_CHECK, notEmpty('path'))],
  group: [set(AUTHORIZER, 'group', GROUP_CHECK)],
  resource: [set(GROUP_CHECK, 'resource', RESOURCE_CHECK, notEmpty('resource'))],
  subresource: [set(RESOURCE_CHECK, 'subresource', RESOURCE_CHECK)],
  namespace: [set(RESOURCE_CHECK, 'namespace', RESOURCE_CHECK)],
  name: [set(RESOURCE_CHECK, 'name', RESOURCE_CHECK)],
  // No authorizer here looks at selectors: what is allowed is allowed with any.
  fieldSelector: [set(RESOURCE_CHECK, undefined, RESOURCE_CHECK)],
  labelSelector: [set(RESOURCE_CHECK, undefined, RESOURCE_CHECK)],
  serviceAccount: [
    method([AUTHORIZER, STRING, STRING], AUTHORIZER, (asked: Opaque, namespace: string, name: string) => {
      if (dns1123Label(namespace).length > 0) throw new CelError('Invalid service account namespace')
      if (dns1123Subdomain(name).length > 0) throw new CelError('Invalid service account name')
      const { answer, question } = asked.data as Asked
      return opaque(AUTHORIZER, { answer, question: { ...question, serviceAccount: { namespace, name } } })
    }),
  ],
  check: [checked(PATH_CHECK), checked(RESOURCE_CHECK)],
  allowed: [method([DECISION], BOOL, ({ data }: Opaque) => data.allowed)],
  reason: [method([DECISION], STRING, ({ data }: Opaque) => data.reason)],
  errored: [method([DECISION], BOOL, () => false)],
  error: [method([DECISION], STRING, () => '')],
})
