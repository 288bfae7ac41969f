/**
 * auth: the user of a request (authenticators) and what it may do (authorizers). Called by the filters and by the review
 * handlers; reads the cluster's state from the API server's own caches; must never know HTTP.
 */
import type { RequestInfo, UserInfo } from '../../api/request.ts'

export interface Attributes {
  readonly user: UserInfo
  readonly verb: string
  /** Resource requests: the fields below; others: `path`. */
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
  /** A list's, watch's or deletecollection's selectors as sent, where they were. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

/**
 * `reason` is shown to the sender in a refusal, and in SubjectAccessReview's status. `error`: what went wrong while deciding;
 * a user that was not allowed because of it is told so instead of being refused.
 */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion'
  readonly reason: string
  readonly error?: string
}

export interface Authorizer {
  /** A promise only where a webhook is asked. Never rejects. */
  authorize(attributes: Attributes): Decision | Promise<Decision>
}

/** One of several: as an AuthorizationConfiguration names it. */
export interface AuthorizationMode {
  readonly type: 'ABAC' | 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC' | 'Webhook'
  readonly name: string
  readonly authorizer: Authorizer
}

export const noOpinion: Decision = { verdict: 'no opinion', reason: '' }

interface Told {
  readonly reasons: string[]
  readonly errors: string[]
}

/**
 * Asks in order; the first that allows or denies decides. Reasons of those without an opinion add up, each with the name of its authorizer.
 * `onDecision` is told which one decided.
 */
export function unionAuthorizer(
  modes: readonly AuthorizationMode[],
  onDecision: (mode: AuthorizationMode, allowed: boolean) => void = () => {},
): Authorizer {
  const settled = (mode: AuthorizationMode, decision: Decision, told: Told): Decision | undefined => {
    if (decision.verdict !== 'no opinion') {
      onDecision(mode, decision.verdict === 'allow')
      return decision
    }
    if (decision.reason !== '') told.reasons.push(`${mode.name}: ${decision.reason}`)
    if (decision.error !== undefined) told.errors.push(decision.error)
    return undefined
  }
  const askFrom = (first: number, attributes: Attributes, told: Told): Decision | Promise<Decision> => {
    for (let i = first; i < modes.length; i++) {
      const mode = modes[i] as AuthorizationMode
      const answer = mode.authorizer.authorize(attributes)
      if (answer instanceof Promise)
        return answer.then((decision) => settled(mode, decision, told) ?? askFrom(i + 1, attributes, told))
      const decision = settled(mode, answer, told)
      if (decision !== undefined) return decision
    }
    const { reasons, errors } = told
    if (reasons.length === 0 && errors.length === 0) return noOpinion
    const decision: Decision = { verdict: 'no opinion', reason: reasons.join('\n') }
    return errors.length === 0
      ? decision
      : { ...decision, error: errors.length === 1 ? `${errors[0]}` : `[${errors.join(', ')}]` }
  }
  return { authorize: (attributes) => askFrom(0, attributes, { reasons: [], errors: [] }) }
}

/** system:masters may do anything, whatever the other authorizers say. */
export function withSuperusers(authorizer: Authorizer): Authorizer {
  const allowed: Decision = { verdict: 'allow', reason: '' }
  return {
    authorize: (attributes) =>
      attributes.user.groups.includes('system:masters') ? allowed : authorizer.authorize(attributes),
  }
}

/** Verbs about many objects: only there selectors narrow what is asked for. */
const SELECTING = new Set(['list', 'watch', 'deletecollection'])

/** `query`: the request's; its selectors count where the verb is about many objects. */
export function attributesOf(user: UserInfo, info: RequestInfo, query: URLSearchParams): Attributes {
  const selecting = query.size > 0 && info.isResource && SELECTING.has(info.verb)
  const fieldSelector = selecting ? query.get('fieldSelector') : null
  const labelSelector = selecting ? query.get('labelSelector') : null
  return {
    user,
    verb: info.verb,
    isResource: info.isResource,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    path: info.path,
    ...(fieldSelector ? { fieldSelector } : {}),
    ...(labelSelector ? { labelSelector } : {}),
  }
}
