/** Asks whether the user may do this, or refuses with 403 and Kubernetes' sentence about it. */

import type { ApiResponse, RequestInfo, UserInfo } from '../../api/request.ts'
import { forbidden, internalError, StatusError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type Authorizer, attributesOf, type Decision } from '../auth/authorizer.ts'
import { plainTextError } from '../request/plain-text-error.ts'
import type { AuditRecord } from '../request/served.ts'
import type { Filter, ServerRequest } from '../request/server-request.ts'

const DECISION = 'authorization.k8s.io/decision'
const REASON = 'authorization.k8s.io/reason'

export function authorization(authorizer: Authorizer, runtime?: Pick<Runtime, 'machineClock' | 'metrics'>): Filter {
  const count = decisionMetrics(runtime)
  return (next) => (request) => {
    const { user, info } = request
    if (user === undefined || info === undefined) throw internalError('the request was not authenticated')
    const began = count.now()
    const answer = authorizer.authorize(attributesOf(user, info, request.query))
    const goOn = (decision: Decision): ApiResponse | Promise<ApiResponse> => {
      annotate(request.served?.audit, decision)
      count.decided(decision, began)
      if (decision.verdict === 'allow') return next(request)
      if (decision.error !== undefined) return undecided(request, decision.error)
      throw refusal(user, info, decision.reason)
    }
    return answer instanceof Promise ? answer.then(goOn) : goOn(answer)
  }
}

const RESULTS = { allow: 'allowed', deny: 'denied', 'no opinion': 'no-opinion' } as const
/** Seconds, doubling: those of kube-apiserver. */
const SECONDS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i)

function decisionMetrics(runtime: Pick<Runtime, 'machineClock' | 'metrics'> | undefined) {
  if (runtime?.metrics === undefined) return { now: () => 0, decided: () => {} }
  const { machineClock: clock, metrics } = runtime
  const attempts = metrics.counter('authorization_attempts_total', 'Authorization attempts by result.', ['result'])
  const durations = metrics.histogram(
    'authorization_duration_seconds',
    'Time to authorize, in seconds, by result.',
    ['result'],
    SECONDS,
  )
  const of = (result: string) => ({ attempts: attempts.child(result), duration: durations.child(result) })
  const allowed = of(RESULTS.allow)
  return {
    now: () => clock.monotonic(),
    decided({ verdict, error }: Decision, began: number) {
      const series = verdict === 'allow' ? allowed : of(error === undefined ? RESULTS[verdict] : 'error')
      series.attempts.add()
      series.duration.observe((clock.monotonic() - began) / 1000)
    },
  }
}

function annotate(audit: AuditRecord | undefined, { verdict, reason, error }: Decision): void {
  if (audit === undefined) return
  if (verdict !== 'allow' && error !== undefined) {
    audit.annotations[REASON] = 'internal error'
    return
  }
  audit.annotations[DECISION] = verdict === 'allow' ? 'allow' : 'forbid'
  audit.annotations[REASON] = reason
}

/** No authorizer could say whether it is allowed: a 500, over a wire in kube-apiserver's plain text. */
function undecided(request: ServerRequest, why: string): ApiResponse {
  if (request.connection === undefined) throw internalError(new Error(why))
  return plainTextError(request, why)
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
