/** What somebody tries who has no rights, or a foreign certificate, or some rights and wants more. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { liveRuntime } from '../../src/base/live.ts'
import { issue } from '../../src/cluster/certificate.ts'
import { type Attempt, startTarget, type Target } from './attacker.ts'
import { authority } from './issuer.ts'

const runtime = liveRuntime()
let target: Target
before(async () => {
  target = await startTarget()
})
after(() => target?.stop())

const NS = '/api/v1/namespaces/attacked'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ref = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })

// What somebody with an identity and no rights tries: all of it is refused, whatever the path looks like.
const refused: Readonly<Record<string, Attempt>> = {
  'reading secrets': { path: `${NS}/secrets` },
  'reading secrets of all namespaces': { path: '/api/v1/secrets' },
  'a double slash': { path: '/api/v1//secrets' },
  'a dot segment': { path: '/api/v1/namespaces/attacked/../kube-system/secrets' },
  'an escaped dot segment': { path: '/api/v1/namespaces/attacked/%2e%2e/kube-system/secrets' },
  'an escaped slash': { path: '/api/v1/namespaces/attacked%2f..%2fkube-system/secrets' },
  'health in front': { path: '/healthz/../api/v1/secrets' },
  'health in front, escaped': { path: '/healthz/%2e%2e/api/v1/secrets' },
  'readyz behind': { path: '/api/v1/secrets/readyz' },
  'upper case': { path: '/API/v1/secrets' },
  'the old watch path': { path: '/api/v1/watch/secrets' },
  metrics: { path: '/metrics' },
  'a profile': { path: '/debug/pprof/heap' },
  'logs of the host': { path: '/logs/../etc/passwd' },
  'the proxy of a node': { path: '/api/v1/nodes/n/proxy/' },
  'the proxy of a service': { path: '/api/v1/namespaces/kube-system/services/https:kubernetes:/proxy/' },
  exec: { method: 'POST', path: `${NS}/pods/p/exec?command=sh` },
  'a token of another account': {
    method: 'POST',
    path: '/api/v1/namespaces/kube-system/serviceaccounts/default/token',
    body: '{}',
  },
  'a binding of his own': {
    method: 'POST',
    path: `${RBAC}/clusterrolebindings`,
    body: JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'mine' },
      roleRef: ref('ClusterRole', 'cluster-admin'),
      subjects: [{ kind: 'ServiceAccount', name: 'nobody', namespace: 'attacked' }],
    }),
  },
  'a role that aggregates into admin': {
    method: 'POST',
    path: `${RBAC}/clusterroles`,
    body: JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'x', labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    }),
  },
  'changing cluster-admin': {
    method: 'PATCH',
    path: `${RBAC}/clusterroles/cluster-admin`,
    body: '{}',
    headers: { 'content-type': 'application/merge-patch+json' },
  },
  'approving a certificate': {
    method: 'PUT',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval',
    body: '{}',
  },
  'a webhook that sees everything': {
    method: 'POST',
    path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    body: '{}',
  },
  'an APIService': { method: 'POST', path: '/apis/apiregistration.k8s.io/v1/apiservices', body: '{}' },
  'deleting a namespace': { method: 'DELETE', path: '/api/v1/namespaces/kube-system' },
  'deleting all secrets': { method: 'DELETE', path: '/api/v1/namespaces/kube-system/secrets' },
  'another method in a header': {
    method: 'GET',
    path: '/api/v1/namespaces/kube-system',
    headers: { 'x-http-method-override': 'DELETE' },
  },
  'another path in a header': {
    path: '/healthzx',
    headers: { 'x-original-url': '/healthz', 'x-rewrite-url': '/healthz' },
  },
  'an impersonated administrator': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'kubernetes-admin', 'impersonate-group': 'system:masters' },
  },
  'impersonated groups': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:serviceaccount:attacked:nobody', 'impersonate-group': 'system:masters' },
  },
  'an impersonated controller': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:serviceaccount:kube-system:generic-garbage-collector' },
  },
  'an impersonated node': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' },
  },
  'front proxy headers': {
    path: `${NS}/secrets`,
    headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
  },
  'escalation by a review of himself': {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    method: 'POST',
    body: '{}',
  },
}

for (const [what, attempt] of Object.entries(refused))
  test(`without rights there is no way in: ${what}`, async () => {
    const { code, body } = await target.attempt({ ...attempt, token: target.token })
    assert.ok([301, 400, 403, 404, 405].includes(code), `${code} ${body.slice(0, 300)}`)
    assert.ok(!body.includes('"kind":"SecretList"') && !body.includes('root:'), body.slice(0, 300))
  })

const masters = { commonName: 'kubernetes-admin', organizations: ['system:masters'], validDays: 1 }
for (const [what, foreign] of Object.entries({
  'that signs itself': () => issue(runtime, { ...masters, usage: 'client' }),
  'that says it is an authority': () => issue(runtime, { ...masters, usage: 'ca' }),
  'for servers': () => issue(runtime, { ...masters, usage: 'server', hosts: ['localhost'] }),
  'of another authority': () => issue(runtime, { ...masters, usage: 'client' }, authority()),
}))
  test(`a foreign certificate ${what} is nobody's, though it names the administrator`, async () => {
    const { code } = await target.attempt({ path: `${NS}/secrets`, cert: foreign() })
    assert.ok(code === 401 || code === 0, String(code))
  })

test('nobody grants what he does not hold, by role, binding or aggregation', async () => {
  const user = { 'impersonate-user': 'climber' }
  await target.asAdmin('POST', `${RBAC}/namespaces/attacked/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'climber' },
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings'],
        verbs: ['create', 'get', 'update', 'patch'],
      },
    ],
  })
  await target.asAdmin('POST', `${RBAC}/namespaces/attacked/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'climber' },
    roleRef: ref('Role', 'climber'),
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'climber' }],
  })
  const role = (rules: unknown) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'up' },
    rules,
  })
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const tries = [
    target.asAdmin('POST', `${RBAC}/namespaces/attacked/roles`, role(everything), user),
    target.asAdmin(
      'POST',
      `${RBAC}/namespaces/attacked/roles`,
      role([{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]),
      user,
    ),
    target.asAdmin(
      'PATCH',
      `${RBAC}/namespaces/attacked/roles/climber`,
      { rules: everything },
      { ...user, 'content-type': 'application/merge-patch+json' },
    ),
    target.asAdmin(
      'PATCH',
      `${RBAC}/namespaces/attacked/roles/climber?fieldManager=m&force=true`,
      { ...role(everything), metadata: { name: 'climber' } },
      { ...user, 'content-type': 'application/apply-patch+yaml' },
    ),
    ...['cluster-admin', 'edit', 'system:kube-controller-manager'].map((name) =>
      target.asAdmin(
        'POST',
        `${RBAC}/namespaces/attacked/rolebindings`,
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: `b-${name.replaceAll(':', '-')}` },
          roleRef: ref('ClusterRole', name),
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'climber' }],
        },
        user,
      ),
    ),
  ]
  for (const { code, body } of await Promise.all(tries))
    assert.ok(code === 403 || (code === 201 && body.includes('"name":"edit"')), `${code} ${body.slice(0, 300)}`)
  assert.equal((await target.asAdmin('GET', `${NS}/secrets`, undefined, user)).code, 403)
})

test('a group with a comma in its name is one group, behind a proxy and impersonated', async () => {
  const whoami = async (attempt: Partial<Attempt>) => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const body = '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}'
    const answer = await target.attempt({ method: 'POST', path, body, ...attempt })
    return JSON.parse(answer.body).status?.userInfo?.groups
  }
  const group = ['devs,system:masters', 'b, system:masters']
  const all = [...group, 'system:authenticated']
  const proxied = { 'x-remote-user': 'u', 'x-remote-group': group, 'x-remote-extra-%zz': 'x' }
  assert.deepEqual(await whoami({ cert: target.frontProxy, headers: proxied }), all)
  const impersonated = { 'impersonate-user': 'u', 'impersonate-group': group }
  assert.deepEqual(await whoami({ cert: target.admin, headers: impersonated }), all)
})
