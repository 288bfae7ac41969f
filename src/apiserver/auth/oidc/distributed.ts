/**
 * Groups that a token does not hold but says where to find (OpenID Connect Core 1.0, section 5.6.2, distributed claims):
 * issuers with many groups do so. Only the groups' claim is looked up, over https, from where a verified token points to,
 * and what comes back must be a token of the same issuer, verified as any other.
 */
import type { JsonObject } from '../../../api/object.ts'
import { asObject } from '../../../api/unchecked.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { fetchDocument } from '../../../http/fetch.ts'
import { type Claims, type Jws, parseJws } from '../jws.ts'
import { TokenError } from '../token-error.ts'
import type { JwtIssuer } from './authenticator.ts'

const FETCH_MS = 10_000
const MAX_BYTES = 1024 * 1024

/** The source of a claim that is elsewhere; undefined when it is not. @throws TokenError when a claim's source is none */
function sourceOf(claims: Claims, claim: string): JsonObject | undefined {
  const [names, sources] = [asObject(claims['_claim_names']), asObject(claims['_claim_sources'])]
  for (const source of Object.values(names))
    if (typeof source !== 'string' || !Object.hasOwn(sources, source))
      throw new TokenError('oidc: verify token: oidc: source does not exist')
  if (Object.hasOwn(claims, claim) || !Object.hasOwn(names, claim)) return undefined
  return asObject(sources[names[claim] as string])
}

/** The claims, with the groups where they were elsewhere. @throws TokenError */
export async function expandGroups(
  runtime: Runtime,
  issuer: JwtIssuer,
  claims: Claims,
  verify: (jws: Jws) => Promise<void>,
): Promise<Claims> {
  if (claims['_claim_names'] === undefined) return claims
  const { groups } = issuer.mappings
  const claim = groups !== undefined && 'claim' in groups ? groups.claim : ''
  const source = sourceOf(claims, claim)
  if (source === undefined) return claims
  const failed = (why: string) =>
    new TokenError(
      `oidc: could not expand distributed claims: while getting distributed claim ${JSON.stringify(claim)}: ${why}`,
    )
  const { endpoint, access_token: token } = source
  if (typeof endpoint !== 'string' || endpoint === '') throw failed('the source names no endpoint')
  const timeout = new AbortController()
  const timer = runtime.machineClock.setTimer(FETCH_MS, 'distributed claim', () =>
    timeout.abort(new Error('no answer in time')),
  )
  let text: string
  try {
    const answer = await fetchDocument(endpoint, {
      maxBytes: MAX_BYTES,
      signal: timeout.signal,
      ...(issuer.certificateAuthority === undefined ? {} : { ca: issuer.certificateAuthority }),
      ...(typeof token === 'string' && token !== '' ? { headers: { authorization: `Bearer ${token}` } } : {}),
    })
    if (answer.status !== 200) throw new Error(String(answer.status))
    text = answer.text.trim()
  } catch (error) {
    throw failed(`error while getting distributed claim JWT: ${error instanceof Error ? error.message : error}`)
  } finally {
    timer.cancel()
  }
  const inner = parseJws(text)
  if (inner === undefined || inner.claims['iss'] !== issuer.url) throw failed('it is no token of this issuer')
  await verify(inner)
  if (!Object.hasOwn(inner.claims, claim)) throw failed('the token does not contain it')
  return { ...claims, [claim]: inner.claims[claim] }
}
