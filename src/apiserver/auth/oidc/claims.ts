/** From a verified token's claims to a user, as an issuer's configuration says: by claims and prefixes, or by expressions. */
import type { Value } from '../../../api/cel/values.ts'
import type { UserInfo } from '../../../api/request.ts'
import type { Claims } from '../jws.ts'
import { TokenError } from '../token-error.ts'
import { type ClaimExpression, claimsVariables, run, userVariables } from './expressions.ts'

/** A claim with what goes before its value, or an expression. */
export type Mapping = { readonly claim: string; readonly prefix: string } | { readonly expression: ClaimExpression }

export type ClaimRule =
  | { readonly claim: string; readonly requiredValue: string }
  | { readonly expression: ClaimExpression; readonly message: string }

export interface ClaimMappings {
  readonly username: Mapping
  readonly groups?: Mapping
  readonly uid?: Mapping
  readonly extra: readonly { readonly key: string; readonly value: ClaimExpression }[]
  readonly claimRules: readonly ClaimRule[]
  readonly userRules: readonly { readonly expression: ClaimExpression; readonly message: string }[]
}

type Variables = () => ReadonlyMap<string, Value>

/** Users made of nothing but expressions still say by which token they came. */
const CREDENTIAL = 'authentication.kubernetes.io/credential-id'

/** @throws TokenError when a rule or a claim's value keeps the token from being believed */
export function userOfClaims(mappings: ClaimMappings, claims: Claims): UserInfo {
  let made: ReadonlyMap<string, Value> | undefined
  const variables: Variables = () => {
    made ??= claimsVariables(claims)
    return made
  }
  const name = usernameOf(mappings.username, claims, variables)
  const groups = mappings.groups === undefined ? [] : groupsOf(mappings.groups, claims, variables)
  const uid = mappings.uid === undefined ? '' : uidOf(mappings.uid, claims, variables)
  const extra: Record<string, readonly string[]> = {}
  for (const { key, value } of mappings.extra) {
    const found = stringsOf(run(value, variables()), `error evaluating extra claim expression: ${value.source}`)
    if (found.length > 0) extra[key] = found
  }
  for (const rule of mappings.claimRules) checkClaims(rule, claims, variables)
  if (typeof claims['jti'] === 'string' && claims['jti'] !== '') extra[CREDENTIAL] = [`JTI=${claims['jti']}`]
  const user: UserInfo = {
    name,
    groups,
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
  checkUser(mappings.userRules, user)
  return user
}

function usernameOf(mapping: Mapping, claims: Claims, variables: Variables): string {
  if ('expression' in mapping) {
    const where = 'oidc: error evaluating username claim expression'
    const name = within(where, () => run(mapping.expression, variables()))
    if (typeof name !== 'string') throw new TokenError(`${where}: username claim expression must return a string`)
    if (name === '') throw new TokenError('oidc: empty username via CEL expression is not allowed')
    return name
  }
  const { claim, prefix } = mapping
  const value = textClaim(claims, claim, `oidc: parse username claims ${JSON.stringify(claim)}`)
  // The issuer has to have verified that the address is the user's (OpenID Connect Core 1.0, section 5.1).
  if (claim === 'email' && own(claims, 'email_verified') !== undefined) {
    const verified = own(claims, 'email_verified')
    if (verified !== null && typeof verified !== 'boolean')
      throw new TokenError(`oidc: parse 'email_verified' claim: ${unmarshal(verified, 'bool')}`)
    if (verified !== true) throw new TokenError('oidc: email not verified')
  }
  return prefix + value
}

function groupsOf(mapping: Mapping, claims: Claims, variables: Variables): readonly string[] {
  if ('expression' in mapping) {
    const where = 'error evaluating group claim expression'
    return stringsOf(
      within(`oidc: ${where}`, () => run(mapping.expression, variables())),
      where,
    )
  }
  const { claim, prefix } = mapping
  const value = own(claims, claim)
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [prefix + value]
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw new TokenError(`oidc: parse groups claim ${JSON.stringify(claim)}: ${unmarshal(value, 'string')}`)
  return value.map((group: string) => prefix + group)
}

function uidOf(mapping: Mapping, claims: Claims, variables: Variables): string {
  if ('claim' in mapping)
    return textClaim(claims, mapping.claim, `oidc: parse uid claim ${JSON.stringify(mapping.claim)}`)
  const where = 'oidc: error evaluating uid claim expression'
  const uid = within(where, () => run(mapping.expression, variables()))
  if (typeof uid !== 'string') throw new TokenError(`${where}: uid claim expression must return a string`)
  return uid
}

function checkClaims(rule: ClaimRule, claims: Claims, variables: Variables): void {
  if ('claim' in rule) {
    const { claim, requiredValue } = rule
    if (own(claims, claim) === undefined) throw new TokenError(`oidc: required claim ${claim} not present in ID token`)
    const value = textClaim(claims, claim, `oidc: parse claim ${claim}`)
    if (value !== requiredValue)
      throw new TokenError(
        `oidc: required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`,
      )
    return
  }
  holds(rule, variables(), 'oidc: error evaluating claim validation expression')
}

function checkUser(rules: ClaimMappings['userRules'], user: UserInfo): void {
  if (rules.length === 0) return
  const variables = userVariables(user)
  for (const rule of rules) holds(rule, variables, 'oidc: error evaluating user info validation rule')
}

function holds(
  { expression, message }: { readonly expression: ClaimExpression; readonly message: string },
  variables: ReadonlyMap<string, Value>,
  where: string,
): void {
  const value = within(where, () => run(expression, variables))
  if (value !== true) throw new TokenError(`${where}: validation expression '${expression.source}' failed: ${message}`)
}

function within<T>(where: string, what: () => T): T {
  try {
    return what()
  } catch (error) {
    throw error instanceof TokenError ? new TokenError(`${where}: ${error.message}`) : error
  }
}

/** A claim that must be there, and text; null is none. */
function textClaim(claims: Claims, claim: string, where: string): string {
  const value = own(claims, claim)
  if (value === undefined) throw new TokenError(`${where}: claim not present`)
  if (value === null) return ''
  if (typeof value !== 'string') throw new TokenError(`${where}: ${unmarshal(value, 'string')}`)
  return value
}

/** A claim may have any name, and only what the token says is one. */
const own = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)

/** Text or a list of texts; what is empty says nothing. */
function stringsOf(value: Value, where: string): readonly string[] {
  if (value === null) return []
  const list = Array.isArray(value) ? (value as readonly Value[]) : [value]
  if (!list.every((item) => typeof item === 'string'))
    throw new TokenError(`oidc: ${where}: expression must return a string or a list of strings`)
  return (list as readonly string[]).filter((item) => item !== '')
}

export function unmarshal(value: unknown, into: string): string {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return `json: cannot unmarshal ${kind} into Go value of type ${into}`
}
