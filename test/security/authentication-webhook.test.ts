/** Servers that are asked whose a token is: what is sent to them, and what comes of each answer, as kube-apiserver does it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { claimsOf } from './attacker.ts'
import { answers, startHooked } from './hooked.ts'
import type { Answering } from './reviewer.ts'

const { reviewer, target, ask, audited, events, stop } = await startHooked()
after(stop)

const review = async (token: string, audiences?: readonly string[]) => {
  const spec = { token, ...(audiences === undefined ? {} : { audiences }) }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
  return JSON.parse((await target.asAdmin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)).body).status
}
const API = 'https://kubernetes.default.svc.cluster.local'
const hooked = { username: 'hooked', uid: 'h1', groups: ['hg'], extra: { 'Ab.c/d': ['x'] } }
const whole = { ...hooked, groups: ['hg', 'system:authenticated'] }
const invalid = (why: string) => ({ user: {}, error: `[invalid bearer token, ${why}]` })
let nth = 0
const tokens: Readonly<Record<string, readonly [Answering, expected: object, audiences?: readonly string[]]>> = {
  'it knows nothing': [() => ({ authenticated: false }), { user: {}, error: 'invalid bearer token' }],
  'it knows': [() => ({ authenticated: true, user: hooked }), { authenticated: true, user: whole, audiences: [API] }],
  'it says nothing of the audience': [
    () => ({ authenticated: true, user: hooked }),
    { user: {}, error: 'invalid bearer token' },
    ['other'],
  ],
  'it says which audience': [
    () => ({ authenticated: true, user: hooked, audiences: ['other'] }),
    { authenticated: true, user: whole, audiences: ['other'] },
    ['other', 'x'],
  ],
  'the token is for others': [
    () => ({ authenticated: true, user: hooked, audiences: ['other'] }),
    { user: {}, error: 'invalid bearer token' },
  ],
  'it says why not': [() => ({ authenticated: false, error: 'a bad token' }), invalid('a bad token')],
  'it refuses to be asked': [answers(401), invalid('the server has asked for the client to provide credentials')],
  'it names nobody': [
    () => ({ authenticated: true, user: 5 }),
    { authenticated: true, user: { groups: ['system:authenticated'] }, audiences: [API] },
  ],
}
for (const [what, [answer, expected, audiences]] of Object.entries(tokens))
  test(`an unknown token is asked about: ${what}`, async () => {
    reviewer.answer = answer
    const token = `token-${nth++}`
    assert.deepEqual(await review(token, audiences), expected)
    assert.deepEqual(reviewer.asked, [
      {
        kind: 'TokenReview',
        apiVersion: 'authentication.k8s.io/v1beta1',
        metadata: {},
        spec: { token, audiences: audiences ?? [API] },
        status: { user: {} },
      },
    ])
  })

test("a webhook's token gets in, and is asked about once", async () => {
  reviewer.answer = ({ kind }) => (kind === 'TokenReview' ? { authenticated: true, user: hooked } : { allowed: true })
  for (let i = 0; i < 3; i++) assert.equal((await ask('/api/v1/pods', { token: 'w' })).code, 200)
  assert.deepEqual(
    reviewer.asked.map(({ kind }) => kind),
    ['TokenReview', 'SubjectAccessReview'],
  )
  assert.deepEqual(reviewer.asked[1].spec.extra, hooked.extra)
})

test('the audit log tells who was nobody, which token was issued, and by which right somebody was impersonated', async () => {
  reviewer.answer = () => ({ authenticated: false })
  await ask('/api/v1/namespaces/nobody/pods', { token: 'unknown' })
  const nobody = await audited(({ requestURI }) => requestURI === '/api/v1/namespaces/nobody/pods')
  assert.deepEqual([nobody.stage, nobody.user, nobody.responseStatus.code], ['ResponseStarted', {}, 401])
  assert.equal(nobody.annotations, undefined)

  const issued = await target.asAdmin('POST', '/api/v1/namespaces/attacked/serviceaccounts/nobody/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  const { jti } = claimsOf(JSON.parse(issued.body).status.token)
  // Who writes is answered when the event is written.
  assert.deepEqual(events().at(-1).annotations, {
    'authentication.kubernetes.io/issued-credential-id': `JTI=${jti}`,
    'authorization.k8s.io/decision': 'allow',
    'authorization.k8s.io/reason': '',
  })

  await target.asAdmin('GET', '/api/v1/namespaces/default/pods', undefined, { 'impersonate-user': 'jane' })
  const { impersonatedUser, authenticationMetadata } = await audited((event) => event.impersonatedUser !== undefined)
  assert.equal(impersonatedUser.username, 'jane')
  assert.deepEqual(authenticationMetadata, { impersonationConstraint: 'impersonate:user-info' })

  await target.asAdmin('GET', '/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=1')
  const ofWatch = ({ requestURI }: { requestURI: string }) => requestURI.endsWith('watch=true&timeoutSeconds=1')
  await audited((event) => ofWatch(event) && event.stage === 'ResponseComplete')
  assert.deepEqual(
    events()
      .filter(ofWatch)
      .map(({ stage }) => stage),
    ['ResponseStarted', 'ResponseComplete'],
  )
})

test('who came in and who did not is counted', async () => {
  const { body } = await target.asAdmin('GET', '/metrics')
  for (const series of [
    'authentication_attempts{result="success"}',
    'authentication_attempts{result="error"}',
    'authenticated_user_requests{username="other"}',
    'authentication_duration_seconds_bucket{result="success",le="0.001"}',
  ])
    assert.ok(body.includes(series), series)
  // The watch before has ended.
  assert.match(body, /apiserver_longrunning_requests\{[^}]*resource="pods"[^}]*\} 0/)
})
