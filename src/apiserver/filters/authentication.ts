/**
 * Finds the user of a request, or refuses with 401. A request without credentials is `system:anonymous` (API concept: anonymous
 * requests), and RBAC's to refuse. A component of this process arrives with its identity and is believed.
 */

import type { ApiResponse, UserInfo } from '../../api/request.ts'
import { StatusError, unauthorized } from '../../api/status.ts'
import { ANONYMOUS_USER } from '../../api/users.ts'
import type { Counted } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Authenticator, ProvenUser } from '../auth/authenticator.ts'
import type { TokenUse } from '../auth/service-account-tokens.ts'
import { warningHeaders } from '../handlers/respond.ts'
import { type Filter, type ServerHandler, type ServerRequest, whenAnswered } from '../request/server-request.ts'

/** `--anonymous-auth`'s default. */
export const everywhere = (_path: string): boolean => true

/** The answer to a request that no authenticator knows. */
export const turnedAway: ServerHandler = () => {
  throw unauthorized()
}

/**
 * `anonymous`: whether a request for this path may come without credentials. Credentials that are wrong are refused on any path.
 * `whenRefused`: answers what is not authenticated, with a 401.
 */
export function authentication(
  runtime: Runtime,
  authenticator: Authenticator,
  anonymous: (path: string) => boolean = everywhere,
  whenRefused: ServerHandler = turnedAway,
): Filter {
  const log = runtime.log.named('authentication')
  const { machineClock: clock } = runtime
  const count = authenticationMetrics(runtime)
  return (next) => {
    const refused = (request: ServerRequest, error: unknown, started: number) => {
      log.info(2, 'unable to authenticate the request', { reason: String(error) })
      count('error', clock.monotonic() - started)
      return whenRefused(request)
    }
    const pass = (request: ServerRequest, proven: ProvenUser | undefined, started: number) => {
      const known = proven?.user ?? (anonymous(request.info?.path ?? request.path) ? ANONYMOUS_USER : undefined)
      count(known === undefined ? 'failure' : 'success', clock.monotonic() - started, known)
      if (known === undefined) return whenRefused(request)
      const asked = { ...request, user: known }
      return proven?.use === undefined ? next(asked) : withUse(next, asked, proven.use)
    }
    return (request) => {
      // Only the HTTP room sets `connection`, and it never sets `user`.
      if (request.connection === undefined) {
        if (request.user === undefined) throw unauthorized()
        return next(request)
      }
      const started = clock.monotonic()
      let found: ReturnType<Authenticator['authenticate']>
      try {
        found = authenticator.authenticate(request)
      } catch (error) {
        return refused(request, error, started)
      }
      if (!(found instanceof Promise)) return pass(request, found, started)
      return found.then(
        (proven) => pass(request, proven, started),
        (error: unknown) => refused(request, error, started),
      )
    }
  }
}

/** Warnings stand before those of what is done. */
function withUse(next: ServerHandler, request: ServerRequest, { annotations, warnings }: TokenUse) {
  if (request.served !== undefined) request.served.proof = annotations
  if (warnings.length === 0) return next(request)
  const { headers } = warningHeaders(warnings)
  return whenAnswered(
    next,
    request,
    (response): ApiResponse => ({
      ...response,
      headers: {
        ...response.headers,
        warning: [headers?.['warning'] ?? [], response.headers?.['warning'] ?? []].flat(),
      },
    }),
    (error): never => {
      if (error instanceof StatusError) error.warnings = [...warnings, ...(error.warnings ?? [])]
      throw error
    },
  )
}

type Result = 'success' | 'failure' | 'error'
/** Seconds, doubling: those of kube-apiserver. */
const SECONDS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i)
/** Users with a label of their own; other names must not fill the memory. */
const LABELLED = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default'])

function authenticationMetrics({ metrics }: Runtime): (result: Result, ms: number, user?: UserInfo) => void {
  if (metrics === undefined) return () => {}
  const attempts = metrics.counter('authentication_attempts', 'Authentication attempts by result.', ['result'])
  const durations = metrics.histogram(
    'authentication_duration_seconds',
    'Time to authenticate, in seconds, by result.',
    ['result'],
    SECONDS,
  )
  const users = metrics.counter('authenticated_user_requests', 'Authenticated requests by user name.', ['username'])
  const of = (result: Result) => ({ attempts: attempts.child(result), duration: durations.child(result) })
  const results = { success: of('success'), failure: of('failure'), error: of('error') }
  const byUser = new WeakMap<UserInfo, Counted>()
  return (result, ms, user) => {
    const series = results[result]
    series.attempts.add()
    series.duration.observe(ms / 1000)
    if (user === undefined) return
    let counted = byUser.get(user)
    if (counted === undefined) {
      const { name } = user
      counted = users.child(LABELLED.has(name) ? name : name.includes('@') ? 'email_id' : 'other')
      byUser.set(user, counted)
    }
    counted.add()
  }
}
