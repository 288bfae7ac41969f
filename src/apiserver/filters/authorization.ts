/** Asks whether the user may do this, or refuses with 403 and Kubernetes' sentence about it. */
import type { Filter, RequestInfo, UserInfo } from '../../api/request.ts'
import { forbidden, internalError, StatusError } from '../../api/status.ts'
import { type Authorizer, attributesOf } from '../auth/authorizer.ts'

export function authorization(authorizer: Authorizer): Filter {
  return (next) => (request) => {
    const { user, info } = request
    if (user === undefined || info === undefined) throw internalError('the request was not authenticated')
    const fieldSelector = request.query.get('fieldSelector') ?? undefined
    const { verdict, reason } = authorizer.authorize(attributesOf(user, info, fieldSelector))
    if (request.audit !== undefined) {
      request.audit.annotations['authorization.k8s.io/decision'] = verdict === 'allow' ? 'allow' : 'forbid'
      request.audit.annotations['authorization.k8s.io/reason'] = reason
    }
    if (verdict !== 'allow') throw refusal(user, info, reason)
    return next(request)
  }
}

/** The 403 for `user`; `reason` is what the authorizers said about it, or ''. */
export function refusal(user: UserInfo, info: RequestInfo, reason: string): StatusError {
  const who = `User ${JSON.stringify(user.name)} cannot ${info.verb}`
  const why = reason === '' ? '' : `: ${reason}`
  if (!info.isResource) {
    return new StatusError(403, 'Forbidden', `forbidden: ${who} path ${JSON.stringify(info.path)}${why}`, {})
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(info.namespace)}`
  const what = `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)} ${where}${why}`
  return forbidden({ group: info.group, resource: info.resource }, info.name, what)
}
