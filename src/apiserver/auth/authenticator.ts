/**
 * The user of a request: the one a front proxy names, client certificate, then bearer token: one of this server's, or one that
 * an issuer or a webhook vouches for. Called by the authentication filter and by TokenReview. What is found is kept, bounded: what a
 * token proves for a short time, what a certificate names until others take its place. So a hot client costs a look-up.
 */

import type { ApiRequest, ConnectionInfo, UserInfo } from '../../api/request.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { createLruMap } from '../../base/lru.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type FrontProxies, namedBy } from './front-proxies.ts'
import type { ServiceAccountTokens, TokenUse, VerifiedToken } from './service-account-tokens.ts'
import { TokenError, UnknownTokenError } from './token-error.ts'
import { webSocketToken } from './websocket-token.ts'
import { type CertificateIdentity, certificateIdentity, certifiedBy } from './x509.ts'

/** What the credentials of a request proved. */
export interface ProvenUser {
  readonly user: UserInfo
  /** What is told of the token's use to each request that brings it. */
  readonly use?: TokenUse | undefined
}

export interface Authenticator {
  /**
   * undefined: the request carries no credentials.
   * @throws when it carries something, and nothing of it is to be believed
   */
  authenticate(request: ApiRequest): ProvenUser | undefined | Promise<ProvenUser>
  /** The user of `token`, for these audiences. @throws TokenError */
  authenticateToken(token: string, audiences?: readonly string[]): Promise<VerifiedToken>
  /** Forgets what tokens have proved: what is believed has changed. */
  forget(): void
}

/** A source of tokens, which knows its own. */
export interface TokenAuthenticator {
  /**
   * undefined: it knows nothing of the token. Without `audiences` the token is for this API server.
   * @throws TokenError when it knows the token, and it is not to be believed
   */
  authenticate(token: string, audiences?: readonly string[]): Promise<VouchedToken | undefined>
}

/** Without `audiences` the token says nothing of them: it is for this API server. */
export type VouchedToken = Omit<VerifiedToken, 'audiences'> & { readonly audiences?: readonly string[] }

export interface AuthenticatorOptions {
  /** A front proxy speaks for others, by a certificate of these authorities. */
  readonly frontProxies?: FrontProxies
  /** PEM of the authorities whose certificates name users. Default: of every certificate that the transport has verified. */
  readonly clientCas?: string
  readonly serviceAccounts: ServiceAccountTokens
  /** Tokens of other kinds: static ones, bootstrap tokens. Cheap: asked for every token that is not a service account's. */
  readonly otherToken?: (token: string) => UserInfo | undefined
  /** Asked in order for a token that is not of this cluster: issuers, a webhook. */
  readonly others?: readonly TokenAuthenticator[]
}

const HOUR = 3600
const DAY = 24 * HOUR
const REMAINING_SECONDS = [
  ...[0, HOUR / 2, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY],
  ...[30 * DAY, 90 * DAY, 180 * DAY, 360 * DAY],
]
/** As long as kube-apiserver keeps a token's success. */
const TOKEN_MS = 10_000
const TOKENS = 4096
const CERTIFICATES = 1024
/** Longer ones are looked at each time: what is kept is bounded by number and length. */
const LONGEST_KEPT = 16 * 1024
const AUTHENTICATED = 'system:authenticated'

export function createAuthenticator(runtime: Runtime, options: AuthenticatorOptions): Authenticator {
  const { clock } = runtime
  const connections = new WeakMap<ConnectionInfo, Peer | null>()
  /** By the certificate's bytes: a client opens many connections, and the chain was verified for each of them. */
  const certificates = createLruMap<string, Peer | null>(CERTIFICATES)
  const { frontProxies } = options
  const isFrontProxy = frontProxies === undefined ? () => false : certifiedBy(frontProxies.ca)
  const isClient = options.clientCas === undefined ? () => true : certifiedBy(options.clientCas)
  const tokens = createLruMap<string, ProvenUser & { readonly until: number }>(TOKENS)
  /** Rises when what is believed changes: what was looked at before is not kept. */
  let generation = 0
  const requests = runtime.metrics?.counter(
    'authentication_token_cache_request_total',
    'Tokens looked up among those that proved something lately.',
    ['status'],
  )
  const remaining = runtime.metrics
    ?.histogram(
      'apiserver_client_certificate_expiration_seconds',
      'Seconds that the certificates of requests are still valid.',
      [],
      REMAINING_SECONDS,
    )
    .child()
  const looked = { hit: requests?.child('hit'), miss: requests?.child('miss') }
  const inFlight = new Map<string, Promise<ProvenUser>>()
  const vouchers: readonly TokenAuthenticator[] = [
    { authenticate: (token, audiences) => options.serviceAccounts.verify(token, audiences) },
    ...(options.others ?? []),
  ]

  /** @throws when the certificate proves no user */
  function ofCertificate(connection: ConnectionInfo, request: ApiRequest): ProvenUser | undefined {
    if (connection.certificateError !== undefined) throw new Error(connection.certificateError)
    const { peerCertificate } = connection
    if (peerCertificate === undefined) return undefined
    const found = getOrInsertComputed(connections, connection, () => peerOf(peerCertificate, connection.peerIssuers))
    if (found === null) return undefined
    const now = clock.now()
    if (now > found.validTo || now < found.validFrom) throw new Error('the client certificate is not valid now')
    remaining?.observe((found.validTo - now) / 1000)
    if (found.isProxy && frontProxies !== undefined) {
      try {
        return { user: authenticated(namedBy(frontProxies, found.user, request)) }
      } catch (error) {
        // An authority may be both: then the certificate still names a user.
        if (!found.isUser) throw error
      }
    }
    if (!found.isUser) throw new Error('the client certificate is of no authority that certifies users')
    return found
  }

  /** null: it names no user. */
  function peerOf(certificate: Uint8Array, issuers: ConnectionInfo['peerIssuers']): Peer | null {
    const { buffer, byteOffset, byteLength } = certificate
    const key = Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
    let found = certificates.get(key)
    if (found === undefined) {
      const identity = certificateIdentity(certificate)
      const isProxy = isFrontProxy(certificate, issuers)
      const isUser = isClient(certificate, issuers)
      found = identity === undefined ? null : { ...identity, user: authenticated(identity.user), isProxy, isUser }
      // Without the certificates between, which a resumed connection lacks, it may seem to be of no authority.
      if (key.length > LONGEST_KEPT || (!isProxy && !isUser)) return found
      certificates.set(key, found)
    }
    return found
  }

  async function authenticateToken(token: string, audiences?: readonly string[]): Promise<VerifiedToken> {
    const other = options.otherToken?.(token)
    if (other !== undefined) return forThisServer({ user: other, expiresAt: Number.POSITIVE_INFINITY }, audiences)
    const errors: TokenError[] = []
    for (const vouching of vouchers) {
      try {
        const verified = await vouching.authenticate(token, audiences)
        if (verified !== undefined) return forThisServer(verified, audiences)
      } catch (error) {
        if (!(error instanceof TokenError)) throw error
        errors.push(error)
      }
    }
    const [first = new UnknownTokenError()] = errors
    throw errors.length > 1 ? new TokenError(errors.map(({ message }) => message).join(', ')) : first
  }

  /** A token without audiences is for this server. */
  function forThisServer(found: VouchedToken, wanted?: readonly string[]): VerifiedToken {
    const user = authenticated(found.user)
    if (found.audiences !== undefined) return { ...found, user, audiences: found.audiences }
    const { apiAudiences } = options.serviceAccounts
    const audiences = wanted === undefined ? apiAudiences : wanted.filter((name) => apiAudiences.includes(name))
    if (audiences.length === 0) throw new UnknownTokenError()
    return { ...found, user, audiences }
  }

  async function ofNewToken(token: string): Promise<ProvenUser> {
    const before = generation
    const { user, expiresAt, use } = await authenticateToken(token)
    const proven = { user, use, until: Math.min(expiresAt, clock.now() + TOKEN_MS) }
    if (generation === before && token.length <= LONGEST_KEPT) tokens.set(token, proven)
    return proven
  }

  /** A token that many requests bring at once is looked at once: looking may mean to ask a webhook. */
  function ofUnknownToken(token: string): Promise<ProvenUser> {
    let looking = inFlight.get(token)
    if (looking === undefined) {
      const mine = ofNewToken(token).finally(() => {
        if (inFlight.get(token) === mine) inFlight.delete(token)
      })
      looking = mine
      inFlight.set(token, looking)
    }
    return looking
  }

  return {
    authenticateToken,
    authenticate: (request) => {
      const { connection } = request
      let unproved: unknown
      try {
        const proven = connection === undefined ? undefined : ofCertificate(connection, request)
        if (proven !== undefined) return proven
      } catch (error) {
        // What one credential does not prove another may: only a request without any that holds is refused.
        unproved = error
      }
      const token = bearerToken(request.headers['authorization']) ?? webSocketToken(request)
      if (token === undefined) {
        if (unproved !== undefined) throw unproved
        return undefined
      }
      const known = tokens.get(token)
      if (known !== undefined) {
        if (clock.now() < known.until) {
          looked.hit?.add()
          return known
        }
        tokens.delete(token)
      }
      looked.miss?.add()
      return ofUnknownToken(token)
    },
    forget: () => {
      generation++
      tokens.clear()
      inFlight.clear()
    },
  }
}

interface Peer extends CertificateIdentity, ProvenUser {
  readonly isProxy: boolean
  readonly isUser: boolean
}

function authenticated(user: UserInfo): UserInfo {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] }
}

/** The token of `Authorization: Bearer <token>`, whatever follows it; undefined for other schemes. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const [scheme, token] = header.trim().split(' ', 2)
  return scheme?.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}
