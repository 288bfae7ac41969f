/**
 * What an issuer says about itself (OpenID Connect Discovery 1.0): where its keys are, and the keys. Asked for when they are
 * first needed and again when a token's signature is by none of the known keys; never more than a few times in a row, so that
 * forged tokens cannot make this server attack an issuer. Tokens that wait share one request.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import type { JsonObject } from '../../../api/object.ts'
import { asObject, asText } from '../../../api/unchecked.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { fetchDocument } from '../../../http/fetch.ts'
import { type Jws, verifies } from '../jws.ts'
import { TokenError } from '../token-error.ts'

export interface OidcProvider {
  /** Asks for discovery, where that has not been answered yet. Resolves whatever comes of it. */
  prepare(): Promise<void>
  /** Whether one of the issuer's keys signed it. @throws TokenError when the issuer cannot be asked */
  signed(jws: Jws): Promise<boolean>
}

export interface ProviderOptions {
  /** The `iss` of its tokens. */
  readonly url: string
  readonly discoveryUrl?: string
  /** PEM; without it the authorities of the machine. */
  readonly certificateAuthority?: string
}

interface PublishedKey {
  readonly keyId: string
  readonly key: KeyObject
}

const FETCH_MS = 10_000
/** Generous: an issuer has a handful of keys, of less than a kilobyte each. */
const MAX_BYTES = 1024 * 1024
const MAX_KEYS = 100
/** Verifying costs time with the cube of a modulus' length. */
const MAX_MODULUS_BITS = 8192
/** So many requests for keys may follow on each other; one more is allowed every so often. */
const BURST = 10
const REFILL_MS = 1000
/** kube-apiserver tries every ten seconds; a token that comes is reason to try sooner. */
const RETRY_MS = 1000

export function createProvider(runtime: Runtime, options: ProviderOptions): OidcProvider {
  const { machineClock: clock } = runtime
  const log = runtime.log.named('oidc')
  const ca = options.certificateAuthority
  let jwksUrl: string | undefined
  let known: readonly PublishedKey[] = []
  let discovering: Promise<void> | undefined
  let fetching: Promise<void> | undefined
  let notBefore = Number.NEGATIVE_INFINITY
  let allowed = BURST
  let refilled = clock.monotonic()

  async function get(
    url: string,
  ): Promise<{ readonly status: number; readonly contentType: string; readonly text: string }> {
    const timeout = new AbortController()
    const timer = clock.setTimer(FETCH_MS, 'issuer', () =>
      timeout.abort(new Error('the issuer did not answer in time')),
    )
    try {
      return await fetchDocument(url, {
        maxBytes: MAX_BYTES,
        signal: timeout.signal,
        ...(ca === undefined ? {} : { ca }),
      })
    } catch (error) {
      // Aborted while the body came, the stream says only that it was.
      throw timeout.signal.aborted ? timeout.signal.reason : error
    } finally {
      timer.cancel()
    }
  }

  async function discover(): Promise<void> {
    const from = options.discoveryUrl ?? `${options.url.replace(/\/$/, '')}/.well-known/openid-configuration`
    try {
      const { status, text } = await get(from)
      if (status !== 200) throw new Error(`the issuer answered ${status}`)
      const { issuer, jwks_uri: uri } = objectOf(text)
      if (options.discoveryUrl === undefined && issuer !== options.url)
        throw new Error(`the issuer says it is ${JSON.stringify(issuer)}`)
      if (typeof uri !== 'string' || uri === '') throw new Error('the issuer names no jwks_uri')
      if (new URL(uri).protocol !== 'https:') throw new Error(`the issuer's keys are not under https: ${uri}`)
      jwksUrl = uri
    } catch (error) {
      notBefore = clock.monotonic() + RETRY_MS
      log.error('discovery failed', error, { issuer: options.url })
    }
  }

  function prepare(): Promise<void> {
    if (jwksUrl !== undefined || (discovering === undefined && clock.monotonic() < notBefore)) return Promise.resolve()
    discovering ??= discover().finally(() => {
      discovering = undefined
    })
    return discovering
  }

  async function fetchKeys(url: string): Promise<void> {
    const { status, contentType, text } = await get(url)
    if (status !== 200) throw new Error(`get keys failed: ${status}`)
    const { keys } = objectOf(text)
    if (keys !== undefined && !Array.isArray(keys))
      throw new Error(`failed to decode keys: got Content-Type = ${contentType}`)
    known = (keys ?? []).slice(0, MAX_KEYS).map(asObject).flatMap(publishedKey)
  }

  /** false: the issuer has been asked too often just now. */
  function mayAsk(): boolean {
    const now = clock.monotonic()
    const more = Math.floor((now - refilled) / REFILL_MS)
    if (more > 0) {
      allowed = Math.min(BURST, allowed + more)
      refilled += more * REFILL_MS
    }
    if (allowed === 0) return false
    allowed--
    return true
  }

  const signedByKnown = (jws: Jws) =>
    known.some(({ keyId, key }) => (jws.keyId === '' || keyId === jws.keyId) && verifies(jws, key))

  return {
    prepare,
    async signed(jws) {
      if (jws.unusable) return false
      if (jwksUrl === undefined) {
        await prepare()
        if (jwksUrl === undefined) throw new TokenError('oidc: authenticator not initialized')
      }
      if (signedByKnown(jws)) return true
      if (fetching === undefined) {
        if (!mayAsk()) return false
        fetching = fetchKeys(jwksUrl).finally(() => {
          fetching = undefined
        })
      }
      try {
        await fetching
      } catch (error) {
        throw new TokenError(
          `oidc: verify token: failed to verify signature: fetching keys oidc: ${error instanceof Error ? error.message : error}`,
        )
      }
      return signedByKnown(jws)
    },
  }
}

/** @throws Error when `text` is no object of JSON */
function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('the issuer sent no JSON object')
  return value as JsonObject
}

/** A JWK that is no public key, or is too weak, is passed over. */
function publishedKey(jwk: JsonObject): readonly PublishedKey[] {
  const { kty } = jwk
  if (kty !== 'RSA' && kty !== 'EC') return []
  const parts = (kty === 'RSA' ? ['n', 'e'] : ['crv', 'x', 'y']).map((name) => [name, asText(jwk[name])])
  try {
    const key = createPublicKey({ key: { kty, ...Object.fromEntries(parts) }, format: 'jwk' })
    if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_MODULUS_BITS) return []
    return [{ keyId: asText(jwk['kid']), key }]
  } catch {
    return []
  }
}
