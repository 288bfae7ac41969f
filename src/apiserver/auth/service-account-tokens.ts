/**
 * Bound service account tokens (KEP-1205): minted for TokenRequest, and verified against what they are bound to — a token
 * ends with its service account, and with the Pod, Secret or Node it was bound to. Tokens of the old kind, which a controller
 * keeps in Secrets, end with their Secret.
 */

import type { Secret, ServiceAccount } from '../../api/generated/types.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import { asObject, asTexts } from '../../api/unchecked.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { CacheReads } from '../reads.ts'
import { type Claims, parseJws } from './jws.ts'
import { type JwtKey, signedBy, signJwt, type VerificationKey } from './jwt.ts'
import { TokenError } from './token-error.ts'

export interface TokenSpec {
  readonly audiences: readonly string[]
  /** Seconds the token lives. */
  readonly expirationSeconds: number
  /** Seconds after which its use is worth a warning, for tokens that live longer than was asked for. */
  readonly warnAfterSeconds?: number
  readonly serviceAccount: KubeObject
  readonly pod?: KubeObject
  readonly secret?: KubeObject
  readonly node?: Reference
}

interface Reference {
  readonly name: string
  readonly uid: string | undefined
}

/** How service account tokens are made and known (--service-account-*, --api-audiences). */
export interface ServiceAccountKeys {
  /** Tokens are made in the name of the first; those of the others are believed too. */
  readonly issuers: readonly [string, ...string[]]
  readonly signingKey: JwtKey
  /** A token that one of them verifies is believed. */
  readonly keys: readonly VerificationKey[]
  /** Default: the issuers. */
  readonly apiAudiences?: readonly string[]
}

export interface ServiceAccountTokens {
  readonly issuer: string
  readonly keys: readonly VerificationKey[]
  /** What a token is good for when its request names no audience: this API server. */
  readonly apiAudiences: readonly string[]
  mint(spec: TokenSpec): string
  /**
   * undefined when the token is not one of ours (another authenticator may know it).
   * @throws TokenError when it is, but must not be believed (any more)
   */
  verify(token: string, audiences?: readonly string[]): Promise<VerifiedToken | undefined>
}

export interface VerifiedToken {
  readonly user: UserInfo
  /** Of the audiences asked for, those the token is meant for. */
  readonly audiences: readonly string[]
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly use?: TokenUse
}

/** What each request with a token has besides its user. */
export interface TokenUse {
  /** Of its audit events. */
  readonly annotations: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

const LEGACY_ISSUER = 'kubernetes/serviceaccount'
/** A pod's tokens work this long after its grace period, for what it still has to say while it ends. */
const DELETED_LEEWAY_MS = 60_000
const EXTRA = 'authentication.kubernetes.io'

export function createServiceAccountTokens(
  runtime: Runtime,
  {
    issuers,
    signingKey,
    keys,
    ...options
  }: ServiceAccountKeys & {
    readonly reads: CacheReads
    /** Notes that a token of the old kind was used, by its Secret. */
    readonly legacyTokenUse?: (secret: KubeObject) => Promise<void>
  },
): ServiceAccountTokens {
  const { reads } = options
  const counts = legacyCounts(runtime)
  const [issuer] = issuers
  const apiAudiences = options.apiAudiences ?? issuers
  return {
    issuer,
    keys,
    apiAudiences,
    mint: (spec) => signJwt(signingKey, claimsOf(runtime, issuer, spec)),
    verify: async (token, wanted = apiAudiences) => {
      const jws = parseJws(token)
      if (jws === undefined) return undefined
      const from = jws.claims['iss']
      if (from !== LEGACY_ISSUER && !issuers.some((one) => one === from)) return undefined
      if (!signedBy(keys, jws)) throw new TokenError('go-jose/go-jose: error in cryptographic primitive')
      const { claims } = jws
      const now = runtime.clock.now()
      // One of the old kind is for this server alone, and lives as long as the Secret it is kept in.
      const isLegacy = from === LEGACY_ISSUER
      const expiresAt = isLegacy ? Number.POSITIVE_INFINITY : checkedTimes(claims, now)
      const meant = isLegacy ? apiAudiences : audiencesOf(claims)
      const audiences = wanted.filter((audience) => meant.includes(audience))
      if (audiences.length === 0) {
        throw new TokenError(`token audiences ${quoted(meant)} is invalid for the target audiences ${quoted(wanted)}`)
      }
      if (!isLegacy) return { user: await checkedUser(reads, claims, now), audiences, expiresAt }
      counts('serviceaccount_legacy_tokens_total')
      const { secret, account } = await legacyHolder(reads, token, claims)
      const isListed = isListedBy(account, secret)
      checkInvalidSince(secret, account, () => counts(INVALID_USES))
      counts(isListed ? AUTO_USES : MANUAL_USES)
      await options.legacyTokenUse?.(secret)
      const user = legacyUser(account)
      return { user, audiences, expiresAt, use: legacyUse(user, secret, isListed) }
    },
  }
}

const quoted = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`

function claimsOf(runtime: Runtime, issuer: string, spec: TokenSpec): Claims {
  const now = Math.floor(runtime.clock.now() / 1000)
  const { namespace = '', name = '', uid } = spec.serviceAccount.metadata
  const reference = (object: KubeObject) => ({ name: object.metadata.name, uid: object.metadata.uid })
  return {
    aud: spec.audiences,
    exp: now + spec.expirationSeconds,
    iat: now,
    iss: issuer,
    jti: runtime.random.uuid(),
    'kubernetes.io': {
      namespace,
      ...(spec.node === undefined ? {} : { node: { name: spec.node.name, uid: spec.node.uid } }),
      ...(spec.pod === undefined ? {} : { pod: reference(spec.pod) }),
      ...(spec.secret === undefined ? {} : { secret: reference(spec.secret) }),
      serviceaccount: { name, uid },
      ...(spec.warnAfterSeconds === undefined ? {} : { warnafter: now + spec.warnAfterSeconds }),
    },
    nbf: now,
    sub: `system:serviceaccount:${namespace}:${name}`,
  }
}

function checkedTimes(claims: Claims, nowMs: number): number {
  const { exp, nbf } = claims
  if (typeof exp !== 'number' || nowMs >= exp * 1000) throw new TokenError('service account token has expired')
  if (typeof nbf === 'number' && nowMs < nbf * 1000 - 1000) {
    throw new TokenError('service account token is not valid yet')
  }
  return exp * 1000
}

async function checkedUser(reads: CacheReads, claims: Claims, nowMs: number): Promise<UserInfo> {
  const bound = asObject(claims['kubernetes.io'])
  const { namespace } = bound
  const account = reference(bound['serviceaccount'])
  if (typeof namespace !== 'string' || namespace === '' || account === undefined) {
    throw new TokenError('service account token names no service account')
  }
  if (claims['sub'] !== `system:serviceaccount:${namespace}:${account.name}`) {
    throw new TokenError('service account token names two service accounts')
  }
  await checkBound(reads, nowMs, 'serviceaccounts', namespace, account)
  const extra: Record<string, readonly string[]> = {}
  if (typeof claims['jti'] === 'string' && claims['jti'] !== '')
    extra[`${EXTRA}/credential-id`] = [`JTI=${claims['jti']}`]
  const secret = reference(bound['secret'])
  if (secret !== undefined) await checkBound(reads, nowMs, 'secrets', namespace, secret)
  const pod = reference(bound['pod'])
  const node = reference(bound['node'])
  if (pod !== undefined) {
    await checkBound(reads, nowMs, 'pods', namespace, pod)
    extra[`${EXTRA}/pod-name`] = [pod.name]
    extra[`${EXTRA}/pod-uid`] = [pod.uid ?? '']
  }
  if (node !== undefined) {
    // A pod's token also says where the pod runs, which is no bond: the pod's own end is what counts.
    if (pod === undefined) await checkBound(reads, nowMs, 'nodes', '', node)
    extra[`${EXTRA}/node-name`] = [node.name]
    if (node.uid !== undefined) extra[`${EXTRA}/node-uid`] = [node.uid]
  }
  return {
    name: `system:serviceaccount:${namespace}:${account.name}`,
    ...(account.uid === undefined ? {} : { uid: account.uid }),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  }
}

const LEGACY = 'kubernetes.io/serviceaccount'

const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
const INVALID_USES = 'serviceaccount_invalid_legacy_auto_token_uses_total'
const AUTO_USES = 'serviceaccount_legacy_auto_token_uses_total'
const MANUAL_USES = 'serviceaccount_legacy_manual_token_uses_total'
const LEGACY_COUNTS = {
  serviceaccount_legacy_tokens_total: 'Tokens of the old kind that were looked at.',
  [INVALID_USES]: 'Uses of tokens of the old kind that are marked as invalid.',
  [AUTO_USES]: 'Uses of tokens of the old kind that were made for each account.',
  [MANUAL_USES]: 'Uses of tokens of the old kind that were asked for.',
} as const

function legacyCounts({ metrics }: Runtime): (name: keyof typeof LEGACY_COUNTS) => void {
  const counters = new Map(
    Object.entries(LEGACY_COUNTS).map(([name, help]) => [name, metrics?.counter(name, help).child()]),
  )
  return (name) => counters.get(name)?.add()
}

interface LegacyHolder {
  readonly secret: Secret
  readonly account: ServiceAccount
}

/** The Secret that still holds the token, and the account that it was made for. @throws TokenError */
async function legacyHolder(reads: CacheReads, token: string, claims: Claims): Promise<LegacyHolder> {
  const [namespace, secretName, name, uid] = [
    'namespace',
    'secret.name',
    'service-account.name',
    'service-account.uid',
  ].map((part) => claims[`${LEGACY}/${part}`])
  const invalidated = new TokenError('Token has been invalidated')
  if (typeof namespace !== 'string' || typeof secretName !== 'string' || typeof name !== 'string') throw invalidated
  const find = async (resource: string, own: string) =>
    reads.get('', resource, namespace, own) ?? (await reads.getLive('', resource, namespace, own))
  const secret: Secret | undefined = await find('secrets', secretName)
  const kept: string = secret?.data?.['token'] ?? ''
  if (
    secret === undefined ||
    secret.metadata.deletionTimestamp !== undefined ||
    Buffer.from(kept, 'base64').toString() !== token
  )
    throw invalidated
  const account: ServiceAccount | undefined = await find('serviceaccounts', name)
  if (account === undefined || account.metadata.deletionTimestamp !== undefined || account.metadata.uid !== uid)
    throw invalidated
  return { secret, account }
}

/** The cleaner marks what was not used for long. @throws TokenError */
function checkInvalidSince(secret: Secret, account: ServiceAccount, isInvalid: () => void): void {
  const { namespace, name, labels } = secret.metadata
  if ((labels?.[INVALID_SINCE] ?? '') === '') return
  isInvalid()
  throw new TokenError(
    `the token in secret ${namespace}/${name} for service account ${namespace}/${account.metadata.name} has been marked invalid. ` +
      'Use tokens from the TokenRequest API or manually created secret-based tokens, ' +
      `or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`,
  )
}

const isListedBy = ({ secrets = [] }: ServiceAccount, { metadata }: Secret): boolean =>
  secrets.some(({ name }) => name === metadata.name)

function legacyUser({ metadata: { namespace, name, uid = '' } }: ServiceAccount): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  }
}

function legacyUse(user: UserInfo, { metadata: { name = '' } }: Secret, isListed: boolean): TokenUse {
  const own = `authentication.k8s.io/legacy-token-${isListed ? 'autogenerated' : 'manual'}-secret`
  return {
    annotations: { 'authentication.k8s.io/legacy-token': user.name, [own]: name },
    warnings: isListed ? [LISTED_WARNING] : [],
  }
}

const LISTED_WARNING =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.'

/** From the cache, and from storage when the cache does not know it (a token can be used the moment after it was made). */
async function checkBound(
  reads: CacheReads,
  nowMs: number,
  resource: string,
  namespace: string,
  { name, uid }: Reference,
): Promise<void> {
  const cached = reads.get('', resource, namespace, name)
  const object = cached?.metadata.uid === uid ? cached : await reads.getLive('', resource, namespace, name)
  if (object === undefined && resource === 'serviceaccounts')
    throw new TokenError(`serviceaccounts ${JSON.stringify(name)} not found`)
  const { deletionTimestamp } = object?.metadata ?? {}
  const gone = deletionTimestamp !== undefined && nowMs > Date.parse(deletionTimestamp) + DELETED_LEEWAY_MS
  if (object === undefined || object.metadata.uid !== uid || gone) {
    throw new TokenError('service account token has been invalidated')
  }
}

function reference(value: Json | undefined): Reference | undefined {
  const { name, uid } = asObject(value)
  return typeof name === 'string' && name !== '' ? { name, uid: typeof uid === 'string' ? uid : undefined } : undefined
}

const audiencesOf = ({ aud }: Claims): readonly string[] => (typeof aud === 'string' ? [aud] : asTexts(aud))
