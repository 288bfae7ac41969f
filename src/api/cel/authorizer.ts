/**
 * The authorizer library of Kubernetes' CEL: `authorizer.group('apps').resource('deployments').namespace('x').check('get')`.
 * A value carries the question as it is put together; who answers comes with the first of them.
 */
import { define, method } from './functions.ts'
import { BOOL, DYN, STRING } from './types.ts'
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

export type Answer = (question: AuthorizerQuestion) => { readonly allowed: boolean; readonly reason: string }

interface Asked {
  readonly answer: Answer
  readonly question: AuthorizerQuestion
}

const AUTHORIZER = 'kubernetes.authorization.Authorizer'
const CHECK = 'kubernetes.authorization.ResourceCheck'
const DECISION = 'kubernetes.authorization.Decision'

const nothing: AuthorizerQuestion = {
  verb: '',
  path: '',
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
}

/** The variable `authorizer`. */
export const authorizerValue = (answer: Answer): Value =>
  new Opaque(AUTHORIZER, { answer, question: nothing }, AUTHORIZER)

const set = (field: keyof AuthorizerQuestion) =>
  method([DYN, STRING], DYN, (on: Opaque, value: string) => {
    const { answer, question } = asked(on)
    return new Opaque(CHECK, { answer, question: { ...question, [field]: value } }, CHECK)
  })

function asked(value: unknown): Asked {
  if (value instanceof Opaque && (value.type === AUTHORIZER || value.type === CHECK)) return value.data as Asked
  throw new CelError('no such overload')
}

function decision(value: unknown): { allowed: boolean; reason: string } {
  if (value instanceof Opaque && value.type === DECISION) return value.data
  throw new CelError('no such overload')
}

export const authorizerFunctions = define({
  group: [set('group')],
  resource: [set('resource')],
  subresource: [set('subresource')],
  namespace: [set('namespace')],
  name: [set('name')],
  path: [set('path')],
  serviceAccount: [
    method([DYN, STRING, STRING], DYN, (on: Opaque, namespace: string, name: string) => {
      const { answer, question } = asked(on)
      return new Opaque(
        AUTHORIZER,
        { answer, question: { ...question, serviceAccount: { namespace, name } } },
        AUTHORIZER,
      )
    }),
  ],
  check: [
    method([DYN, STRING], DYN, (on: Opaque, verb: string) => {
      const { answer, question } = asked(on)
      return new Opaque(DECISION, answer({ ...question, verb }), DECISION)
    }),
  ],
  allowed: [method([DYN], BOOL, (on: Opaque) => decision(on).allowed)],
  reason: [method([DYN], STRING, (on: Opaque) => decision(on).reason)],
  errored: [method([DYN], BOOL, () => false)],
  error: [method([DYN], STRING, () => '')],
})
