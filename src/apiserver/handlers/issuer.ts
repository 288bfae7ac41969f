/** Service account issuer discovery: how others verify this cluster's tokens (KEP-1393). */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { noSuchResource, notAllowed } from '../../api/status.ts'
import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts'
import { requireType } from './negotiate.ts'

/** `keysUrl`: where the keys are found. undefined for any other path. */
function issuerDocument(
  tokens: ServiceAccountTokens,
  keysUrl: string,
  path: string,
): Extract<ApiResponse, { kind: 'bytes' }> | undefined {
  switch (path.replace(/\/$/, '')) {
    case '/.well-known/openid-configuration':
      return document('application/json', {
        issuer: tokens.issuer,
        jwks_uri: keysUrl,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: [...new Set(tokens.keys.map(({ algorithm }) => algorithm))],
      })
    case '/openid/v1/jwks':
      return document('application/jwk-set+json', {
        keys: tokens.keys.map(({ algorithm, keyId, publicKey }) => {
          const { kty, ...numbers } = publicKey.export({ format: 'jwk' })
          return { use: 'sig', kty, kid: keyId, alg: algorithm, ...numbers }
        }),
      })
    default:
      return undefined
  }
}

/** The same for a request, in the one type that each has; nothing where the issuer is no place that could be asked. @throws StatusError 404, 405, 406 */
export function issuerResponse(
  tokens: ServiceAccountTokens,
  keysUrl: string,
  request: ApiRequest,
): ApiResponse | undefined {
  if (!isPlace(tokens.issuer)) return undefined
  if (BEHIND.test(request.path)) throw noSuchResource()
  const answer = issuerDocument(tokens, keysUrl, request.path)
  if (answer === undefined) return undefined
  if (request.method !== 'GET') throw notAllowed()
  requireType(request, answer.contentType)
  return answer
}

/** Below the two documents there is nothing. */
const BEHIND = /^\/(\.well-known\/openid-configuration|openid\/v1\/jwks)\/./

/** By its rules an issuer is an address by https, without a query. */
function isPlace(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false
  const { protocol, search, hash } = new URL(issuer)
  return protocol === 'https:' && search === '' && hash === ''
}

function document(contentType: string, value: object): Extract<ApiResponse, { kind: 'bytes' }> {
  return {
    kind: 'bytes',
    status: 200,
    contentType,
    headers: { 'cache-control': 'public, max-age=3600' },
    bytes: [Buffer.from(JSON.stringify(value))],
  }
}
