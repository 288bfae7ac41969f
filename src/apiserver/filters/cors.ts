/**
 * Scripts of other sites (the Fetch standard's CORS protocol), where an administrator allows their origins. Stands before authentication:
 * a browser asks first, by OPTIONS and without credentials, whether it may ask at all.
 */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Filter } from '../request/server-request.ts'

/** `allows`: whether scripts of an origin (`https://a.example:8443`) may read answers. */
export function cors(allows: (origin: string) => boolean): Filter {
  return (next) => (request) => {
    const origin = allowedOrigin(request, allows)
    if (origin === undefined) return next(request)
    const headers = { 'access-control-allow-origin': origin, ...HEADERS }
    if (request.method === 'OPTIONS') return { kind: 'bytes', status: 204, headers, contentType: '', bytes: [] }
    const answer = next(request)
    return answer instanceof Promise ? answer.then(withHeaders(headers)) : withHeaders(headers)(answer)
  }
}

function allowedOrigin({ headers }: ApiRequest, allows: (origin: string) => boolean): string | undefined {
  const { origin } = headers
  return origin === undefined || origin === '' || !allows(origin) ? undefined : origin
}

const withHeaders =
  (headers: Readonly<Record<string, string>>) =>
  (response: ApiResponse): ApiResponse => ({ ...response, headers: { ...response.headers, ...headers } })

const HEADERS = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
}
