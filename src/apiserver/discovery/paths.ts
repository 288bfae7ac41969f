/** The root document: every path that is no single object, sorted. Served at / and /index.html. */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Scheme } from '../../api/scheme/resource.ts'
import type { HealthCheck } from '../../http/health-pages.ts'
import { servedGroups } from './groups.ts'

const FIXED = [
  '/.well-known/openid-configuration',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/',
  '/flagz',
  '/healthz',
  '/livez',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/readyz',
  '/statusz',
  '/version',
]

export function pathsResponse(
  request: ApiRequest,
  scheme: Scheme,
  checks: readonly HealthCheck[],
): ApiResponse | undefined {
  if (request.path !== '/' && request.path !== '/index.html') return undefined
  const paths = [...FIXED]
  for (const { name, versions } of servedGroups(scheme))
    paths.push(`/apis/${name}`, ...versions.map((version) => `/apis/${name}/${version}`))
  for (const endpoint of ['healthz', 'livez', 'readyz'] as const)
    for (const check of checks)
      if (check.endpoints === undefined || check.endpoints.includes(endpoint)) paths.push(`/${endpoint}/${check.name}`)
  return {
    kind: 'bytes',
    status: 200,
    contentType: 'application/json',
    bytes: [Buffer.from(JSON.stringify({ paths: paths.sort() }, null, 2))],
  }
}
