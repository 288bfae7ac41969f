/** The header Strict-Transport-Security of every answer over a wire: browsers are to come by HTTPS alone (RFC 6797). */
import type { ApiResponse } from '../../api/request.ts'
import type { Filter } from '../request/server-request.ts'

export function withStrictTransportSecurity(directives: string): Filter {
  const added = (response: ApiResponse): ApiResponse => ({
    ...response,
    headers: { ...response.headers, 'strict-transport-security': directives },
  })
  return (next) => (request) => {
    const answer = next(request)
    if (request.connection === undefined) return answer
    return answer instanceof Promise ? answer.then(added) : added(answer)
  }
}
