/** Finds out who asks, or refuses with 401. A component of this process arrives with its identity and is believed. */
import type { ApiRequest, Filter, UserInfo } from '../../api/request.ts'
import { unauthorized } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Authenticator } from '../auth/authenticator.ts'

const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** `anonymous`: whether who brings nothing may ask for this path; without it, only for health. */
export function authentication(
  runtime: Runtime,
  authenticator: Authenticator,
  anonymous: (path: string) => boolean = isHealth,
): Filter {
  const log = runtime.log.named('authentication')
  const refused = (error: unknown): never => {
    log.info(2, 'unable to authenticate the request', { reason: String(error) })
    throw unauthorized()
  }
  return (next) => {
    const pass = (request: ApiRequest, user: UserInfo | undefined) => {
      if (user !== undefined) return next({ ...request, user })
      if (anonymous(request.path)) return next({ ...request, user: ANONYMOUS })
      throw unauthorized()
    }
    return (request) => {
      // Only the HTTP room sets `connection`, and it never sets `user`.
      if (request.connection === undefined) {
        if (request.user === undefined) throw unauthorized()
        return next(request)
      }
      let found: ReturnType<Authenticator['authenticate']>
      try {
        found = authenticator.authenticate(request)
      } catch (error) {
        return refused(error)
      }
      return found instanceof Promise ? found.catch(refused).then((user) => pass(request, user)) : pass(request, found)
    }
  }
}

/** Health and its single checks are told to anybody who asks; nothing else is. */
export function isHealth(path: string): boolean {
  return /^\/(healthz|livez|readyz)(\/|$)/.test(path)
}
