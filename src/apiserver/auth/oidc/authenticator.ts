/**
 * oidc: ID tokens of OpenID Connect issuers that an administrator trusts (API concepts: OpenID Connect tokens, structured
 * authentication configuration). Called by the authenticator for tokens that name such an issuer; must never know requests.
 */
import { createHash } from 'node:crypto'
import type { Runtime } from '../../../base/runtime.ts'
import type { TokenAuthenticator } from '../authenticator.ts'
import { type Algorithm, type Claims, type Jws, parseJws } from '../jws.ts'
import { TokenError } from '../token-error.ts'
import { type ClaimMappings, unmarshal, userOfClaims } from './claims.ts'
import { expandGroups } from './distributed.ts'
import { createProvider, type OidcProvider } from './provider.ts'

/** One issuer, as configured: checked, its expressions compiled. */
export interface JwtIssuer {
  readonly url: string
  readonly discoveryUrl?: string
  /** PEM. */
  readonly certificateAuthority?: string
  readonly audiences: readonly string[]
  readonly algorithms: readonly Algorithm[]
  readonly mappings: ClaimMappings
}

/** Tokens of these issuers; it knows no others. */
export interface OidcAuthenticator extends TokenAuthenticator {
  /** Begins to ask the issuers for their keys, so that the first token need not wait. */
  prepare(): void
}

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** As metrics name an issuer. */
const issuerHash = (url: string) => `sha256:${createHash('sha256').update(url).digest('hex')}`

/** A token may be used so long before its nbf, since the issuer's clock and this one differ. */
const NOT_BEFORE_LEEWAY_MS = 60_000

export function createOidcAuthenticator(runtime: Runtime, issuers: readonly JwtIssuer[]): OidcAuthenticator {
  const latency = runtime.metrics?.histogram(
    'apiserver_authentication_jwt_authenticator_latency_seconds',
    'Time to authenticate a token that is not cached, in seconds, by issuer and result.',
    ['jwt_issuer_hash', 'result'],
    SECONDS,
  )
  const byUrl = new Map(issuers.map((issuer) => [issuer.url, { issuer, provider: createProvider(runtime, issuer) }]))
  return {
    prepare: () => {
      for (const { provider } of byUrl.values()) void provider.prepare()
    },
    async authenticate(token) {
      const jws = parseJws(token)
      const named = jws?.claims['iss']
      const found = typeof named === 'string' ? byUrl.get(named) : undefined
      if (jws === undefined || found === undefined) return undefined
      const { issuer, provider } = found
      const { clock } = runtime
      const started = clock.monotonic()
      let result = 'failure'
      try {
        const expiresAt = await verified(jws, issuer, provider, clock.now())
        const claims = await expandGroups(runtime, issuer, jws.claims, async (inner) => {
          await verified(inner, issuer, provider, clock.now())
        })
        const user = userOfClaims(issuer.mappings, claims)
        result = 'success'
        return { user, expiresAt }
      } finally {
        latency?.child(issuerHash(issuer.url), result).observe((clock.monotonic() - started) / 1000)
      }
    },
  }
}

/** When it expires, in milliseconds since the epoch. @throws TokenError */
async function verified(jws: Jws, issuer: JwtIssuer, provider: OidcProvider, now: number): Promise<number> {
  const refused = (why: string) => new TokenError(`oidc: verify token: ${why}`)
  const { claims } = jws
  const audiences = audiencesOf(claims)
  const sub = claims['sub']
  if (sub !== undefined && sub !== null && typeof sub !== 'string')
    throw refused(`oidc: failed to unmarshal claims: ${unmarshal(sub, 'string')}`)
  const [expiry, notBefore] = [timeOf(claims, 'exp'), timeOf(claims, 'nbf')]
  timeOf(claims, 'iat')
  if (!(issuer.algorithms as readonly string[]).includes(jws.algorithm))
    throw refused(
      `oidc: id token signed with unsupported algorithm, expected [${issuer.algorithms.map((name) => JSON.stringify(name)).join(' ')}] got ${JSON.stringify(jws.algorithm)}`,
    )
  if (!(await provider.signed(jws))) throw refused('failed to verify signature: failed to verify id token signature')
  if (!issuer.audiences.some((wanted) => audiences.includes(wanted)))
    throw refused(`oidc: expected audience ${quotedAudiences(issuer.audiences)} got ${quoted(audiences)}`)
  if (expiry === undefined || now >= expiry) throw refused('oidc: token is expired')
  if (notBefore !== undefined && now + NOT_BEFORE_LEEWAY_MS < notBefore)
    throw refused('oidc: current time before the nbf (not before) time')
  return expiry
}

const quoted = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`
const quotedAudiences = (wanted: readonly string[]) =>
  wanted.length === 1 ? JSON.stringify(wanted[0]) : `in ${quoted([...wanted].sort())}`

function audiencesOf(claims: Claims): readonly string[] {
  const aud = claims['aud'] ?? []
  const list: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  const wrong = list.find((item) => typeof item !== 'string')
  if (wrong !== undefined)
    throw new TokenError(`oidc: verify token: oidc: failed to unmarshal claims: ${unmarshal(wrong, 'string')}`)
  return list as readonly string[]
}

/** A NumericDate (RFC 7519) in milliseconds: a number, or text that is one. */
function timeOf(claims: Claims, name: string): number | undefined {
  const value = claims[name]
  if (value === undefined) return undefined
  const seconds = typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !Number.isFinite(seconds))
    throw new TokenError(`oidc: verify token: oidc: failed to unmarshal claims: ${name} is no time`)
  // Beyond what Go's times hold, they turn over: such a token has ended.
  return Math.abs(seconds) > 2 ** 53 ? Number.NEGATIVE_INFINITY : Math.floor(seconds) * 1000
}
