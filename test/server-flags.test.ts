/** What flags of `skiff up` decide about requests: privileged containers, and requests without credentials. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startTarget, type Target } from './security/attacker.ts'

const PODS = '/api/v1/namespaces/attacked/pods'
const privileged = {
  serviceAccountName: 'nobody',
  containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }],
  initContainers: [{ name: 'i', image: 'i', securityContext: { privileged: true } }],
}
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: privileged }
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: privileged },
  },
}
const DRY = '?dryRun=All'

/** The code of an answer to a request without credentials, and what it says. */
async function nobody(target: Target, path: string, method = 'GET'): Promise<readonly [number, string]> {
  const { code, body } = await target.attempt({ path, method })
  return [code, code === 200 ? '' : JSON.parse(body).message]
}

describe('by default', () => {
  let target: Target
  before(async () => {
    target = await startTarget()
  })
  after(() => target?.stop())

  test('privileged containers may run, as kubeadm, kind and k3s let them', async () => {
    assert.equal((await target.asAdmin('POST', `${PODS}${DRY}`, pod)).code, 201)
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    assert.equal((await target.asAdmin('POST', `${deployments}${DRY}`, deployment)).code, 201)
  })

  test('a request without credentials is told health and the version, and is forbidden everything else', async () => {
    for (const path of ['/version', '/version/', '/healthz', '/livez', '/readyz', '/readyz?verbose'])
      assert.deepEqual(await nobody(target, path), [200, ''], path)
    for (const path of [
      '/',
      '/api',
      '/apis',
      '/metrics',
      '/openapi/v2',
      '/livez/ping',
      '/.well-known/openid-configuration',
    ])
      assert.deepEqual(await nobody(target, path), [
        403,
        `forbidden: User "system:anonymous" cannot get path "${path}"`,
      ])
    assert.deepEqual(await nobody(target, PODS), [
      403,
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "attacked"',
    ])
    assert.deepEqual(await nobody(target, '/healthz', 'POST'), [
      403,
      'forbidden: User "system:anonymous" cannot post path "/healthz"',
    ])
  })

  test('a role may let system:anonymous read, as kubeadm lets it read cluster-info', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public'
    const info = '/api/v1/namespaces/kube-public/configmaps/cluster-info'
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const metadata = { name: 'cluster-info' }
    await target.asAdmin('POST', '/api/v1/namespaces/kube-public/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
    })
    assert.equal((await nobody(target, info))[0], 403)
    const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }]
    await target.asAdmin('POST', `${rbac}/roles`, { apiVersion, kind: 'Role', metadata, rules })
    await target.asAdmin('POST', `${rbac}/rolebindings`, {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'cluster-info' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:anonymous' }],
    })
    assert.equal((await nobody(target, info))[0], 200)
  })

  test('credentials that are wrong are refused everywhere, health too', async () => {
    for (const path of ['/version', '/healthz', PODS])
      assert.equal((await target.attempt({ path, token: 'bogus' })).code, 401, path)
  })
})

describe('with --allow-privileged=false and --anonymous-auth=false', () => {
  let target: Target
  before(async () => {
    target = await startTarget(['--allow-privileged=false', '--anonymous-auth=false'])
  })
  after(() => target?.stop())

  test('privileged containers are refused', async () => {
    const { code, body } = await target.asAdmin('POST', `${PODS}${DRY}`, pod)
    assert.equal(code, 422)
    assert.match(body, /spec\.containers\[0\]\.securityContext\.privileged: Forbidden: disallowed by cluster policy/)
  })

  test('a request without credentials is refused, health too', async () => {
    for (const path of ['/version', '/healthz', '/livez', '/readyz', PODS])
      assert.deepEqual(await nobody(target, path), [401, 'Unauthorized'], path)
  })
})

describe('with an AuthenticationConfiguration that says where requests may be anonymous', () => {
  let target: Target
  const directory = mkdtempSync(join(tmpdir(), 'skiff-anonymous-'))
  const file = join(directory, 'authentication.yaml')
  before(async () => {
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/metrics' }] }
    const apiVersion = 'apiserver.config.k8s.io/v1'
    writeFileSync(file, JSON.stringify({ apiVersion, kind: 'AuthenticationConfiguration', anonymous }))
    target = await startTarget(['--authentication-config', file])
  })
  after(async () => {
    await target?.stop()
    rmSync(directory, { recursive: true })
  })

  test('there they are of system:anonymous, elsewhere refused', async () => {
    for (const path of ['/livez', '/readyz', '/readyz?verbose'])
      assert.equal((await nobody(target, path))[0], 200, path)
    assert.equal((await nobody(target, '/metrics'))[0], 403)
    for (const path of ['/version', '/healthz', '/livez/ping', '/livez/', PODS])
      assert.deepEqual(await nobody(target, path), [401, 'Unauthorized'], path)
  })

  test('the flag says it too: refused', async () => {
    await assert.rejects(
      startTarget(['--authentication-config', file, '--anonymous-auth=true']),
      /--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file/,
    )
  })
})

test('where everything is allowed, requests without credentials are refused', async () => {
  const target = await startTarget(['--authorization-mode=AlwaysAllow', '--anonymous-auth=true'])
  try {
    for (const path of ['/livez', '/version', '/api/v1/secrets'])
      assert.deepEqual(await nobody(target, path), [401, 'Unauthorized'], path)
    assert.equal((await target.attempt({ path: '/api/v1/secrets', token: target.token })).code, 200)
  } finally {
    await target.stop()
  }
})
