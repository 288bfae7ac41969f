/** The flags of `skiff up` that name what an administrator decides: kube-apiserver's, by their names there. */
import { InvalidArgumentError, Option } from 'commander'

type Flag = readonly [flags: string, description: string, parse?: (text: string, before: never) => unknown]

/** By the headings under which `--help` shows them. */
const FLAGS: Readonly<Record<string, readonly Flag[]>> = {
  'Storage and audit:': [
    ['--encryption-provider-config <file>', 'encrypt what is stored by this EncryptionConfiguration'],
    [
      '--encryption-provider-config-automatic-reload [bool]',
      'read it again when it changes (default: false)',
      booleanArgument,
    ],
    ['--audit-policy-file <file>', 'audit requests by this policy'],
    [
      '--audit-log-path <file>',
      'where the audit log goes, - for standard output (default: audit.log in the data directory)',
    ],
    ['--audit-log-maxsize <mb>', 'rotate the audit log at this size', integerArgument(1, 1_000_000)],
    ['--audit-log-maxbackup <n>', 'rotated audit logs to keep', integerArgument(0, 1_000_000)],
    ['--audit-log-maxage <days>', 'days to keep them', integerArgument(0, 1_000_000)],
    ['--audit-log-compress [bool]', 'compress them with gzip (default: false)', booleanArgument],
    ['--audit-log-mode <mode>', 'blocking, blocking-strict or batch (default: blocking)'],
    ['--audit-webhook-config-file <file>', 'a kubeconfig that says which server audit events are sent to'],
    ['--audit-webhook-mode <mode>', 'batch, blocking or blocking-strict (default: batch)'],
    ['--audit-webhook-initial-backoff <duration>', 'between the first try and the second (default: 10s)'],
    ['--audit-webhook-batch-max-size <n>', 'events sent together (default: 400)', integerArgument(1, 1_000_000)],
    ['--audit-webhook-batch-max-wait <duration>', 'how long events wait for others (default: 30s)'],
    ['--event-ttl <duration>', 'how long Events are kept (default: 1h)'],
  ],
  'Requests:': [
    [
      '--runtime-config <list>',
      'versions and resources of the API to serve, or not: api/beta=true,apps/v1/daemonsets=false',
      list,
    ],
    ['--tracing-config-file <file>', 'where spans of requests go, and of how many, a TracingConfiguration'],
    ['--request-timeout <duration>', 'how long a request may take that is no watch (default: 1m)'],
    [
      '--min-request-timeout <seconds>',
      'after which, up to twice as long, a watch ends that says nothing of its end (default: 1800)',
      integerArgument(0, 2 ** 31),
    ],
    ['--admission-control-config-file <file>', 'what admission plugins go by, an AdmissionConfiguration'],
    [
      '--default-not-ready-toleration-seconds <n>',
      'how long pods stay on a node that is not ready, unless they say otherwise (default: 300)',
      integerArgument(0, 2 ** 31),
    ],
    [
      '--default-unreachable-toleration-seconds <n>',
      'the same of a node that is not reachable (default: 300)',
      integerArgument(0, 2 ** 31),
    ],
    [
      '--enable-garbage-collector [bool]',
      'false: deletes tell no garbage collector by finalizers what is left to it (default: true)',
      booleanArgument,
    ],
    ['--strict-transport-security-directives <list>', 'of the header Strict-Transport-Security (default: none)', list],
    [
      '--cors-allowed-origins <list>',
      'expressions for the origins whose scripts may read answers (default: none)',
      list,
    ],
    ['--disable-http2-serving [bool]', 'true: HTTP/1.1 alone is spoken (default: false)', booleanArgument],
    [
      '--http2-max-streams-per-connection <n>',
      'requests that a connection of HTTP/2 may have at once (default: 250)',
      integerArgument(0, 2 ** 31 - 1),
    ],
    [
      '--goaway-chance <share>',
      'of requests over HTTP/2, after which a client is told to connect anew: up to 0.02 (default: 0)',
      shareArgument,
    ],
  ],
  'Kubelets:': [
    [
      '--kubelet-client-certificate <file>',
      "the certificate kubelets know this server by (default: the cluster's own)",
    ],
    ['--kubelet-client-key <file>', 'its key'],
    ['--kubelet-certificate-authority <file>', "authorities of kubelets' certificates (default: not verified)"],
    [
      '--kubelet-preferred-address-types <list>',
      "of a node's addresses, which is asked (default: InternalIP,ExternalIP,Hostname,InternalDNS,ExternalDNS)",
      list,
    ],
  ],
  'Overload:': [
    [
      '--max-requests-inflight <n>',
      'with the next, requests worked on at once (default: 400)',
      integerArgument(0, 1_000_000),
    ],
    ['--max-mutating-requests-inflight <n>', 'added to the last (default: 200)', integerArgument(0, 1_000_000)],
    [
      '--enable-priority-and-fairness [bool]',
      'false: reads and writes have these limits each, and what comes beyond is refused (default: true)',
      booleanArgument,
    ],
    [
      '--memory-limit <quantity>',
      'before the process uses so much (2Gi) it gives up history, refuses what is asked, then what is created (default: none)',
    ],
  ],
  'Stopping:': [
    [
      '--shutdown-send-retry-after [bool]',
      'a server that stops tells new requests to come again, until those there are have been answered (default: false)',
      booleanArgument,
    ],
    [
      '--shutdown-watch-termination-grace-period <duration>',
      'a server that stops gives watches so long to end in turn (default: none)',
    ],
    [
      '--shutdown-delay-duration <duration>',
      'how long all is served after the signal to stop, while /readyz fails (default: 0s)',
    ],
  ],
  'Services:': [
    [
      '--service-cluster-ip-range <cidrs>',
      "where Services' addresses come from: a range, or one of each family, IPv4 or IPv6 first (default: 10.96.0.0/16)",
    ],
    ['--service-node-port-range <range>', 'where node ports come from (default: 30000-32767)'],
    [
      '--kubernetes-service-node-port <port>',
      'one of them for the kubernetes Service, from when it is made (default: none)',
      integerArgument(0, 65_535),
    ],
  ],
  'Certificates and tokens:': [
    ['--tls-cert-file <file>', "the certificate to serve (default: the cluster's own)"],
    ['--tls-private-key-file <file>', 'its key'],
    [
      '--tls-sni-cert-key <pair>',
      'CERT,KEY or CERT,KEY:NAME,NAME for clients that ask for a server of that name; may be repeated',
      several,
    ],
    ['--tls-min-version <version>', 'VersionTLS12 or VersionTLS13 (default: VersionTLS12)'],
    ['--tls-cipher-suites <list>', "ciphers of TLS 1.2, by Go's names (default: Node's choice)", list],
    ['--client-ca-file <file>', "authorities of client certificates, besides the cluster's own"],
    [
      '--service-account-issuer <url>',
      'the issuer of service account tokens; where repeated, tokens of the others are believed too',
      several,
    ],
    [
      '--service-account-key-file <file>',
      'keys that verify service account tokens; may be repeated (default: the signing key)',
      several,
    ],
    ['--service-account-signing-key-file <file>', "the key that signs tokens (default: the cluster's own)"],
    [
      '--service-account-jwks-uri <url>',
      'where others find the keys that verify tokens, as the issuer says (default: this server)',
    ],
    ['--api-audiences <list>', 'what tokens must be meant for (default: the issuers)', list],
    ['--service-account-max-token-expiration <duration>', 'the longest that tokens are valid (default: no limit)'],
    [
      '--service-account-extend-token-expiration [bool]',
      'tokens of pods whose kubelet may be old live for a year (default: true)',
      booleanArgument,
    ],
    [
      '--proxy-client-cert-file <file>',
      'the certificate that this server shows to aggregated API servers and webhooks',
    ],
    ['--proxy-client-key-file <file>', 'its key'],
  ],
  'Front proxies:': [
    ['--requestheader-client-ca-file <file>', "authorities of front proxies (default: the cluster's own)"],
    ['--requestheader-allowed-names <list>', 'common names of their certificates (default: front-proxy-client)', list],
    ['--requestheader-username-headers <list>', "headers with the user's name (default: X-Remote-User)", list],
    ['--requestheader-uid-headers <list>', "headers with the user's UID (default: none)", list],
    ['--requestheader-group-headers <list>', 'headers with a group each (default: X-Remote-Group)', list],
    [
      '--requestheader-extra-headers-prefix <list>',
      'what begins headers of further properties (default: X-Remote-Extra-)',
      list,
    ],
  ],
  'Authentication:': [
    [
      '--anonymous-auth [bool]',
      'requests without credentials are of system:anonymous, and not refused (default: true)',
      booleanArgument,
    ],
    ['--token-auth-file <file>', 'static tokens: lines of token,user,uid,"group,group"'],
    [
      '--authentication-config <file>',
      'issuers of ID tokens, and anonymous requests, by this AuthenticationConfiguration',
    ],
    [
      '--authentication-token-webhook-config-file <file>',
      'a kubeconfig that says which server to ask about unknown tokens',
    ],
    ['--authentication-token-webhook-version <version>', 'of the reviews it is sent: v1 or v1beta1 (default: v1beta1)'],
    ['--authentication-token-webhook-cache-ttl <duration>', 'how long its answers are kept (default: 2m)'],
  ],
  'OpenID Connect:': [
    ['--oidc-issuer-url <url>', 'believe ID tokens of this OpenID Connect issuer'],
    ['--oidc-client-id <id>', 'the audience its tokens must have'],
    ['--oidc-username-claim <claim>', 'the claim that is the user name (default: sub)'],
    ['--oidc-username-prefix <prefix>', 'goes before user names; - is none (default: the issuer, but for email)'],
    ['--oidc-groups-claim <claim>', 'the claim that holds the groups'],
    ['--oidc-groups-prefix <prefix>', 'goes before group names'],
    ['--oidc-ca-file <file>', "authorities of the issuer's certificate (default: the machine's)"],
    ['--oidc-required-claim <claim=value>', 'a claim every token must have; may be repeated', pairs],
    ['--oidc-signing-algs <list>', 'how tokens may be signed (default: RS256)', list],
  ],
  'Authorization:': [
    [
      '--authorization-config <file>',
      'the authorizers that decide what users may do, by this AuthorizationConfiguration',
    ],
    [
      '--authorization-mode <list>',
      'the authorizers, in order: Node, RBAC, Webhook, ABAC, AlwaysAllow, AlwaysDeny (default: Node,RBAC)',
      modes,
    ],
    ['--authorization-policy-file <file>', 'of the mode ABAC: a policy in each line'],
    ['--authorization-webhook-config-file <file>', 'a kubeconfig that says where the webhook is'],
    ['--authorization-webhook-version <version>', 'of the reviews it is sent: v1 or v1beta1 (default: v1beta1)'],
    ['--authorization-webhook-cache-authorized-ttl <duration>', 'how long what it allows is kept (default: 5m)'],
    [
      '--authorization-webhook-cache-unauthorized-ttl <duration>',
      'how long what it does not allow is kept (default: 30s)',
    ],
  ],
}

/** A file says it all, or flags do. */
const CONFLICTS: Readonly<Record<string, string[]>> = {
  authenticationConfig: [
    ...['oidcIssuerUrl', 'oidcClientId', 'oidcUsernameClaim', 'oidcUsernamePrefix', 'oidcGroupsClaim'],
    ...['oidcGroupsPrefix', 'oidcCaFile', 'oidcRequiredClaim', 'oidcSigningAlgs'],
  ],
  authorizationConfig: [
    ...['authorizationMode', 'authorizationWebhookConfigFile', 'authorizationWebhookVersion'],
    ...['authorizationWebhookCacheAuthorizedTtl', 'authorizationWebhookCacheUnauthorizedTtl'],
  ],
}

/** For commander. */
export const securityOptions = (): readonly Option[] =>
  Object.entries(FLAGS).flatMap(([heading, flags]) => flags.map((flag) => optionOf(flag).helpGroup(heading)))

function optionOf([flags, description, parse]: Flag): Option {
  const option = new Option(flags, description)
  option.conflicts(CONFLICTS[option.attributeName()] ?? [])
  return parse === undefined ? option : option.argParser(parse as (text: string, before: unknown) => unknown)
}

export function integerArgument(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`must be a number from ${least} to ${most}.`)
    }
    return value
  }
}

function shareArgument(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('must be a number.')
  return value
}

/** A switch as Go's flags write it. Without a value commander passes nothing and takes it for true. */
export function booleanArgument(text: string): boolean {
  const value = /^(1|t|true)$/i.test(text) ? true : /^(0|f|false)$/i.test(text) ? false : undefined
  if (value === undefined) throw new InvalidArgumentError('must be true or false.')
  return value
}

/** Names between commas, of every time the flag is given. */
function list(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').filter((name) => name !== '')
  if (names.length === 0) throw new InvalidArgumentError('must name at least one.')
  return [...before, ...names]
}

/** The value of every time the flag is given. */
function several(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

function modes(text: string, before?: readonly string[]): readonly string[] {
  const all = list(text, before)
  const wrong = all.find((name, i) => !MODES.includes(name) || all.indexOf(name) < i)
  if (wrong === undefined) return all
  throw new InvalidArgumentError(
    MODES.includes(wrong) ? `"${wrong}" is there twice.` : `there is no "${wrong}"; use ${MODES.join(', ')}.`,
  )
}

const MODES = ['Node', 'RBAC', 'Webhook', 'ABAC', 'AlwaysAllow', 'AlwaysDeny']

function pairs(text: string, before: readonly string[] = []): readonly string[] {
  if (text.indexOf('=') <= 0) throw new InvalidArgumentError('must be claim=value.')
  return [...before, text]
}
