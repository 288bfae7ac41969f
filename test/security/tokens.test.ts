import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { after, before, test } from 'node:test'
import { claimsOf, foreignKey, headerOf, jwt, someUid, startTarget, type Target } from './attacker.ts'

let target: Target
before(async () => {
  target = await startTarget()
  // What the account may do tells a token that is believed from one that is not.
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: 'reader' }
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }
  const subjects = [{ kind: 'ServiceAccount', name: 'nobody', namespace: 'attacked' }]
  for (const object of [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ]) {
    const made = await target.asAdmin('POST', `${RBAC}/${object.kind.toLowerCase()}s`, object)
    assert.equal(made.code, 201, made.body)
  }
})
after(() => target?.stop())

const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/attacked'
const PODS = '/api/v1/namespaces/attacked/pods'
type Forge = (target: Target) => string

/** The real token's claims with some changed, signed with the real key: wrong only in what was changed. */
function resigned(change: (claims: Record<string, unknown>) => Record<string, unknown>): Forge {
  return ({ token, signingKey }) => jwt(headerOf(token), change(structuredClone(claimsOf(token))), signingKey)
}

const kubernetes = (more: Record<string, unknown>) => (claims: Record<string, unknown>) => ({
  ...claims,
  'kubernetes.io': { ...(claims['kubernetes.io'] as object), ...more },
})
const seconds = () => Math.floor(Date.now() / 1000)

const forgeries: Readonly<Record<string, Forge>> = {
  'no token at all': () => '..',
  nonsense: () => 'nonsense',
  'base64 of nonsense': () => 'YQ.YQ.YQ',
  'a token of a megabyte': () => 'x'.repeat(7000),
  'a token behind another': ({ token }) => `nonsense ${token}`,
  'alg none': ({ token }) => jwt({ alg: 'none', typ: 'JWT' }, claimsOf(token), undefined),
  'alg None': ({ token }) => jwt({ alg: 'None' }, claimsOf(token), undefined),
  'alg nOnE with a signature': ({ token }) => `${jwt({ alg: 'nOnE' }, claimsOf(token), undefined)}YQ`,
  'no alg': ({ token }) => jwt({ typ: 'JWT' }, claimsOf(token), undefined),
  'HMAC with the public key': ({ token, signingKey }) =>
    jwt(
      { ...headerOf(token), alg: 'HS256' },
      claimsOf(token),
      createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }).toString(),
    ),
  'signed by a foreign key': ({ token }) => jwt(headerOf(token), claimsOf(token), foreignKey()),
  'a foreign key in the header': ({ token }) => {
    const key = foreignKey()
    return jwt({ ...headerOf(token), jwk: createPublicKey(key).export({ format: 'jwk' }) }, claimsOf(token), key)
  },
  'a key from elsewhere': ({ token }) =>
    jwt({ ...headerOf(token), jku: 'https://127.0.0.1:1/jwks' }, claimsOf(token), foreignKey()),
  'a path as key id': ({ token }) => jwt({ ...headerOf(token), kid: '../../../../dev/null' }, claimsOf(token), ''),
  'critical headers': ({ token, signingKey }) =>
    jwt({ ...headerOf(token), crit: ['exp'] }, claimsOf(token), signingKey),
  'the signature cut off': ({ token }) => token.slice(0, token.lastIndexOf('.') + 1),
  'the signature changed': ({ token }) => `${token.slice(0, -4)}AAAA`,
  'the signature of another text': ({ token }) => {
    const [header, , signature] = token.split('.')
    return [header, Buffer.from('{"sub":"system:admin"}').toString('base64url'), signature].join('.')
  },
  'a signature of zeros': ({ token }) => {
    const [header, payload] = token.split('.')
    return [header, payload, Buffer.alloc(64).toString('base64url')].join('.')
  },
  'expired a second ago': resigned((claims) => ({ ...claims, exp: seconds() - 1 })),
  'no expiry': resigned(({ exp: _, ...claims }) => claims),
  'an expiry that is text': resigned((claims) => ({ ...claims, exp: 'tomorrow' })),
  'not valid yet': resigned((claims) => ({ ...claims, nbf: seconds() + 3600 })),
  'another issuer': resigned((claims) => ({ ...claims, iss: 'https://evil.example.com' })),
  'no issuer': resigned(({ iss: _, ...claims }) => claims),
  'another audience': resigned((claims) => ({ ...claims, aud: ['vault'] })),
  'no audience': resigned(({ aud: _, ...claims }) => claims),
  'no claims about Kubernetes': resigned(({ 'kubernetes.io': _, ...claims }) => claims),
  'claims that are a list': ({ token, signingKey }) => jwt(headerOf(token), [] as never, signingKey),
  'an account that was never there': resigned(
    kubernetes({ namespace: 'attacked', serviceaccount: { name: 'ghost', uid: someUid() } }),
  ),
  'the uid of another account': resigned(
    kubernetes({ serviceaccount: { name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' } }),
  ),
  'a subject that is not its account': resigned((claims) => ({
    ...claims,
    sub: 'system:serviceaccount:kube-system:generic-garbage-collector',
  })),
  'bound to a pod that is gone': resigned(kubernetes({ pod: { name: 'gone', uid: someUid() } })),
  'bound to a secret that is gone': resigned(kubernetes({ secret: { name: 'gone', uid: someUid() } })),
  'bound to a node that is gone': resigned(kubernetes({ node: { name: 'gone', uid: someUid() } })),
}

/** As the forgeries are made, and right. */
const genuine: Readonly<Record<string, Forge>> = {
  'as it was issued': ({ token }) => token,
  'signed anew': resigned((claims) => claims),
  'with a time since which it is valid': resigned((claims) => ({ ...claims, nbf: seconds() - 1 })),
  'for two audiences, of which one is the server': resigned((claims) => ({
    ...claims,
    aud: ['vault', ...(claims['aud'] as string[])],
  })),
  'of the account by its uid': (t) =>
    resigned(kubernetes({ serviceaccount: { name: 'nobody', uid: t.account.uid } }))(t),
}
for (const [what, make] of Object.entries(genuine))
  test(`a token is believed: ${what}`, async () => {
    const { code, body } = await target.attempt({ path: PODS, token: make(target) })
    assert.equal(code, 200, body)
  })

test('a token is believed that is bound to a secret that is there', async () => {
  const secrets = '/api/v1/namespaces/attacked/secrets'
  const made = await target.asAdmin('POST', secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'tied' } })
  const { uid } = JSON.parse(made.body).metadata
  const token = resigned(kubernetes({ secret: { name: 'tied', uid } }))(target)
  assert.equal((await target.attempt({ path: PODS, token })).code, 200)
})

for (const [what, forge] of Object.entries(forgeries))
  test(`a token is not believed: ${what}`, async () => {
    const { code, body } = await target.attempt({ path: PODS, token: forge(target) })
    assert.equal(code, 401, body)
    assert.equal(JSON.parse(body).message, 'Unauthorized')
  })

for (const [what, headers] of Object.entries<Record<string, string>>({
  'basic authentication': { authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}` },
  'a scheme that is none': { authorization: 'Negotiate abc' },
  'a bearer without a token': { authorization: 'Bearer' },
  'a bearer with an empty token': { authorization: 'Bearer ' },
  'the user in a header': { 'x-remote-user': 'kubernetes-admin', 'x-remote-group': 'system:masters' },
  'impersonation alone': { 'impersonate-user': 'kubernetes-admin', 'impersonate-group': 'system:masters' },
  'a forwarded certificate': { 'x-forwarded-client-cert': 'Subject="CN=kubernetes-admin,O=system:masters"' },
  'a cookie': { cookie: 'token=abc' },
}))
  test(`a request with nothing but ${what} is of system:anonymous`, async () => {
    const { code, body } = await target.attempt({ path: PODS, headers })
    assert.equal(code, 403)
    assert.match(JSON.parse(body).message, /User "system:anonymous" cannot/)
    assert.equal((await target.attempt({ path: PODS, headers, cert: target.admin })).code, 200)
  })

test('a token dies with its service account, at once', async () => {
  const path = '/api/v1/namespaces/attacked/serviceaccounts'
  await target.asAdmin('POST', path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'brief' } })
  const asked = await target.asAdmin('POST', `${path}/brief/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  const { token } = JSON.parse(asked.body).status
  const review = () =>
    target.asAdmin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    })
  assert.equal(JSON.parse((await review()).body).status.authenticated, true)
  await target.asAdmin('DELETE', `${path}/brief`)
  assert.notEqual(JSON.parse((await review()).body).status.authenticated, true)
})

test('the real token may no more than its account', async () => {
  const { code } = await target.attempt({ path: '/api/v1/namespaces/attacked/secrets', token: target.token })
  assert.equal(code, 403)
})
