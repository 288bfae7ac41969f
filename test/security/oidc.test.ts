/** ID tokens of an issuer that the server trusts: who gets in, as whom, and everybody who must not. What is refused, and why,
 * is what a real kube-apiserver v1.37 says of the same tokens. */
import assert from 'node:assert/strict'
import { createHmac, createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startTarget, type Target } from './attacker.ts'
import { authority, type Issuer, publicJwk, signedToken, signingKey, startIssuer } from './issuer.ts'
import { until } from './until.ts'

const ca = authority()
const key = signingKey('RS256', 'first')
const elliptic = signingKey('ES256', 'elliptic')
const foreign = signingKey('RS256', 'first')
const directory = mkdtempSync(join(tmpdir(), 'skiff-oidc-'))
const file = join(directory, 'authentication.json')
let issuer: Issuer
let strict: Issuer
let target: Target

before(async () => {
  issuer = await startIssuer(ca, [key, elliptic])
  strict = await startIssuer(ca, [signingKey('ES384', 'third')])
  writeFileSync(file, JSON.stringify(configuration()))
  target = await startTarget(['--authentication-config', file])
})
after(async () => {
  await target?.stop()
  await issuer?.stop()
  await strict?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const configuration = () => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt: [
    {
      issuer: {
        url: issuer.url,
        audiences: ['skiff', 'other'],
        audienceMatchPolicy: 'MatchAny',
        certificateAuthority: ca.cert,
      },
      claimValidationRules: [
        { claim: 'hd', requiredValue: 'example.com' },
        { expression: "claims.?bad.orValue('') != 'yes'", message: 'bad must not be yes' },
      ],
      claimMappings: {
        username: { claim: 'email', prefix: 'oidc:' },
        groups: { claim: 'groups', prefix: 'g:' },
        uid: { claim: 'sub' },
        extra: [
          { key: 'example.com/team', valueExpression: "claims.?team.orValue('')" },
          { key: 'example.com/number', valueExpression: "has(claims.n) ? string(claims.n) : ''" },
        ],
      },
      userValidationRules: [
        { expression: "!user.username.startsWith('oidc:evil')", message: 'no evil' },
        { expression: "user.groups.all(g, g != 'g:bad')" },
      ],
    },
    {
      issuer: { url: strict.url, audiences: ['skiff'], certificateAuthority: ca.cert },
      claimMappings: {
        username: { expression: 'claims.sub' },
        groups: { expression: 'claims.?groups.orValue([])' },
        uid: { expression: "claims.?uid.orValue('')" },
        extra: [{ key: 'example.com/a', valueExpression: 'claims.a' }],
      },
      userValidationRules: [
        { expression: "!user.username.startsWith('system:')", message: 'the system: prefix is reserved' },
      ],
    },
  ],
})

const seconds = () => Math.floor(Date.now() / 1000)
const believed = { hd: 'example.com', email: 'a@example.com', email_verified: true }
type Claims = Readonly<Record<string, unknown>>
const token = (claims: Claims = {}, options: Parameters<Issuer['token']>[1] = {}) =>
  issuer.token({ ...believed, ...claims }, options)
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const unsigned = (header: Claims, signature = '') =>
  `${encoded(header)}.${encoded({ iss: issuer.url, aud: 'skiff', sub: 'jane', exp: seconds() + 600, ...believed })}.${signature}`

async function review(text: string, audiences?: readonly string[]) {
  const spec = { token: text, ...(audiences === undefined ? {} : { audiences }) }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
  const answer = await target.asAdmin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)
  return JSON.parse(answer.body).status
}

async function whoami(text: string) {
  const answer = await target.attempt({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    token: text,
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
  })
  assert.equal(answer.code, 201, answer.body)
  return JSON.parse(answer.body).status.userInfo
}

const UNSUPPORTED =
  'oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["ES256" "ES384" "ES512" "PS256" "PS384" "PS512" "RS256" "RS384" "RS512"] got'
const BAD_SIGNATURE = 'oidc: verify token: failed to verify signature: failed to verify id token signature'
const UNKNOWN = ''
const FOREIGN_KEY = 'go-jose/go-jose: error in cryptographic primitive'
const notText = (what: string) => `json: cannot unmarshal ${what} into Go value of type string`
const rule = (what: string, source: string, message: string) =>
  `oidc: error evaluating ${what}: validation expression '${source}' failed: ${message}`

// What the token is, how it is made, and what TokenReview says of it after "invalid bearer token".
const hostile: Readonly<Record<string, readonly [make: () => string, why: string | RegExp]>> = {
  'alg none': [() => unsigned({ alg: 'none' }), `${UNSUPPORTED} "none"`],
  'alg None': [() => unsigned({ alg: 'None' }), `${UNSUPPORTED} "None"`],
  'no alg': [() => unsigned({ typ: 'JWT' }), `${UNSUPPORTED} ""`],
  'alg none, expired and for others': [
    () => token({ exp: 1, aud: 'z' }, { header: { alg: 'none' } }),
    `${UNSUPPORTED} "none"`,
  ],
  'HMAC with the public key': [
    () => {
      const input = unsigned({ alg: 'HS256', kid: 'first' }).slice(0, -1)
      const pem = createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' })
      return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`
    },
    `${UNSUPPORTED} "HS256"`,
  ],
  'signed by a foreign key': [() => token({}, { key: foreign }), BAD_SIGNATURE],
  'a foreign key in the header': [
    () => token({}, { key: foreign, header: { kid: undefined, jwk: publicJwk(foreign) } }),
    BAD_SIGNATURE,
  ],
  'a key id of nobody': [() => token({}, { header: { kid: 'nobody' } }), BAD_SIGNATURE],
  'a path as key id': [() => token({}, { key: foreign, header: { kid: '../../../dev/null' } }), BAD_SIGNATURE],
  'another algorithm than it was signed with': [() => token({}, { header: { alg: 'RS512' } }), BAD_SIGNATURE],
  'an elliptic signature said to be RSA': [() => token({}, { key: elliptic, header: { alg: 'RS256' } }), BAD_SIGNATURE],
  'critical headers': [() => token({}, { header: { crit: ['exp'] } }), BAD_SIGNATURE],
  'an unencoded payload': [() => token({}, { header: { b64: false } }), BAD_SIGNATURE],
  'no signature': [() => unsigned({ alg: 'RS256', kid: 'first' }), BAD_SIGNATURE],
  'another spelling of the signature': [() => `${token()}=`, BAD_SIGNATURE],
  'a foreign signature, and expired': [() => token({ exp: 1 }, { key: foreign }), BAD_SIGNATURE],
  'an issuer nobody trusts': [() => token({ iss: 'https://evil.example.com' }), UNKNOWN],
  'the issuer with a slash': [() => token({ iss: `${issuer.url}/` }), UNKNOWN],
  'no issuer': [() => token({ iss: undefined }), UNKNOWN],
  'an issuer that is a list': [() => token({ iss: [issuer.url] }), UNKNOWN],
  "the other issuer's name": [() => token({ iss: strict.url, a: 'x' }), BAD_SIGNATURE],
  'the issuer of service accounts': [() => token({ iss: 'https://kubernetes.default.svc.cluster.local' }), FOREIGN_KEY],
  'claims that are a list': [() => `${encoded({ alg: 'RS256' })}.${encoded([])}.YQ`, UNKNOWN],
  'another audience': [
    () => token({ aud: 'vault' }),
    'oidc: verify token: oidc: expected audience in ["other" "skiff"] got ["vault"]',
  ],
  'another audience, and expired': [
    () => strict.token({ aud: 'z', exp: 1 }),
    'oidc: verify token: oidc: expected audience "skiff" got ["z"]',
  ],
  'no audience': [
    () => token({ aud: undefined }),
    'oidc: verify token: oidc: expected audience in ["other" "skiff"] got []',
  ],
  'an audience that is a number': [
    () => token({ aud: 5 }),
    /failed to unmarshal claims: json: cannot unmarshal number/,
  ],
  'expired a second ago': [() => token({ exp: seconds() - 1 }), /^oidc: verify token: oidc: token is expired/],
  'no expiry': [() => token({ exp: undefined }), /^oidc: verify token: oidc: token is expired/],
  'an expiry before time': [() => token({ exp: -1 }), /^oidc: verify token: oidc: token is expired/],
  'an expiry beyond time': [() => token({ exp: 1e300 }), /^oidc: verify token: oidc: token is expired/],
  'an expiry that is text': [() => token({ exp: 'tomorrow' }), /^oidc: verify token: oidc: failed to unmarshal claims/],
  'an expiry that is null': [() => token({ exp: null }), /^oidc: verify token: oidc: failed to unmarshal claims/],
  'not valid yet': [() => token({ nbf: seconds() + 290 }), /^oidc: verify token: oidc: current time .*before the nbf/],
  'an address nobody has verified': [() => token({ email_verified: false }), 'oidc: email not verified'],
  'an address of which that is null': [() => token({ email_verified: null }), 'oidc: email not verified'],
  'an address of which that is text': [
    () => token({ email_verified: 'true' }),
    "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool",
  ],
  'no address': [() => token({ email: undefined }), 'oidc: parse username claims "email": claim not present'],
  'an address that is a list': [
    () => token({ email: ['a'] }),
    `oidc: parse username claims "email": ${notText('array')}`,
  ],
  'groups that are numbers': [() => token({ groups: [1] }), `oidc: parse groups claim "groups": ${notText('array')}`],
  'groups in groups': [() => token({ groups: [['a']] }), `oidc: parse groups claim "groups": ${notText('array')}`],
  'groups that are an object': [
    () => token({ groups: { a: 1 } }),
    `oidc: parse groups claim "groups": ${notText('object')}`,
  ],
  'no subject for a uid': [() => token({ sub: undefined }), 'oidc: parse uid claim "sub": claim not present'],
  'a required claim that is not there': [
    () => token({ hd: undefined }),
    'oidc: required claim hd not present in ID token',
  ],
  'a required claim that is another': [
    () => token({ hd: 'evil' }),
    'oidc: required claim hd value does not match. Got = evil, want = example.com',
  ],
  'a required claim that is a list': [
    () => token({ hd: ['example.com'] }),
    `oidc: parse claim hd: ${notText('array')}`,
  ],
  "a claim that breaks a rule's expression": [
    () => token({ bad: 'yes' }),
    rule('claim validation expression', "claims.?bad.orValue('') != 'yes'", 'bad must not be yes'),
  ],
  'a user that breaks a rule': [
    () => token({ email: 'evil@example.com' }),
    rule('user info validation rule', "!user.username.startsWith('oidc:evil')", 'no evil'),
  ],
  'a group that breaks a rule': [
    () => token({ groups: ['bad'] }),
    rule('user info validation rule', "user.groups.all(g, g != 'g:bad')", ''),
  ],
  'extra that is a number': [
    () => token({ team: 5 }),
    "oidc: error evaluating extra claim expression: claims.?team.orValue(''): expression must return a string or a list of strings",
  ],
  'a name of the system': [
    () => strict.token({ sub: 'system:admin', a: 'x' }),
    rule('user info validation rule', "!user.username.startsWith('system:')", 'the system: prefix is reserved'),
  ],
  'an empty name by an expression': [
    () => strict.token({ sub: '', a: 'x' }),
    'oidc: empty username via CEL expression is not allowed',
  ],
  'a claim an expression needs': [() => strict.token({}), "expression 'claims.a' resulted in error: no such key: a"],
  'groups by an expression that are numbers': [
    () => strict.token({ a: 'x', groups: [5] }),
    'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
  ],
  'a uid by an expression that is a number': [
    () => strict.token({ a: 'x', uid: 5 }),
    'oidc: error evaluating uid claim expression: uid claim expression must return a string',
  ],
  'claims of a source that is none': [
    () => token({ _claim_names: { groups: 'away' }, _claim_sources: {} }),
    'oidc: verify token: oidc: source does not exist',
  ],
  'groups from where there are none': [
    () => token({ _claim_names: { groups: 's' }, _claim_sources: { s: { endpoint: `${issuer.url}/nothing` } } }),
    /^oidc: could not expand distributed claims: while getting distributed claim "groups": error while getting distributed claim JWT: 404/,
  ],
  'groups from a plain-text place': [
    () => token({ _claim_names: { groups: 's' }, _claim_sources: { s: { endpoint: 'http://127.0.0.1:1/' } } }),
    /^oidc: could not expand distributed claims/,
  ],
  'claims nested beyond measure': [
    () => {
      const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`
      const [header] = token().split('.')
      return `${header}.${Buffer.from(`{"iss":${JSON.stringify(issuer.url)},"x":${deep}}`).toString('base64url')}.YQ`
    },
    BAD_SIGNATURE,
  ],
}

for (const [what, [make, why]] of Object.entries(hostile))
  test(`an ID token is not believed: ${what}`, async () => {
    const text = make()
    const { code, body } = await target.attempt({ path: '/api/v1/namespaces/attacked/pods', token: text })
    assert.equal(code, 401, body)
    assert.equal(JSON.parse(body).message, 'Unauthorized')
    const { authenticated, error } = await review(text)
    assert.equal(authenticated, undefined)
    const invalid = 'invalid bearer token'
    if (why === UNKNOWN) assert.equal(error, invalid)
    else if (typeof why === 'string') assert.equal(error, `[${invalid}, ${why}]`)
    else assert.match(error.slice(`[${invalid}, `.length, -1), why)
  })

const user = (more: object = {}) => ({
  username: 'oidc:a@example.com',
  uid: 'jane',
  groups: ['system:authenticated'],
  ...more,
})
const good: Readonly<Record<string, readonly [make: () => string, who: object]>> = {
  'groups as a list, extra and a credential': [
    () => token({ groups: ['a', 'b'], team: 't', jti: 'j1' }),
    user({
      groups: ['g:a', 'g:b', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'], 'example.com/team': ['t'] },
    }),
  ],
  'a group as text': [() => token({ groups: 'a' }), user({ groups: ['g:a', 'system:authenticated'] })],
  'groups that are null': [() => token({ groups: null }), user()],
  'names that prototypes have': [
    () => token({ email: '__proto__', groups: ['__proto__', 'constructor'] }),
    user({ username: 'oidc:__proto__', groups: ['g:__proto__', 'g:constructor', 'system:authenticated'] }),
  ],
  'an elliptic key': [() => token({}, { key: elliptic }), user()],
  'a probabilistic signature': [() => token({}, { key: { ...key, algorithm: 'PS256' } }), user()],
  'a longer hash': [() => token({}, { key: { ...key, algorithm: 'RS512' } }), user()],
  'no key id': [() => token({}, { header: { kid: undefined } }), user()],
  'one audience of several': [() => token({ aud: ['x', 'other'] }), user()],
  'an expiry that is a number in text': [() => token({ exp: String(seconds() + 500) }), user()],
  'half a minute before its time': [() => token({ nbf: seconds() + 30 }), user()],
  'nothing about its address': [() => token({ email_verified: undefined }), user()],
  'a number in an expression': [() => token({ n: 1e3 }), user({ extra: { 'example.com/number': ['1000'] } })],
  'expressions for everything': [
    () => strict.token({ a: ['x', ''], groups: ['', 'q'], uid: 'u' }),
    { username: 'jane', uid: 'u', groups: ['q', 'system:authenticated'], extra: { 'example.com/a': ['x'] } },
  ],
}

for (const [what, [make, who]] of Object.entries(good))
  test(`an ID token is believed: ${what}`, async () => {
    const text = make()
    assert.deepEqual(await whoami(text), who)
    const { code } = await target.attempt({ path: '/api/v1/namespaces/attacked/pods', token: text })
    assert.equal(code, 403)
    const { authenticated, user: reviewed, audiences } = await review(text)
    assert.equal(authenticated, true)
    assert.deepEqual(reviewed, who)
    assert.deepEqual(audiences, ['https://kubernetes.default.svc.cluster.local'])
  })

test('an ID token is for this API server, whatever audience a review asks for', async () => {
  assert.deepEqual(await review(token(), ['skiff']), { user: {}, error: 'invalid bearer token' })
})

test('groups from elsewhere are those of the token that is there', async () => {
  issuer.answers.set('/groups', (request, response) => {
    assert.equal(request.headers.authorization, 'Bearer secret')
    response.end(issuer.token({ groups: ['away'] }))
  })
  const text = token({
    _claim_names: { groups: 's' },
    _claim_sources: { s: { endpoint: `${issuer.url}/groups`, access_token: 'secret' } },
  })
  assert.deepEqual((await whoami(text)).groups, ['g:away', 'system:authenticated'])
})

// Forged tokens before may have used up how often the issuer is asked: then a new key is known a second later.
test("an issuer's new key is known, its old one no more", async () => {
  const next = signingKey('RS256', 'next')
  issuer.keys = [next]
  const getsIn = (text: string) => until(async () => (await target.attempt({ path: '/api', token: text })).code !== 401)
  await getsIn(token({ round: 1 }, { key: next }))
  assert.equal((await target.attempt({ path: '/api', token: token({ round: 2 }, { key }) })).code, 401)
  issuer.keys = [key, elliptic]
  await getsIn(token({ round: 3 }, { key }))
})

test('forged key ids do not make the server attack the issuer', async () => {
  const before = issuer.asked.length
  const started = Date.now()
  for (let i = 0; i < 60; i++)
    assert.equal((await target.attempt({ path: '/api', token: token({ i }, { header: { kid: `k${i}` } }) })).code, 401)
  // Ten in a row, and one more for every second.
  const most = 11 + (Date.now() - started) / 1000
  assert.ok(issuer.asked.length - before <= most, `${issuer.asked.length - before} requests`)
})

async function withKeys(answer: Parameters<Issuer['answers']['set']>[1], body: () => Promise<unknown>): Promise<void> {
  issuer.answers.set('/keys', answer)
  try {
    await body()
  } finally {
    issuer.answers.delete('/keys')
  }
}

test('keys that are no keys, too many bytes or never come keep nobody else out, and the server lives', async () => {
  // What was asked too often just before is asked again a second later.
  const refused = async (n: number) => {
    const text = token({ n }, { key: signingKey('ES256', `unknown${n}`) })
    assert.equal((await target.attempt({ path: '/api', token: text })).code, 401)
    assert.equal((await whoami(token({ known: n }))).uid, 'jane')
  }
  await withKeys(
    (_, response) => response.end('nope'),
    () => refused(1),
  )
  await withKeys(
    (_, response) => response.end('[]'),
    () => refused(2),
  )
  await withKeys(
    (_, response) => response.writeHead(500).end('x'.repeat(100_000)),
    () => refused(3),
  )
  await withKeys(
    (_, response) => response.writeHead(302, { location: '/keys' }).end(),
    () => refused(4),
  )
  await withKeys(
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/keys' }).end(),
    () => refused(5),
  )
  await withKeys(
    (_, response) => {
      const more = setInterval(() => response.write('x'.repeat(1_000_000)), 1)
      response.on('close', () => clearInterval(more))
    },
    () => refused(6),
  )
  await withKeys(
    (request) => request.socket.destroy(),
    () => refused(7),
  )
  assert.equal((await target.asAdmin('GET', '/readyz')).body, 'ok')
})

test('keys that nobody can use do not hide those that can be used', async () => {
  const more = signingKey('ES512', 'more')
  const odd = [
    { kty: 'RSA', kid: 'y', n: '!!', e: 'AQAB' },
    { kty: 'oct', kid: 'more', k: 'AAAA' },
    null,
    5,
    { kty: 'foo' },
  ]
  await withKeys(
    (_, response) => response.end(JSON.stringify({ keys: [...odd, publicJwk(more), ...issuer.keys.map(publicJwk)] })),
    () => until(async () => (await target.attempt({ path: '/api', token: token({}, { key: more }) })).code !== 401),
  )
})

test('a changed configuration counts for tokens: who was believed is asked again', async () => {
  const text = token({ before: 'change' })
  assert.equal((await whoami(text)).uid, 'jane')
  const changed = configuration()
  changed.jwt[0]!.issuer.audiences = ['others', 'still others']
  // Where requests may be anonymous does not change while the server runs: such a file is not used.
  writeFileSync(file, JSON.stringify({ ...changed, anonymous: { enabled: true, conditions: [{ path: '/livez' }] } }))
  const refusals = async () =>
    (await target.asAdmin('GET', '/metrics')).body.match(
      /authentication_config_controller_automatic_reloads_total\{[^}]*status="failure"\} \d/,
    )
  await until(async () => (await refusals()) !== null)
  assert.equal((await whoami(text)).uid, 'jane')
  writeFileSync(file, JSON.stringify(changed))
  await until(async () => (await target.attempt({ path: '/api', token: text })).code === 401)
  for (const path of ['/livez', '/readyz']) assert.equal((await target.attempt({ path })).code, 200)
  const { body } = await target.asAdmin('GET', '/metrics')
  const hash = '"sha256:[0-9a-f]{64}"'
  for (const series of [
    `apiserver_authentication_config_controller_automatic_reloads_total\\{apiserver_id_hash=${hash},status="success"\\} 1`,
    `apiserver_authentication_jwt_authenticator_latency_seconds_count\\{jwt_issuer_hash=${hash},result="failure"\\}`,
    'authentication_token_cache_request_total\\{status="hit"\\}',
  ])
    assert.match(body, new RegExp(series))
  writeFileSync(file, 'kind: [')
  const other = signedToken(key, { ...believed, iss: issuer.url, aud: 'others', sub: 'x', exp: seconds() + 60 })
  assert.equal((await whoami(other)).uid, 'x')
})
