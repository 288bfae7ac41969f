/** Asks whether the user may do this, or refuses with 403 and Kubernetes' sentence about it. */
import type { ApiRequest, ApiResponse, Filter, RequestInfo, UserInfo } from '../../api/request.ts'
import { forbidden, internalError, StatusError } from '../../api/status.ts'
import { type Authorizer, attributesOf, type Decision } from '../auth/authorizer.ts'

const DECISION = 'authorization.k8s.io/decision'
const REASON = 'authorization.k8s.io/reason'

export function authorization(authorizer: Authorizer): Filter {
  return (next) => (request) => {
    const { user, info } = request
    if (user === undefined || info === undefined) throw internalError('the request was not authenticated')
    const answer = authorizer.authorize(attributesOf(user, info, request.query))
    const goOn = (decision: Decision): ApiResponse | Promise<ApiResponse> => {
      annotate(request, decision)
      if (decision.verdict === 'allow') return next(request)
      if (decision.error !== undefined) return undecided(request, decision.error)
      throw refusal(user, info, decision.reason)
    }
    return answer instanceof Promise ? answer.then(goOn) : goOn(answer)
  }
}

function annotate({ audit }: ApiRequest, { verdict, reason, error }: Decision): void {
  if (audit === undefined) return
  if (verdict !== 'allow' && error !== undefined) {
    audit.annotations[REASON] = 'internal error'
    return
  }
  audit.annotations[DECISION] = verdict === 'allow' ? 'allow' : 'forbid'
  audit.annotations[REASON] = reason
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Nobody could say whether it is allowed: a 500, over a wire in kube-apiserver's plain text. */
function undecided(request: ApiRequest, why: string): ApiResponse {
  const text = `Internal Server Error: ${JSON.stringify(request.path)}: ${why}`
  if (request.connection === undefined) throw internalError(new Error(why))
  return {
    kind: 'bytes',
    status: 500,
    headers: { 'x-content-type-options': 'nosniff' },
    contentType: 'text/plain; charset=utf-8',
    bytes: [Buffer.from(`${text.replace(/[&<>]/g, (c) => ENTITIES[c] as string)}\n`)],
  }
}

/** The 403 for `user`; `reason` is what the authorizers said about it, or ''. */
export function refusal(user: UserInfo, info: RequestInfo, reason: string): StatusError {
  const error = refused(user, info, reason)
  error.headers = { 'x-content-type-options': 'nosniff' }
  return error
}

function refused(user: UserInfo, info: RequestInfo, reason: string): StatusError {
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
