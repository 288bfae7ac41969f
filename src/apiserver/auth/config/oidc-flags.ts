/** The --oidc-* flags of kube-apiserver: one issuer, said in the form that AuthenticationConfiguration has for many. */
import { ALGORITHMS, type Algorithm } from '../jws.ts'
import {
  type AuthenticationConfiguration,
  type AuthenticationDocument,
  type AuthenticationParseOptions,
  authenticationConfigurationOf,
} from './authentication.ts'
import { ConfigurationError } from './document.ts'

/** Named after the flags. */
export interface OidcFlags {
  readonly oidcIssuerUrl?: string
  readonly oidcClientId?: string
  /** Default: sub. */
  readonly oidcUsernameClaim?: string
  /** Default: the issuer and '#', for every claim but email; '-' is none. */
  readonly oidcUsernamePrefix?: string
  readonly oidcGroupsClaim?: string
  readonly oidcGroupsPrefix?: string
  /** A file of authorities (PEM). Default: those of the machine. */
  readonly oidcCaFile?: string
  /** `claim=value`, each of which a token must have. */
  readonly oidcRequiredClaim?: readonly string[]
  /** Default: RS256. */
  readonly oidcSigningAlgs?: readonly string[]
}

/** undefined when none of the flags is set. `ca`: the text of the authorities' file. @throws ConfigurationError */
export function oidcConfiguration(
  flags: OidcFlags,
  ca: string | undefined,
  options: AuthenticationParseOptions,
): AuthenticationConfiguration | undefined {
  const { oidcIssuerUrl: url = '', oidcClientId: client = '' } = flags
  if (!Object.entries(flags).some(([name, value]) => name.startsWith('oidc') && value !== undefined)) return undefined
  if (url === '' || client === '')
    throw new ConfigurationError(
      'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set',
    )
  const algorithms = flags.oidcSigningAlgs ?? ['RS256']
  const unknown = algorithms.find((name) => !(ALGORITHMS as readonly string[]).includes(name))
  if (unknown !== undefined) throw new ConfigurationError(`oidc: unsupported signing alg: ${JSON.stringify(unknown)}`)
  const { oidcUsernameClaim: username = 'sub', oidcGroupsClaim: groups = '' } = flags
  const issuer = { url, audiences: [client], ...(ca === undefined ? {} : { certificateAuthority: ca }) }
  const document: AuthenticationDocument = {
    jwt: [
      {
        issuer,
        claimMappings: {
          username: { claim: username, prefix: usernamePrefix(flags.oidcUsernamePrefix ?? '', username, url) },
          ...(groups === '' ? {} : { groups: { claim: groups, prefix: flags.oidcGroupsPrefix ?? '' } }),
        },
        claimValidationRules: (flags.oidcRequiredClaim ?? []).map(requiredClaim),
      },
    ],
  }
  return authenticationConfigurationOf(document, options, algorithms as readonly Algorithm[])
}

function usernamePrefix(prefix: string, claim: string, url: string): string {
  if (prefix === '-') return ''
  // A user name of one issuer must not be taken for one of another issuer or of the cluster. An email address needs no prefix: it means the same everywhere.
  return prefix === '' && claim !== 'email' ? `${url}#` : prefix
}

function requiredClaim(pair: string) {
  const equals = pair.indexOf('=')
  if (equals <= 0) throw new ConfigurationError(`--oidc-required-claim ${pair}: malformed pair, expect claim=value`)
  return { claim: pair.slice(0, equals), requiredValue: pair.slice(equals + 1) }
}
