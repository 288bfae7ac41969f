/**
 * auth: who a request's sender is (authenticators) and what it may do (authorizers). Called by the filters and by the review
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
  /** A list's, watch's or deletecollection's field selector as sent, where one was. */
  readonly fieldSelector?: string
}

/** `reason` is shown to the sender in a refusal, and in SubjectAccessReview's status. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion'
  readonly reason: string
}

export interface Authorizer {
  authorize(attributes: Attributes): Decision
}

export const noOpinion: Decision = { verdict: 'no opinion', reason: '' }

/** Asks in order; the first that allows or denies decides. Reasons of those without an opinion add up. */
export function union(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes) => {
      const reasons: string[] = []
      for (const authorizer of authorizers) {
        const decision = authorizer.authorize(attributes)
        if (decision.verdict !== 'no opinion') return decision
        if (decision.reason !== '') reasons.push(decision.reason)
      }
      return { verdict: 'no opinion', reason: reasons.join('\n') }
    },
  }
}

/** system:masters may do anything, whatever the roles say. */
export const superusers: Authorizer = {
  authorize: ({ user }) => (user.groups.includes('system:masters') ? { verdict: 'allow', reason: '' } : noOpinion),
}

export function attributesOf(user: UserInfo, info: RequestInfo, fieldSelector?: string): Attributes {
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
  }
}
