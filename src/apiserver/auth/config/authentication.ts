/** AuthenticationConfiguration: trusted token issuers, how their claims become users, and where requests may be anonymous. */
import { X509Certificate } from 'node:crypto'
import { struct } from '../../../api/configuration/shape.ts'
import { duplicate, type FieldError, invalid, required, tooMany } from '../../../api/errors/field-errors.ts'
import { parseUrl } from '../../../api/objects/url.ts'
import { messageOf } from '../../../base/errors.ts'
import { ALGORITHMS, type Algorithm } from '../jws.ts'
import type { JwtIssuer } from '../oidc/authenticator.ts'
import { claimMappingsOf, MAPPING_SHAPES } from './claim-mappings.ts'
import { DocumentError, type DocumentOf, readDocument, refuse } from './document.ts'

export interface AuthenticationConfiguration {
  readonly issuers: readonly JwtIssuer[]
  /** A request without credentials is system:anonymous: everywhere, or at these paths. undefined: the file does not say. */
  readonly anonymous?: { readonly enabled: boolean; readonly paths?: readonly string[] }
}

const ISSUER = struct('Issuer', {
  url: 'string',
  discoveryURL: 'string',
  certificateAuthority: 'string',
  audiences: ['string'],
  audienceMatchPolicy: { named: 'AudienceMatchPolicyType' },
  egressSelectorType: { named: 'EgressSelectorType' },
})
const SHAPE = struct('AuthenticationConfiguration', {
  jwt: [struct('JWTAuthenticator', { issuer: ISSUER, ...MAPPING_SHAPES })],
  anonymous: struct('AnonymousAuthConfig', {
    enabled: 'bool',
    conditions: [struct('AnonymousAuthCondition', { path: 'string' })],
  }),
})

export type AuthenticationDocument = DocumentOf<typeof SHAPE>
type Issuer = DocumentOf<typeof ISSUER>

const MAX_ISSUERS = 64

export interface AuthenticationParseOptions {
  /** Issuers whose tokens are verified otherwise: that of service accounts. */
  readonly disallowedIssuers: readonly string[]
}

/** A configuration file's text. @throws ConfigurationError in one line, saying what is wrong */
export function parseAuthenticationConfiguration(
  text: string,
  options: AuthenticationParseOptions,
): AuthenticationConfiguration {
  if (text === '') throw new DocumentError('empty config data')
  return authenticationConfigurationOf(readDocument(text, SHAPE), options)
}

/** The same of what was decoded. `algorithms`: those that tokens may be signed with. @throws ConfigurationError */
export function authenticationConfigurationOf(
  document: AuthenticationDocument,
  { disallowedIssuers }: AuthenticationParseOptions,
  algorithms: readonly Algorithm[] = ALGORITHMS,
): AuthenticationConfiguration {
  const errors: FieldError[] = []
  const jwt = document.jwt ?? []
  if (jwt.length > MAX_ISSUERS) refuse([tooMany('jwt', jwt.length, MAX_ISSUERS)])
  const seen = { urls: new Set<string>(), discovery: new Set<string>() }
  const issuers = jwt.map((entry, i): JwtIssuer => {
    const at = `jwt[${i}]`
    const issuer = entry.issuer ?? {}
    checkIssuer(issuer, `${at}.issuer`, seen, disallowedIssuers, errors)
    const mappings = claimMappingsOf(entry, at, errors)
    const { discoveryURL, certificateAuthority } = issuer
    return {
      url: issuer.url ?? '',
      audiences: issuer.audiences ?? [],
      algorithms,
      mappings,
      ...(discoveryURL ? { discoveryUrl: discoveryURL } : {}),
      ...(certificateAuthority ? { certificateAuthority } : {}),
    }
  })
  const anonymous = anonymousOf(document.anonymous, errors)
  refuse(errors)
  return { issuers, ...(anonymous === undefined ? {} : { anonymous }) }
}

function checkIssuer(
  issuer: Issuer,
  at: string,
  seen: { readonly urls: Set<string>; readonly discovery: Set<string> },
  disallowed: readonly string[],
  errors: FieldError[],
): void {
  const url = issuer.url ?? ''
  const urlErrors = url === '' ? [required(`${at}.url`)] : urlProblems(url, `${at}.url`)
  errors.push(...urlErrors)
  if (urlErrors.length === 0 && disallowed.includes(url))
    errors.push(invalid(`${at}.url`, url, `URL must not overlap with disallowed issuers: [${disallowed.join(' ')}]`))
  if (url !== '' && seen.urls.has(url)) errors.push(duplicate(`${at}.url`, url))
  seen.urls.add(url)
  checkDiscovery(issuer.discoveryURL ?? '', url, `${at}.discoveryURL`, seen.discovery, errors)
  checkAudiences(issuer, at, errors)
  const authority = issuer.certificateAuthority ?? ''
  if (authority !== '' && !isCertificate(authority))
    errors.push(
      invalid(`${at}.certificateAuthority`, '<omitted>', 'data does not contain any valid RSA or ECDSA certificates'),
    )
  const egress = issuer.egressSelectorType ?? ''
  if (egress !== '')
    errors.push(
      invalid(
        `${at}.egressSelectorType`,
        egress,
        egress === 'controlplane' || egress === 'cluster'
          ? 'this server reaches every issuer directly: there are no egress selectors'
          : 'egress selector must be either controlplane or cluster',
      ),
    )
}

function urlProblems(text: string, at: string): readonly FieldError[] {
  let scheme: string
  try {
    scheme = parseUrl(text.replace(/#.*/s, ''), false).scheme
  } catch (cause) {
    return [invalid(at, text, `parse ${JSON.stringify(text)}: ${messageOf(cause)}`)]
  }
  const isSecure = scheme === 'https'
  const errors: FieldError[] = isSecure ? [] : [invalid(at, text, 'URL scheme must be https')]
  if (!URL.canParse(text)) return isSecure ? [invalid(at, text, `parse ${JSON.stringify(text)}: it is no URL`)] : errors
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    errors.push(invalid(at, text, 'URL must not contain a username or password'))
  if (url.search !== '') errors.push(invalid(at, text, 'URL must not contain a query'))
  if (url.hash !== '') errors.push(invalid(at, text, 'URL must not contain a fragment'))
  return errors
}

function checkDiscovery(text: string, issuerUrl: string, at: string, seen: Set<string>, errors: FieldError[]): void {
  if (text === '') return
  if (text.replace(/\/$/, '') === issuerUrl.replace(/\/$/, ''))
    errors.push(invalid(at, text, 'discoveryURL must be different from URL'))
  errors.push(...urlProblems(text, at))
  if (seen.has(text)) errors.push(duplicate(at, text))
  seen.add(text)
}

function checkAudiences(issuer: Issuer, at: string, errors: FieldError[]): void {
  const audiences = issuer.audiences ?? []
  const policy = issuer.audienceMatchPolicy ?? ''
  const where = `${at}.audiences`
  if (audiences.length === 0) errors.push(required(where, `at least one ${where} is required`))
  audiences.forEach((audience, i) => {
    if (audience === '') errors.push(required(`${where}[${i}]`))
    else if (audiences.indexOf(audience) < i) errors.push(duplicate(`${where}[${i}]`, audience))
  })
  const policyAt = `${at}.audienceMatchPolicy`
  if (audiences.length > 1 && policy !== 'MatchAny')
    errors.push(invalid(policyAt, policy, 'audienceMatchPolicy must be MatchAny for multiple audiences'))
  else if (audiences.length === 1 && policy !== '' && policy !== 'MatchAny')
    errors.push(invalid(policyAt, policy, 'audienceMatchPolicy must be empty or MatchAny for single audience'))
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}

function anonymousOf(
  anonymous: AuthenticationDocument['anonymous'],
  errors: FieldError[],
): AuthenticationConfiguration['anonymous'] {
  if (anonymous === undefined) return undefined
  const enabled = anonymous.enabled === true
  const conditions = anonymous.conditions ?? []
  const printed = conditions.map(({ path }) => ({ Path: path ?? '' }))
  if (!enabled && conditions.length > 0)
    errors.push(invalid('anonymous.conditions', printed, 'enabled should be set to true when conditions are defined'))
  return { enabled, ...(conditions.length === 0 ? {} : { paths: printed.map(({ Path }) => Path) }) }
}
