import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAuthenticationConfiguration } from './authentication.ts'
import { oidcConfiguration } from './oidc-flags.ts'

const options = { disallowedIssuers: ['https://kubernetes.default.svc'] }
const document = (jwt: unknown, more: object = {}) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt,
  ...more,
})
const issuer = (more: object = {}) => ({ url: 'https://a.example.com', audiences: ['x'], ...more })
const username = { claim: 'sub', prefix: '' }
const entry = (more: object = {}, issuerMore: object = {}, mappings: object = {}) => ({
  issuer: issuer(issuerMore),
  claimMappings: { username, ...mappings },
  ...more,
})
const ofIssuer = (more: object) => document([entry({}, more)])
const ofMappings = (more: object) => document([entry({}, {}, more)])
const extra = (...keys: readonly string[]) =>
  ofMappings({ extra: keys.map((key) => ({ key, valueExpression: 'claims.x' })) })
const claimRules = (...rules: readonly object[]) => document([entry({ claimValidationRules: rules })])

const parsed = (value: unknown) =>
  parseAuthenticationConfiguration(typeof value === 'string' ? value : JSON.stringify(value), options)

// As kube-apiserver v1.37 says of the same files, as far as it does not name Go's types.
const refused: Readonly<Record<string, readonly [file: unknown, why: string | RegExp]>> = {
  'an empty file': ['', 'empty config data'],
  'what is no YAML': ['a: [', /^yaml: line 1: did not find expected node content/],
  'another kind': [
    { ...document([]), kind: 'Foo' },
    /^no kind "Foo" is registered for version "apiserver.config.k8s.io\/v1"/,
  ],
  'another version': [
    { ...document([]), apiVersion: 'apiserver.config.k8s.io/v9' },
    /^no kind "AuthenticationConfiguration"/,
  ],
  'no kind': [{ jwt: [] }, `Object 'Kind' is missing in '{"jwt":[]}'`],
  'an unknown field': [document([entry({ foo: 1 })]), 'strict decoding error: unknown field "jwt[0].foo"'],
  'a prototype as a field': [
    `{"__proto__":{},"kind":"AuthenticationConfiguration","apiVersion":"apiserver.config.k8s.io/v1"}`,
    /unknown field "__proto__"/,
  ],
  'a field that is there twice': [
    'apiVersion: apiserver.config.k8s.io/v1\nkind: a\nkind: AuthenticationConfiguration\n',
    /^strict decoding error: yaml: unmarshal errors: line 3: key "kind" already set in map$/,
  ],
  'text for a list': [
    ofIssuer({ audiences: 'x' }),
    'json: cannot unmarshal string into Go struct field Issuer.jwt.issuer.audiences of type []string',
  ],
  'no URL': [ofIssuer({ url: '' }), 'jwt[0].issuer.url: Required value'],
  'plain text': [
    ofIssuer({ url: 'http://a' }),
    'jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https',
  ],
  'a password': [
    ofIssuer({ url: 'https://u:p@a' }),
    'jwt[0].issuer.url: Invalid value: "https://u:p@a": URL must not contain a username or password',
  ],
  'a query': [
    ofIssuer({ url: 'https://a?x' }),
    'jwt[0].issuer.url: Invalid value: "https://a?x": URL must not contain a query',
  ],
  'a fragment': [
    ofIssuer({ url: 'https://a#x' }),
    'jwt[0].issuer.url: Invalid value: "https://a#x": URL must not contain a fragment',
  ],
  'the issuer of service accounts': [
    ofIssuer({ url: 'https://kubernetes.default.svc' }),
    /URL must not overlap with disallowed issuers: \[https:\/\/kubernetes.default.svc\]/,
  ],
  'one issuer twice': [document([entry(), entry()]), 'jwt[1].issuer.url: Duplicate value: "https://a.example.com"'],
  'a discovery URL that is the issuer': [
    ofIssuer({ discoveryURL: 'https://a.example.com/' }),
    'jwt[0].issuer.discoveryURL: Invalid value: "https://a.example.com/": discoveryURL must be different from URL',
  ],
  'a discovery URL with more': [
    ofIssuer({ discoveryURL: 'https://b?x#y' }),
    '[jwt[0].issuer.discoveryURL: Invalid value: "https://b?x#y": URL must not contain a query, jwt[0].issuer.discoveryURL: Invalid value: "https://b?x#y": URL must not contain a fragment]',
  ],
  'no audience': [
    ofIssuer({ audiences: [] }),
    'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required',
  ],
  'an empty audience': [ofIssuer({ audiences: [''] }), 'jwt[0].issuer.audiences[0]: Required value'],
  'an audience twice': [
    ofIssuer({ audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' }),
    'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
  ],
  'several audiences without a policy': [
    ofIssuer({ audiences: ['a', 'b'] }),
    'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
  ],
  'an unknown policy': [
    ofIssuer({ audienceMatchPolicy: 'All' }),
    'jwt[0].issuer.audienceMatchPolicy: Invalid value: "All": audienceMatchPolicy must be empty or MatchAny for single audience',
  ],
  'an authority that is none': [
    ofIssuer({ certificateAuthority: 'x' }),
    'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
  ],
  'an egress selector': [
    ofIssuer({ egressSelectorType: 'foo' }),
    'jwt[0].issuer.egressSelectorType: Invalid value: "foo": egress selector must be either controlplane or cluster',
  ],
  'no user name': [
    document([{ issuer: issuer() }]),
    'jwt[0].claimMappings.username: Required value: claim or expression is required',
  ],
  'no prefix': [
    ofMappings({ username: { claim: 'sub' } }),
    'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
  ],
  'a claim and an expression': [
    ofMappings({ username: { claim: 'sub', expression: 'claims.sub' } }),
    `jwt[0].claimMappings.username: Invalid value: "": claim and expression can't both be set`,
  ],
  'an expression with a prefix': [
    ofMappings({ groups: { expression: 'claims.g', prefix: 'a' } }),
    'jwt[0].claimMappings.groups.prefix: Invalid value: "a": may not be specified when expression is set',
  ],
  'an expression that is none': [
    ofMappings({ username: { expression: 'claims.' } }),
    /^jwt\[0\].claimMappings.username.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8: Syntax error/,
  ],
  'an unknown variable': [
    ofMappings({ username: { expression: 'user.username' } }),
    /compilation failed: ERROR: <input>:1:1: undeclared reference to 'user'/,
  ],
  'an address nobody verified': [
    ofMappings({ username: { expression: 'claims.email' } }),
    /^jwt\[0\].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in /,
  ],
  'an address nobody verified, by its key': [
    ofMappings({ username: { expression: "claims['email']" } }),
    /claims.email_verified must be used in /,
  ],
  'an extra key without a domain': [
    extra('foo'),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  'an extra key with capitals': [
    extra('a.b/C'),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "a.b/C": must be lowercase',
  ],
  "an extra key of Kubernetes'": [
    extra('x.kubernetes.io/c'),
    'jwt[0].claimMappings.extra[0].key: Invalid value: "x.kubernetes.io/c": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
  ],
  'an extra key twice': [extra('a.b/c', 'a.b/c'), 'jwt[0].claimMappings.extra[1].key: Duplicate value: "a.b/c"'],
  'a rule about nothing': [
    claimRules({}),
    'jwt[0].claimValidationRules[0]: Required value: claim or expression is required',
  ],
  'a rule about both': [
    claimRules({ claim: 'a', expression: 'true' }),
    `jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can't both be set`,
  ],
  'a claim twice': [
    claimRules({ claim: 'a', requiredValue: 'b' }, { claim: 'a' }),
    'jwt[0].claimValidationRules[1].claim: Duplicate value: "a"',
  ],
  'a message for a claim': [
    claimRules({ claim: 'a', message: 'm' }),
    'jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set',
  ],
  'a rule that is no bool': [
    claimRules({ expression: 'claims.x', requiredValue: 'a' }),
    '[jwt[0].claimValidationRules[0].requiredValue: Invalid value: "a": may not be specified when expression is set, jwt[0].claimValidationRules[0].expression: Invalid value: "claims.x": must evaluate to bool]',
  ],
  'a user rule without an expression': [
    document([entry({ userValidationRules: [{}] })]),
    'jwt[0].userValidationRules[0].expression: Required value',
  ],
  'a user rule about what users have not': [
    document([entry({ userValidationRules: [{ expression: 'user.foo' }] })]),
    /compilation failed: ERROR: <input>:1:5: undefined field 'foo'/,
  ],
  'conditions of nobody': [
    document([], { anonymous: { enabled: false, conditions: [{ path: '/healthz' }] } }),
    'anonymous.conditions: Invalid value: [{"Path":"/healthz"}]: enabled should be set to true when conditions are defined',
  ],
  'too many issuers': [
    document(Array.from({ length: 65 }, (_, i) => entry({}, { url: `https://a${i}` }))),
    'jwt: Too many: 65: must have at most 64 items',
  ],
}

for (const [what, [file, why]] of Object.entries(refused))
  test(`an authentication configuration is refused in one line: ${what}`, () => {
    assert.throws(
      () => parsed(file),
      ({ message }: Error) => {
        if (typeof why === 'string') assert.equal(message, why)
        else assert.match(message, why)
        assert.ok(!message.includes('\n'))
        return true
      },
    )
  })

for (const [what, file] of Object.entries<unknown>({
  'nothing at all': { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' },
  'an expression of any type for a name': ofMappings({ username: { expression: '1' } }),
  'a verified address': ofMappings({ username: { expression: 'claims.email_verified ? claims.email : ""' } }),
  'an address verified by a rule': document([
    entry(
      { claimValidationRules: [{ expression: 'claims.email_verified == true' }] },
      {},
      { username: { expression: 'claims.email' } },
    ),
  ]),
  'groups of which only the prefix is said': ofMappings({ groups: { prefix: 'g' } }),
}))
  test(`an authentication configuration is taken: ${what}`, () => {
    assert.ok(parsed(file))
  })

test('anonymous requests are allowed where the file says so', () => {
  const { anonymous } = parsed(document([], { anonymous: { enabled: true, conditions: [{ path: '/livez' }] } }))
  assert.deepEqual(anonymous, { enabled: true, paths: ['/livez'] })
  assert.equal(parsed(document([])).anonymous, undefined)
})

const flags = { oidcIssuerUrl: 'https://a.example.com', oidcClientId: 'x' }

test('flags: names carry their issuer, but addresses; a dash is no prefix', () => {
  const prefixOf = (more: object) => {
    const found = oidcConfiguration({ ...flags, ...more }, undefined, options)?.issuers[0]?.mappings.username
    return found !== undefined && 'prefix' in found ? found.prefix : undefined
  }
  assert.equal(prefixOf({}), 'https://a.example.com#')
  assert.equal(prefixOf({ oidcUsernameClaim: 'email' }), '')
  assert.equal(prefixOf({ oidcUsernamePrefix: '-' }), '')
  assert.equal(prefixOf({ oidcUsernamePrefix: 'oidc:' }), 'oidc:')
})

test('flags: what is missing or wrong is told as kube-apiserver tells it', () => {
  const why = (given: object) => {
    try {
      oidcConfiguration(given, undefined, options)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  const together = 'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set'
  assert.equal(why({}), '')
  assert.equal(why({ oidcClientId: 'x' }), together)
  assert.equal(why({ oidcUsernameClaim: 'email' }), together)
  assert.equal(why({ ...flags, oidcSigningAlgs: ['HS256'] }), 'oidc: unsupported signing alg: "HS256"')
  assert.equal(
    why({ ...flags, oidcIssuerUrl: 'http://a' }),
    'jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https',
  )
  assert.match(why({ ...flags, oidcRequiredClaim: ['a'] }), /malformed pair/)
})
