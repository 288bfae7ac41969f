/** What is tried without rights, with a foreign certificate, or with some rights by an account that wants more. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Attempt, type Outcome, startTarget, type Target } from './attacker.ts'
import { deadEnds, foreignCertificates, NS, ownCertificate, permissions, RBAC, roleRef, SETTING } from './attempts.ts'

let target: Target
before(async () => {
  target = await startTarget()
  for (const attempt of SETTING) {
    const { code, body } = await target.attempt({ ...attempt, cert: target.admin })
    assert.equal(code, 201, `${attempt.path}: ${body.slice(0, 300)}`)
  }
})
after(() => target?.stop())

/** Asked without rights first: had it an effect, the administrator's request would meet it. */
async function askTwice(attempt: Attempt): Promise<{ readonly attacker: Outcome; readonly admin: Outcome }> {
  const attacker = await target.attempt({ ...attempt, token: target.token })
  return { attacker, admin: await target.attempt({ ...attempt, cert: target.admin }) }
}

const said = ({ body }: Outcome): string => body.slice(0, 300)

for (const [what, { admin: done, ...attempt }] of Object.entries(permissions))
  test(`it is a matter of permission: ${what}`, async () => {
    const { attacker, admin } = await askTwice(attempt)
    assert.equal(attacker.code, 403, said(attacker))
    assert.equal(JSON.parse(attacker.body).reason, 'Forbidden')
    assert.equal(admin.code, done, said(admin))
  })

for (const [what, { attacker: refused, admin: ended, ...attempt }] of Object.entries(deadEnds))
  test(`it is refused to everyone: ${what}`, async () => {
    const { attacker, admin } = await askTwice(attempt)
    assert.equal(attacker.code, refused, said(attacker))
    assert.equal(admin.code, ended, said(admin))
  })

for (const [what, foreign] of Object.entries(foreignCertificates))
  test(`a foreign certificate ${what} is nobody's, though it names the administrator`, async () => {
    const path = `${NS}/secrets`
    assert.equal((await target.attempt({ path, cert: foreign(target) })).code, 401)
    assert.equal((await target.attempt({ path, cert: ownCertificate(target) })).code, 200)
  })

test('a proxy is believed about its user, and only a proxy', async () => {
  const path = `${NS}/secrets`
  const headers = { 'x-remote-user': 'kubernetes-admin', 'x-remote-group': 'system:masters' }
  assert.equal((await target.attempt({ path, headers, token: target.token })).code, 403)
  assert.equal((await target.attempt({ path, headers, cert: target.frontProxy })).code, 200)
})

const rbac = (kind: string, name: string, more: object) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name },
  ...more,
})
const climber = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'climber' }]

test('what is not held is not granted, by role, binding or aggregation', async () => {
  const [roles, bindings] = [`${RBAC}/namespaces/attacked/roles`, `${RBAC}/namespaces/attacked/rolebindings`]
  const held = [
    {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'rolebindings'],
      verbs: ['create', 'get', 'update', 'patch'],
    },
  ]
  for (const [path, object] of [
    [roles, rbac('Role', 'climber', { rules: held })],
    [bindings, rbac('RoleBinding', 'climber', { roleRef: roleRef('Role', 'climber'), subjects: climber })],
  ] as const)
    assert.equal((await target.asAdmin('POST', path, object)).code, 201)
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
  const patched = { 'content-type': 'application/merge-patch+json' }
  const applied = { 'content-type': 'application/apply-patch+yaml' }
  const binding = (name: string) =>
    rbac('RoleBinding', `b-${name.replaceAll(':', '-')}`, {
      roleRef: roleRef('ClusterRole', name),
      subjects: climber,
    })
  const tries: readonly (readonly [string, string, object, Readonly<Record<string, string>>, number])[] = [
    ['POST', roles, rbac('Role', 'up', { rules: everything }), {}, 201],
    ['POST', roles, rbac('Role', 'aside', { rules: secrets }), {}, 201],
    ['PATCH', `${roles}/climber`, { rules: secrets }, patched, 200],
    [
      'PATCH',
      `${roles}/climber?fieldManager=m&force=true`,
      rbac('Role', 'climber', { rules: everything }),
      applied,
      200,
    ],
    ['PUT', `${roles}/climber`, rbac('Role', 'climber', { rules: everything }), {}, 200],
    ['PATCH', `${roles}/new?fieldManager=m`, rbac('Role', 'new', { rules: secrets }), applied, 201],
    ['PUT', `${roles}/put`, rbac('Role', 'put', { rules: secrets }), {}, 201],
    ['POST', bindings, binding('cluster-admin'), {}, 201],
    ['POST', bindings, binding('system:aggregate-to-edit'), {}, 201],
    ['POST', bindings, binding('system:kube-controller-manager'), {}, 201],
  ]
  const user = { 'impersonate-user': 'climber' }
  const own = await target.asAdmin('POST', roles, rbac('Role', 'down', { rules: held }), user)
  assert.equal(own.code, 201, said(own))
  for (const [method, path, object, headers] of tries) {
    const refused = await target.asAdmin(method, path, object, { ...user, ...headers })
    assert.equal(refused.code, 403, `${method} ${path}: ${said(refused)}`)
    assert.match(JSON.parse(refused.body).message, /is attempting to grant RBAC permissions not currently held/)
  }
  assert.equal((await target.asAdmin('GET', `${NS}/secrets`, undefined, user)).code, 403)
  for (const [method, path, object, headers, code] of tries) {
    const done = await target.asAdmin(method, path, object, headers)
    assert.equal(done.code, code, `${method} ${path}: ${said(done)}`)
  }
})

test('a role that gathers rules is only changed by an account that holds everything, also to gather none', async () => {
  const roles = `${RBAC}/clusterroles`
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'gatherer' }]
  const rules = [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['get', 'update'] }]
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { 'attack.example.com/gathered': 'true' } }] }
  for (const [path, object] of [
    [roles, rbac('ClusterRole', 'gatherer', { rules })],
    [
      `${RBAC}/clusterrolebindings`,
      rbac('ClusterRoleBinding', 'gatherer', { roleRef: roleRef('ClusterRole', 'gatherer'), subjects }),
    ],
    [roles, rbac('ClusterRole', 'gathering', { aggregationRule })],
    [roles, rbac('ClusterRole', 'plain', { rules: [] })],
  ] as const)
    assert.equal((await target.asAdmin('POST', path, object)).code, 201)
  const put = (name: string, more: object, headers = {}) =>
    target.asAdmin('PUT', `${roles}/${name}`, rbac('ClusterRole', name, more), headers)
  const user = { 'impersonate-user': 'gatherer' }
  assert.equal((await put('plain', { rules }, user)).code, 200)
  for (const [name, more] of [
    ['gathering', { rules }],
    ['plain', { rules, aggregationRule }],
  ] as const) {
    const refused = await put(name, more, user)
    assert.equal(refused.code, 403, said(refused))
    assert.match(JSON.parse(refused.body).message, /must have cluster-admin privileges to use the aggregationRule/)
    assert.equal((await put(name, more)).code, 200)
  }
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
