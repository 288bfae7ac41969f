/** What is decided by policies (mode ABAC), and where everything is allowed: as a kube-apiserver v1.37.1 answered on 2026-11-27. */
import assert from 'node:assert/strict'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startTarget, type Target } from './attacker.ts'
import { authorizers } from './hooked.ts'
import { until } from './until.ts'

const folder = mkdtempDisposableSync(join(tmpdir(), 'skiff-modes-'))
const stops: (() => Promise<void>)[] = []
after(async () => {
  for (const stop of stops) await stop()
  folder.remove()
})
const file = (name: string, text: string) => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const start = async (...args: readonly string[]): Promise<Target> => {
  const target = await startTarget(['--token-auth-file', file('tokens.csv', 't2,two,2\nt3,three,3\n'), ...args])
  stops.push(target.stop)
  return target
}
const policies = (...specs: readonly object[]) =>
  specs
    .map((spec) => JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec }))
    .join('\n')
const rulesOf = async (target: Target, token: string) => {
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: 'n' } }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
  return target.attempt({ method: 'POST', path, token, body: JSON.stringify(review) })
}
const roles = async (target: Target): Promise<number> =>
  JSON.parse((await target.asAdmin('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles')).body).items.length
const HOOK = 'poststarthook/rbac/bootstrap-roles'
const isChecked = async (target: Target) => (await target.asAdmin('GET', '/livez?verbose')).body.includes(HOOK)

test('policies decide, there are no roles, and rules are listed', async () => {
  const given = policies(
    { user: 'two', resource: 'pods', namespace: 'n', readonly: true },
    { user: 'two', resource: '*', namespace: 'n', apiGroup: 'authorization.k8s.io' },
    { user: 'two', resource: 'selfsubjectrulesreviews', apiGroup: 'authorization.k8s.io' },
  )
  const file1 = file('policies.jsonl', given)
  const target = await start('--authorization-mode', 'ABAC', '--authorization-policy-file', file1)
  assert.equal((await target.attempt({ path: '/api/v1/namespaces/n/pods', token: 't2' })).code, 200)
  const refused = await target.attempt({ path: '/api/v1/secrets', token: 't3' })
  assert.equal(refused.code, 403)
  assert.match(refused.body, /cannot list resource .* at the cluster scope: abac: No policy matched\./)
  assert.equal((await target.attempt({ path: '/healthz' })).code, 403)
  assert.deepEqual(JSON.parse((await rulesOf(target, 't2')).body).status, {
    resourceRules: [
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['*'], apiGroups: ['authorization.k8s.io'], resources: ['*'] },
    ],
    nonResourceRules: [],
    incomplete: false,
  })
  assert.equal((await rulesOf(target, 't3')).code, 403)
  assert.equal(await roles(target), 0)
  assert.equal(await isChecked(target), false)
})

test('a file of modes that changes neither adds RBAC nor has the policies read again', async () => {
  const abac = { type: 'ABAC', name: 'abac' }
  const modes = file('authorization.json', authorizers(abac))
  const file2 = file('of-modes.jsonl', policies({ user: 'two', resource: 'pods', namespace: '*' }))
  const target = await start('--authorization-config', modes, '--authorization-policy-file', file2)
  writeFileSync(file2, policies({ user: 'three', resource: 'pods', namespace: '*' }))
  const counted = (status: string) => async () =>
    new RegExp(`authorization_config_controller_automatic_reloads_total\\{[^}]*status="${status}"\\} 1`).test(
      (await target.asAdmin('GET', '/metrics')).body,
    )
  writeFileSync(modes, authorizers(abac, { type: 'RBAC', name: 'rbac' }))
  await until(counted('failure'))
  writeFileSync(modes, authorizers(abac, { type: 'AlwaysDeny', name: 'alwaysdeny' }))
  await until(counted('success'))
  const path = '/api/v1/namespaces/n/pods'
  assert.equal((await target.attempt({ path, token: 't2' })).code, 200)
  const refused = await target.attempt({ path, token: 't3' })
  assert.match(refused.body, /abac: No policy matched\.\\nalwaysdeny: Everything is forbidden\./)
})

test('where everything is allowed each known user may do it, and requests without credentials are refused', async () => {
  const target = await start('--authorization-mode', 'AlwaysAllow')
  assert.equal((await target.attempt({ path: '/api/v1/secrets', token: 't3' })).code, 200)
  assert.equal((await target.attempt({ path: '/healthz' })).code, 401)
  assert.deepEqual(JSON.parse((await rulesOf(target, 't3')).body).status, {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  })
  assert.equal(await roles(target), 0)
  assert.equal(await isChecked(target), false)
})

test('with RBAC among the modes there are its roles', async () => {
  const file3 = file('none.jsonl', '')
  const target = await start('--authorization-mode', 'ABAC,RBAC', '--authorization-policy-file', file3)
  assert.ok((await roles(target)) > 70)
  assert.equal(await isChecked(target), true)
  assert.equal((await target.attempt({ path: '/healthz' })).code, 200)
})
