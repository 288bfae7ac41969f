/** Servers that are asked what somebody may do: what is sent to them, and what comes of each answer, as kube-apiserver does. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { answers, authorizers, RBAC, startHooked } from './hooked.ts'
import type { Answering } from './reviewer.ts'
import { until } from './until.ts'

const { path, webhook, reviewer, target, ask, post, audited, stop } = await startHooked()
after(stop)

const messageOf = (body: string) => JSON.parse(body).message
const probe = { user: 'probe', groups: ['g1', 'g2', 'system:authenticated'], uid: 'u1' }

test('a review is sent where the kubeconfig says, with its token and the timeout', async () => {
  await ask('/api/v1/namespaces/default/pods/x')
  assert.deepEqual(reviewer.requests, [{ path: '/review?timeout=1s', authorization: 'Bearer a-token' }])
  assert.deepEqual(reviewer.asked, [
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: { namespace: 'default', verb: 'get', version: 'v1', resource: 'pods', name: 'x' },
        ...probe,
      },
      status: { allowed: false },
    },
  ])
})

const sent: Readonly<Record<string, readonly [what: object, asked: object]>> = {
  'selectors of a list': [
    {
      path: '/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3Da,metadata.name!%3Db&labelSelector=a%3Db,c%20in%20(d,e),f,!g,h%20notin%20(i)',
    },
    {
      namespace: 'default',
      verb: 'list',
      version: 'v1',
      resource: 'pods',
      fieldSelector: {
        requirements: [
          { key: 'metadata.name', operator: 'NotIn', values: ['b'] },
          { key: 'spec.nodeName', operator: 'In', values: ['a'] },
        ],
      },
      labelSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['b'] },
          { key: 'c', operator: 'In', values: ['d', 'e'] },
          { key: 'f', operator: 'Exists' },
          { key: 'g', operator: 'DoesNotExist' },
          { key: 'h', operator: 'NotIn', values: ['i'] },
        ],
      },
    },
  ],
  'selectors that nobody understands': [
    { path: '/api/v1/namespaces/default/pods?fieldSelector=%3D%3D%3D&labelSelector=%3D%3D' },
    { namespace: 'default', verb: 'list', version: 'v1', resource: 'pods' },
  ],
  'a comparison of labels': [
    { path: '/api/v1/pods?labelSelector=a%3E5' },
    { verb: 'list', version: 'v1', resource: 'pods' },
  ],
  'a watch': [
    { path: '/apis/apps/v1/deployments?watch=true&labelSelector=a' },
    {
      verb: 'watch',
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      labelSelector: { requirements: [{ key: 'a', operator: 'Exists' }] },
    },
  ],
  'a delete of many': [
    { method: 'DELETE', path: '/api/v1/namespaces/default/pods?labelSelector=a%3Db' },
    {
      namespace: 'default',
      verb: 'deletecollection',
      version: 'v1',
      resource: 'pods',
      labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
    },
  ],
  'selectors of a get': [
    { path: '/api/v1/namespaces/default/pods/y?fieldSelector=spec.nodeName%3Da' },
    { namespace: 'default', verb: 'get', version: 'v1', resource: 'pods', name: 'y' },
  ],
  'a list of one name': [
    { path: '/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Db' },
    {
      namespace: 'default',
      verb: 'list',
      version: 'v1',
      resource: 'pods',
      name: 'b',
      fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] },
    },
  ],
  'a subresource': [
    { path: '/api/v1/namespaces/default/pods/x/log' },
    { namespace: 'default', verb: 'get', version: 'v1', resource: 'pods', subresource: 'log', name: 'x' },
  ],
}
for (const [what, [attempt, attributes]] of Object.entries(sent))
  test(`a review says what is asked for: ${what}`, async () => {
    assert.equal((await target.attempt({ path: '', token: 't1', ...attempt })).code, 403)
    assert.deepEqual(reviewer.asked[0].spec, { resourceAttributes: attributes, ...probe })
    assert.equal(reviewer.asked.length, 1)
  })

test('a review says what is asked for: no resource', async () => {
  const { body } = await ask('/foo/bar?x=1')
  assert.deepEqual(reviewer.asked[0].spec, { nonResourceAttributes: { path: '/foo/bar', verb: 'get' }, ...probe })
  assert.equal(messageOf(body), 'forbidden: User "probe" cannot get path "/foo/bar"')
})

test('what is allowed is asked for once and kept; what is not, is asked for again', async () => {
  reviewer.answer = () => ({ allowed: true, reason: 'the hook says yes' })
  assert.equal((await ask('/api/v1/namespaces/default/configmaps')).code, 200)
  assert.equal((await ask('/api/v1/namespaces/default/configmaps')).code, 200)
  assert.equal(reviewer.asked.length, 1)
  reviewer.answer = () => ({ allowed: false })
  // A refusal is kept for a millisecond.
  await until(async () => {
    await ask('/api/v1/namespaces/default/bindings')
    return reviewer.asked.length === 3
  })
})

test('requests that come together share one review', async () => {
  const inFlight = async () => {
    const { body } = await target.attempt({ path: '/metrics', token: 't3' })
    return Number(/^apiserver_current_inflight_requests\{request_kind="readOnly"\} (\d+)/m.exec(body)?.[1])
  }
  const alone = await inFlight()
  const { promise: together, resolve: haveCome } = Promise.withResolvers<void>()
  reviewer.answer = (review, response) => {
    void together.then(() => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ...review, status: { allowed: true } }))
    })
    return undefined
  }
  const asked = Array.from({ length: 8 }, () => ask('/api/v1/namespaces/default/podtemplates'))
  await until(async () => (await inFlight()) >= alone + asked.length)
  haveCome()
  const all = await Promise.all(asked)
  assert.deepEqual([...new Set(all.map(({ code }) => code))], [200])
  assert.equal(reviewer.asked.length, 1)
})

test('a refusal is final; what has no opinion names who gave its reason', async () => {
  reviewer.answer = () => ({ allowed: false, denied: true, reason: 'the hook says no' })
  const cannot = 'is forbidden: User "probe" cannot list resource'
  const place = 'in API group "" in the namespace "default"'
  assert.equal(
    messageOf((await ask('/api/v1/namespaces/default/services')).body),
    `services ${cannot} "services" ${place}: the hook says no`,
  )
  reviewer.answer = () => ({ allowed: false, reason: 'just a reason', evaluationError: 'oops' })
  assert.equal(
    messageOf((await ask('/api/v1/namespaces/default/limitranges')).body),
    `limitranges ${cannot} "limitranges" ${place}: hook: just a reason`,
  )
})

test('system:masters, and what the conditions leave out, are not asked about', async () => {
  assert.equal((await ask('/api/v1/namespaces/default/pods', { token: 't3' })).code, 200)
  assert.equal((await ask('/api/v1/namespaces/skipped/pods')).code, 403)
  assert.equal(reviewer.asked.length, 0)
})

const undecided: Readonly<Record<string, readonly [Answering, why: string | RegExp]>> = {
  'an answer of both': [
    () => ({ allowed: true, denied: true }),
    'webhook subject access review returned both allow and deny response',
  ],
  'not found': [answers(404), 'the server could not find the requested resource'],
  'what is no JSON': [answers(200), /^couldn't get version\/kind; json parse error: /],
  'another version': [
    (review, response) => {
      response.end(JSON.stringify({ ...review, apiVersion: 'authorization.k8s.io/v1beta1', status: { allowed: true } }))
      return undefined
    },
    'converting (v1beta1.SubjectAccessReview) to (v1.SubjectAccessReview): unknown conversion',
  ],
  'a connection that breaks': [
    (_, __, request) => {
      request.socket.destroy()
      return undefined
    },
    /^Post "https:\/\/127.0.0.1:\d+\/review\?timeout=1s": EOF$/,
  ],
  'no answer at all': [
    () => undefined,
    /^Post "https:\/\/127.0.0.1:\d+\/review\?timeout=1s": net\/http: request canceled \(Client.Timeout exceeded while awaiting headers\)$/,
  ],
  'more than anybody reads': [answers(200, 'x'.repeat(3_000_000)), /larger than/],
}
let nth = 0
for (const [what, [answer, why]] of Object.entries(undecided))
  test(`nobody can say whether it is allowed: ${what}`, async () => {
    reviewer.answer = answer
    const at = `/api/v1/namespaces/n${nth++}/pods`
    const { code, body, headers } = await ask(at)
    assert.equal(code, 500)
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    const start = `Internal Server Error: ${JSON.stringify(at)}: `
    assert.ok(body.startsWith(start) && body.endsWith('\n'), body)
    const told = body.slice(start.length, -1)
    if (typeof why === 'string') assert.equal(told, why)
    else assert.match(told, why)
    const { annotations } = await audited(({ requestURI }) => requestURI === at)
    assert.deepEqual(annotations, { 'authorization.k8s.io/reason': 'internal error' })
  })

test('a condition that cannot be evaluated is told, with its signs escaped', async () => {
  const { code, body } = await ask('/api/v1/namespaces/default/pods', { token: 't2' })
  assert.equal(code, 500)
  assert.equal(
    body,
    `Internal Server Error: "/api/v1/namespaces/default/pods": cel evaluation error: expression 'request.user != 'broken' || request.extra['x'].size() &gt; 0' resulted in error: no such key: x\n`,
  )
})

test('what others allow is allowed, though the webhook cannot be asked', async () => {
  reviewer.answer = answers(404)
  const self = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  assert.equal((await post('/apis/authentication.k8s.io/v1/selfsubjectreviews', self)).code, 201)
})

async function accessReview(spec: object) {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  return JSON.parse((await target.asAdmin('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', body)).body)
    .status
}

test('reviews go the same way, and tell what went wrong', async () => {
  const pods = { verb: 'get', resource: 'pods' }
  reviewer.answer = answers(404)
  assert.deepEqual(await accessReview({ user: 'probe', resourceAttributes: pods }), {
    allowed: false,
    evaluationError: 'the server could not find the requested resource',
  })
  assert.deepEqual(reviewer.asked[0].spec, { resourceAttributes: { ...pods, version: '*' }, user: 'probe' })
  reviewer.answer = () => ({ allowed: false, denied: true, reason: 'no' })
  const selected = {
    user: 'probe',
    groups: ['a'],
    uid: '1',
    extra: { 'A.b/c': ['d'] },
    resourceAttributes: {
      ...{ verb: 'list', resource: 'pods', version: 'v1', name: 'n' },
      fieldSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['b'] },
          { key: 'c', operator: 'NotIn', values: ['d'] },
          { key: 'e', operator: 'Exists' },
        ],
      },
      labelSelector: { rawSelector: 'x=y,z in (a,b)' },
    },
  }
  assert.deepEqual(await accessReview(selected), {
    allowed: false,
    denied: true,
    reason: 'no',
    evaluationError: 'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
  })
  assert.deepEqual(reviewer.asked[1].spec.resourceAttributes, {
    ...{ verb: 'list', version: 'v1', resource: 'pods', name: 'n' },
    fieldSelector: {
      requirements: [
        { key: 'a', operator: 'In', values: ['b'] },
        { key: 'c', operator: 'NotIn', values: ['d'] },
      ],
    },
    labelSelector: {
      requirements: [
        { key: 'x', operator: 'In', values: ['y'] },
        { key: 'z', operator: 'In', values: ['a', 'b'] },
      ],
    },
  })
  const raw = { fieldSelector: { rawSelector: 'a=b,c!=d' }, labelSelector: { rawSelector: '===' } }
  assert.deepEqual(await accessReview({ user: 'probe', resourceAttributes: { ...pods, verb: 'list', ...raw } }), {
    allowed: false,
    denied: true,
    reason: 'no',
    evaluationError: 'spec.resourceAttributes.labelSelector ignored due to parse error',
  })
  assert.match(
    (await accessReview({ user: 'broken', resourceAttributes: pods })).evaluationError,
    /^cel evaluation error/,
  )
})

test('rules cannot be listed where a webhook decides', async () => {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: 'default' } }
  const { status } = JSON.parse((await post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', body)).body)
  assert.equal(status.incomplete, true)
  assert.equal(status.evaluationError, 'webhook authorizer does not support user rule resolution')
  assert.ok(status.resourceRules.length > 0)
})

test('impersonation is asked about, one thing after the other', async () => {
  reviewer.answer = () => ({ allowed: true })
  const headers = { 'impersonate-user': 'someone' }
  assert.equal((await ask('/api/v1/namespaces/default/pods', { headers })).code, 200)
  const pods = { namespace: 'default', version: 'v1', resource: 'pods' }
  assert.deepEqual(
    reviewer.asked.map(({ spec }) => [spec.user, spec.resourceAttributes]),
    [
      ['probe', { ...pods, verb: 'impersonate-on:user-info:list' }],
      [
        'probe',
        {
          ...{ verb: 'impersonate:user-info', group: 'authentication.k8s.io', version: 'v1' },
          ...{ resource: 'users', name: 'someone' },
        },
      ],
      ['someone', { ...pods, verb: 'list' }],
    ],
  )
})

test("a policy's authorizer waits for the webhook, for each of its questions", async () => {
  const api = '/apis/admissionregistration.k8s.io/v1'
  const of = (kind: string, spec: object) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'asks' },
    spec,
  })
  const may = (verb: string) =>
    `authorizer.group('').resource('secrets').namespace('default').check('${verb}').allowed()`
  await target.asAdmin(
    'POST',
    `${api}/validatingadmissionpolicies`,
    of('ValidatingAdmissionPolicy', {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
      validations: [{ expression: `${may('get')} && !${may('delete')}`, message: 'gets but deletes not' }],
    }),
  )
  const binding = of('ValidatingAdmissionPolicyBinding', { policyName: 'asks', validationActions: ['Deny'] })
  await target.asAdmin('POST', `${api}/validatingadmissionpolicybindings`, binding)
  const configMap = (name: string) =>
    post('/api/v1/namespaces/default/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  reviewer.answer = ({ spec }) => ({ allowed: spec.resourceAttributes.verb !== 'delete' })
  assert.equal((await configMap('a')).code, 201)
  assert.deepEqual(
    reviewer.asked.map(({ spec }) => spec.resourceAttributes.verb),
    ['create', 'get', 'delete'],
  )
  await target.asAdmin('DELETE', `${api}/validatingadmissionpolicies/asks`)
})
test('decisions and round-trips are counted', async () => {
  const { body } = await target.asAdmin('GET', '/metrics')
  for (const series of [
    'apiserver_authorization_decisions_total{decision="allowed",name="hook",type="Webhook"}',
    'apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"}',
    'apiserver_authorization_webhook_evaluations_total{name="hook",result="success"}',
    'apiserver_authorization_webhook_evaluations_fail_open_total{name="hook",result="timeout"}',
    'apiserver_authorization_match_condition_evaluation_errors_total{name="hook",type="Webhook"}',
    'apiserver_authorization_match_condition_exclusions_total{name="hook",type="Webhook"}',
  ])
    assert.ok(body.includes(series), series)
})

test('a changed configuration counts: another version, and who cannot be asked is refused', async () => {
  const changed = webhook({ failurePolicy: 'Deny', subjectAccessReviewVersion: 'v1beta1' })
  writeFileSync(path('authorization.json'), authorizers(changed, RBAC))
  await until(async () => {
    await ask('/api/v1/nodes')
    return reviewer.asked.at(-1).apiVersion === 'authorization.k8s.io/v1beta1'
  })
  assert.deepEqual(reviewer.asked.at(-1).spec.group, probe.groups)
  reviewer.answer = answers(404)
  const self = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const refused = await post('/apis/authentication.k8s.io/v1/selfsubjectreviews', self)
  assert.equal(refused.code, 500)
  assert.match(refused.body, /the server could not find the requested resource/)
  // Whoever decided at the start still has to: roles must not be lost by a slip of the pen.
  writeFileSync(path('authorization.json'), authorizers(webhook({ failurePolicy: 'Deny' })))
  const refusedReading = /apiserver_authorization_config_controller_automatic_reloads_total\{[^}]*status="failure"\} 1/
  await until(async () => refusedReading.test((await target.asAdmin('GET', '/metrics')).body))
  await ask('/api/v1/nodes')
  assert.equal(reviewer.asked.at(-1).apiVersion, 'authorization.k8s.io/v1beta1')
})
