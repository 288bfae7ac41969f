/** Asks whether the user may do this, or refuses with 403 and Kubernetes' sentence about it. */
import type { Filter, RequestInfo, UserInfo } from '../../api/request.ts'
import { forbidden, type GroupResource, internalError, StatusError } from '../../api/status.ts'
import type { Authorizer, Decision } from '../auth/authorizer.ts'

export function authorization(authorizer: Authorizer): Filter {
  return (next) => async (request) => {
    const { user, info } = request
    if (user === undefined || info === undefined) throw internalError('the request was not authenticated')
    const answer = authorizer(user, info)
    const decision = answer instanceof Promise ? await answer : answer
    if (decision.decision !== 'Allow') throw refusal(user, info, decision)
    return next(request)
  }
}

/** The 403 for a request that `decision` refused. */
export function refusal(user: UserInfo, info: RequestInfo, { reason }: Decision): StatusError {
  const who = `User ${JSON.stringify(user.name)} cannot ${info.verb}`
  const why = reason === '' ? '' : `: ${reason}`
  if (!info.isResource) {
    return new StatusError(403, 'Forbidden', `forbidden: ${who} path ${JSON.stringify(info.path)}${why}`, {})
  }
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(info.namespace)}`
  const gr: GroupResource = { group: info.group, resource: info.resource }
  const what = `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)} ${where}${why}`
  return forbidden(gr, info.name, what)
}
