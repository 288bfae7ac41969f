/** AuthorizationConfiguration: the authorizers, in order (API concept: authorization configuration file). */
import { struct } from '../../../api/configuration/shape.ts'
import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../api/errors/field-errors.ts'
import { dns1123Subdomain } from '../../../api/names/name-formats.ts'
import { goDurationTextMs } from '../../../base/go-duration.ts'
import type { AuthorizationMode } from '../authorizer.ts'
import type { WebhookMatchCondition } from '../webhook/conditions.ts'
import { compileCondition } from '../webhook/conditions.ts'
import type { ReviewVersion } from '../webhook/review.ts'
import { ConfigurationError, type DocumentOf, readDocument, refuse } from './document.ts'

export type ModeConfiguration =
  | { readonly type: Exclude<AuthorizationMode['type'], 'Webhook'>; readonly name: string }
  | ({ readonly type: 'Webhook'; readonly name: string } & WebhookConfiguration)

export interface WebhookConfiguration {
  readonly timeoutMs: number
  /** 0: not kept. */
  readonly authorizedMs: number
  readonly unauthorizedMs: number
  readonly version: ReviewVersion
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  /** The kubeconfig that says where the webhook is; undefined: as a pod of this cluster finds its API server. */
  readonly kubeConfigFile: string | undefined
  readonly conditions: readonly WebhookMatchCondition[]
}

/** What is wrong with a kubeconfig's path; undefined when nothing is. */
export type FileCheck = (path: string) => string | undefined

const WEBHOOK = struct('WebhookConfiguration', {
  authorizedTTL: 'duration',
  cacheAuthorizedRequests: 'bool',
  unauthorizedTTL: 'duration',
  cacheUnauthorizedRequests: 'bool',
  timeout: 'duration',
  subjectAccessReviewVersion: 'string',
  matchConditionSubjectAccessReviewVersion: 'string',
  failurePolicy: 'string',
  connectionInfo: struct('WebhookConnectionInfo', { type: 'string', kubeConfigFile: 'string' }),
  matchConditions: [struct('WebhookMatchCondition', { expression: 'string' })],
})
const AUTHORIZER = struct('AuthorizerConfiguration', { type: 'string', name: 'string', webhook: WEBHOOK })
const SHAPE = struct('AuthorizationConfiguration', { authorizers: [AUTHORIZER] })

type AuthorizerDocument = DocumentOf<typeof AUTHORIZER>
type WebhookDocument = DocumentOf<typeof WEBHOOK>

const TYPES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook']
const MOST_CONDITIONS = 64
const LONGEST_TIMEOUT_MS = 30_000
/** Defaults of a webhook whose answers are kept. */
export const AUTHORIZED_MS = 5 * 60_000
export const UNAUTHORIZED_MS = 30_000

/** A configuration file's text. @throws ConfigurationError in one line, saying what is wrong */
export function parseAuthorizationConfiguration(text: string, checkFile: FileCheck): readonly ModeConfiguration[] {
  const document = text === '' ? {} : readDocument(text, SHAPE)
  const authorizers = document.authorizers ?? []
  if (authorizers.length === 0) refuse([required('authorizers', 'at least one authorization mode must be defined')])
  const errors: FieldError[] = []
  const seen = { types: new Set<string>(), names: new Set<string>() }
  const modes = authorizers.map((authorizer, i) => modeOf(authorizer, `authorizers[${i}]`, seen, checkFile, errors))
  refuse(errors)
  for (const { type, name } of modes)
    if (type !== 'Webhook' && name !== type.toLowerCase())
      throw new ConfigurationError(`expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`)
  return modes
}

function modeOf(
  { type = '', name = '', webhook }: AuthorizerDocument,
  at: string,
  seen: { readonly types: Set<string>; readonly names: Set<string> },
  checkFile: FileCheck,
  errors: FieldError[],
): ModeConfiguration {
  const problem = typeProblem(type, `${at}.type`, seen.types)
  seen.types.add(type)
  if (problem !== undefined) {
    errors.push(problem)
    return { type: 'AlwaysDeny', name }
  }
  if (name === '') errors.push(required(`${at}.name`))
  else if (seen.names.has(name)) errors.push(duplicate(`${at}.name`, name))
  else
    errors.push(
      ...dns1123Subdomain(name).map((why) => invalid(`${at}.name`, name, `authorizer name is invalid: ${why}`)),
    )
  seen.names.add(name)
  if (type === 'Webhook') {
    if (webhook !== undefined) return { type, name, ...webhookOf(webhook, at, checkFile, errors) }
    errors.push(required(`${at}.webhook`, 'required when type=Webhook'))
  } else if (webhook !== undefined)
    errors.push(invalid(`${at}.webhook`, 'non-null', 'may only be specified when type=Webhook'))
  // With any other type there are errors.
  return { type: type as Exclude<AuthorizationMode['type'], 'Webhook'>, name }
}

/** Of one of no type nothing else is told. */
function typeProblem(type: string, at: string, seen: ReadonlySet<string>): FieldError | undefined {
  if (type === '') return required(at)
  if (!TYPES.includes(type)) return notSupported(at, type, TYPES)
  return type !== 'Webhook' && seen.has(type) ? duplicate(at, type) : undefined
}

function webhookOf(
  webhook: WebhookDocument,
  at: string,
  checkFile: FileCheck,
  errors: FieldError[],
): WebhookConfiguration {
  const { timeout: timeoutMs = 0, subjectAccessReviewVersion: version = '', failurePolicy = '' } = webhook
  if (timeoutMs === 0) errors.push(required(`${at}.timeout`))
  else if (timeoutMs < 0 || timeoutMs > LONGEST_TIMEOUT_MS)
    errors.push(invalid(`${at}.timeout`, goDurationTextMs(timeoutMs), 'must be > 0s and <= 30s'))
  const kept = (
    field: 'authorizedTTL' | 'unauthorizedTTL',
    flag: 'cacheAuthorizedRequests' | 'cacheUnauthorizedRequests',
    fallback: number,
  ): number => {
    const ms = webhook[field] ?? 0
    if (ms < 0) errors.push(invalid(`${at}.${field}`, goDurationTextMs(ms), 'must be > 0s'))
    return webhook[flag] === false ? 0 : ms || fallback
  }
  const authorizedMs = kept('authorizedTTL', 'cacheAuthorizedRequests', AUTHORIZED_MS)
  const unauthorizedMs = kept('unauthorizedTTL', 'cacheUnauthorizedRequests', UNAUTHORIZED_MS)
  oneOf(version, ['v1', 'v1beta1'], `${at}.subjectAccessReviewVersion`, errors)
  const conditions = webhook.matchConditions ?? []
  const conditionVersion = webhook.matchConditionSubjectAccessReviewVersion ?? ''
  const conditionAt = `${at}.matchConditionSubjectAccessReviewVersion`
  if (conditionVersion === '') {
    if (conditions.length > 0) errors.push(required(conditionAt, 'required if match conditions are specified'))
  } else oneOf(conditionVersion, ['v1'], conditionAt, errors)
  oneOf(failurePolicy, ['NoOpinion', 'Deny'], `${at}.failurePolicy`, errors)
  const kubeConfigFile = connectionOf(webhook.connectionInfo ?? {}, `${at}.connectionInfo`, checkFile, errors)
  return {
    timeoutMs,
    authorizedMs,
    unauthorizedMs,
    version: version as ReviewVersion,
    failurePolicy: failurePolicy as WebhookConfiguration['failurePolicy'],
    kubeConfigFile,
    conditions: conditionsOf(conditions, `${at}.matchConditions`, errors),
  }
}

function oneOf(value: string, supported: readonly string[], at: string, errors: FieldError[]): void {
  if (value === '') errors.push(required(at))
  else if (!supported.includes(value)) errors.push(notSupported(at, value, supported))
}

function connectionOf(
  { type = '', kubeConfigFile: file = '' }: NonNullable<WebhookDocument['connectionInfo']>,
  at: string,
  checkFile: FileCheck,
  errors: FieldError[],
): string | undefined {
  switch (type) {
    case 'KubeConfigFile': {
      if (file === '') {
        errors.push(required(`${at}.kubeConfigFile`))
        return undefined
      }
      const problem = checkFile(file)
      if (problem !== undefined) errors.push(invalid(`${at}.kubeConfigFile`, file, problem))
      return file
    }
    case 'InClusterConfig':
      if (file !== '') errors.push(invalid(`${at}.kubeConfigFile`, file, 'can only be set when type=KubeConfigFile'))
      return undefined
    case '':
      errors.push(required(`${at}.type`))
      return undefined
    default:
      errors.push(
        notSupported(`${at}.type`, { Type: type, KubeConfigFile: file || null }, ['InClusterConfig', 'KubeConfigFile']),
      )
      return undefined
  }
}

function conditionsOf(
  list: NonNullable<WebhookDocument['matchConditions']>,
  at: string,
  errors: FieldError[],
): readonly WebhookMatchCondition[] {
  if (list.length > MOST_CONDITIONS) {
    errors.push(tooMany(at, list.length, MOST_CONDITIONS))
    return []
  }
  const seen = new Set<string>()
  return list.flatMap(({ expression = '' }, i) => {
    const where = `${at}[${i}].expression`
    if (expression === '') {
      errors.push(required(where))
      return []
    }
    if (seen.has(expression)) {
      errors.push(duplicate(where, expression))
      return []
    }
    seen.add(expression)
    const made = compileCondition(expression)
    if (!('error' in made)) return [made]
    errors.push(invalid(where, expression, made.error))
    return []
  })
}
