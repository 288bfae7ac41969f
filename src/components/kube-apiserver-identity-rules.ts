/** What kube-apiserver refuses of the flags that say which users there are, and what they may do. */
import type { FlagsAsked } from './asked-flags.ts'

const OIDC = [
  'issuer-url',
  'client-id',
  'ca-file',
  'username-claim',
  'username-prefix',
  'groups-claim',
  'groups-prefix',
  'signing-algs',
  'required-claim',
].map((name) => `oidc-${name}`)

/** In its order. `needsKeys`: the keys of service accounts have to be named. */
export function authenticationProblems(asked: FlagsAsked, needsKeys: boolean): readonly string[] {
  const hasOidc = OIDC.some(asked.isGiven)
  const problems: string[] = []
  if (asked.text('authentication-config') === '') {
    if (hasOidc && (asked.text('oidc-issuer-url') === '' || asked.text('oidc-client-id') === ''))
      problems.push('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set')
  } else if (hasOidc) problems.push('authentication-config file and oidc-* flags are mutually exclusive')
  return [...problems, ...serviceAccountProblems(asked, needsKeys)]
}

function serviceAccountProblems(asked: FlagsAsked, needsKeys: boolean): readonly string[] {
  const issuers = asked.list('service-account-issuer')
  const hasEndpoint = asked.text('service-account-signing-endpoint') !== ''
  const problems: string[] = []
  if (needsKeys && issuers.length === 0) problems.push('service-account-issuer is a required flag')
  const seen = new Set<string>()
  for (const issuer of issuers) {
    if (issuer === '') {
      problems.push('service-account-issuer should not be an empty string')
      continue
    }
    const why = issuer.includes(':') ? whyNoUrl(issuer) : undefined
    if (why !== undefined)
      problems.push(`service-account-issuer ${JSON.stringify(issuer)} contained a ':' but was not a valid URL: ${why}`)
    if (seen.has(issuer)) problems.push(`service-account-issuer ${JSON.stringify(issuer)} is already specified`)
    seen.add(issuer)
  }
  if (needsKeys && asked.list('service-account-key-file').length === 0 && !hasEndpoint)
    problems.push('either `--service-account-key-file` or `--service-account-signing-endpoint` must be set')
  const uri = asked.text('service-account-jwks-uri')
  const wrong = uri === '' ? undefined : whyNoUrl(uri)
  if (wrong !== undefined) problems.push(`service-account-jwks-uri must be a valid URL: ${wrong}`)
  else if (uri !== '' && !/^https:/i.test(uri))
    problems.push(`service-account-jwks-uri requires https scheme, parsed as: ${uri}`)
  return problems
}

/** What Go's net/url says of it, of what is likely. */
function whyNoUrl(text: string): string | undefined {
  const parse = `parse ${JSON.stringify(text)}:`
  if (text.startsWith(':')) return `${parse} missing protocol scheme`
  if (/^[^/?#]*:/.test(text) && !/^[a-z][-+.\w]*:/i.test(text))
    return `${parse} first path segment in URL cannot contain colon`
  const broken = /%(?![\da-f]{2})(.{0,2})/is.exec(text)
  if (broken !== null) return `${parse} invalid URL escape ${JSON.stringify(broken[0])}`
  const host = /^[a-z][-+.\w]*:\/\/([^/?#]*)/i.exec(text)?.[1] ?? ''
  const space = /[ "<>]/.exec(host)
  return space === null ? undefined : `${parse} invalid character ${JSON.stringify(space[0])} in host name`
}

const MODES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook']
const WEBHOOK_FLAGS = ['config-file', 'version', 'cache-authorized-ttl', 'cache-unauthorized-ttl']

export function authorizationProblems(asked: FlagsAsked): readonly string[] {
  const flags = ['authorization-mode', ...WEBHOOK_FLAGS.map((name) => `authorization-webhook-${name}`)]
  if (asked.text('authorization-config') !== '')
    return flags.some(asked.isGiven)
      ? [
          '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
        ]
      : []
  const modes = asked.list('authorization-mode')
  const policy = asked.text('authorization-policy-file')
  const webhook = asked.text('authorization-webhook-config-file')
  return [
    ...modes.flatMap((mode) => {
      if (!MODES.includes(mode)) return [`authorization-mode ${JSON.stringify(mode)} is not a valid mode`]
      if (mode === 'ABAC' && policy === '') return ["authorization-mode ABAC's authorization policy file not passed"]
      if (mode === 'Webhook' && webhook === '')
        return ["authorization-mode Webhook's authorization config file not passed"]
      return []
    }),
    ...(policy !== '' && !modes.includes('ABAC')
      ? ['cannot specify --authorization-policy-file without mode ABAC']
      : []),
    ...(webhook !== '' && !modes.includes('Webhook')
      ? ['cannot specify --authorization-webhook-config-file without mode Webhook']
      : []),
    ...(new Set(modes).size < modes.length
      ? [
          `authorization-mode [${modes.map((mode) => JSON.stringify(mode)).join(' ')}] has mode specified more than once`,
        ]
      : []),
  ]
}

/** Of the tokens that kube-apiserver signs on request (TokenRequest). */
export function tokenRequestProblems(asked: FlagsAsked, needsKeys: boolean): readonly string[] {
  const hasKey = asked.text('service-account-signing-key-file') !== ''
  const hasEndpoint = asked.text('service-account-signing-endpoint') !== ''
  const [issuer = ''] = asked.list('service-account-issuer')
  if (!needsKeys && !hasKey && asked.list('service-account-key-file').length === 0) return []
  const conflict =
    hasKey && hasEndpoint
      ? [
          'service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time',
        ]
      : []
  if ((hasKey || hasEndpoint) && (issuer !== '' || !needsKeys)) return conflict
  return hasKey || asked.list('service-account-issuer').length > 0 || asked.list('api-audiences').length > 0
    ? [
        '--service-account-signing-key-file, --service-account-issuer, and --api-audiences should be specified together',
        ...conflict,
      ]
    : ['--service-account-signing-key-file and --service-account-issuer are required flags', ...conflict]
}
