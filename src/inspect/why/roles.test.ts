/** Which service accounts a finalizer's domain is said to be of. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookAt } from './look-fixture.test.ts'
import { accountsOfDomain } from './roles.ts'

const RBAC = 'rbac.authorization.k8s.io/v1'

/** Accounts `default/ACCOUNT`, each with a role for the objects of one group. */
function clusterOf(groups: Readonly<Record<string, string>>) {
  const objects = Object.entries(groups).flatMap(([account, group]) => [
    {
      apiVersion: RBAC,
      kind: 'ClusterRole',
      metadata: { name: account },
      rules: [{ apiGroups: [group], resources: ['*'], verbs: ['get', 'update'] }],
    },
    {
      apiVersion: RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name: account },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
    },
  ])
  const served = ['Role', 'RoleBinding'].map((kind) => [RBAC, kind] as const)
  return lookAt({ objects, served, now: 0 }).reader
}

const accountsFor = async (domain: string, group: string) =>
  Object.fromEntries(await accountsOfDomain(clusterOf({ one: group }), domain, 'default'))

for (const [domain, group] of [
  ['populator.storage.k8s.io', 'snapshot.storage.k8s.io'],
  ['policy.networking.k8s.io', 'gateway.networking.k8s.io'],
  ['s3.services.k8s.aws', 'ec2.services.k8s.aws'],
  ['infrastructure.cluster.x-k8s.io', 'addons.cluster.x-k8s.io'],
  ['dynamodb.services.k8s.aws', 'dynamodb.aws.acme.test'],
  ['cluster.x-k8s.io', 'cluster.acme'],
  ['services.k8s.aws', 'services.k8s.io'],
  ['policy.x-k8s.io', 'policy.acme'],
  ['scheduling.x-k8s.io', 'scheduling.acme'],
  ['example.com', 'example.org'],
] as const)
  test(`a role for ${group} says nothing of a finalizer of ${domain}`, async () => {
    assert.deepEqual(await accountsFor(domain, group), {})
  })

for (const [domain, group] of [
  ['prow.x-k8s.io', 'prow.k8s.io'],
  ['karpenter.sh', 'karpenter.k8s.aws'],
] as const)
  test(`a role for ${group} suggests whose a finalizer of ${domain} is, and its own group is told`, async () => {
    const evidence = `its account default/one may write objects of ${group} by ClusterRole one`
    assert.deepEqual(await accountsFor(domain, group), { 'default/one': { evidence, isAlike: true } })
  })

test('where a role is for the very group, one for a group that is named alike says nothing', async () => {
  const accounts = await accountsOfDomain(
    clusterOf({ alike: 'prow.k8s.io', own: 'prow.x-k8s.io' }),
    'prow.x-k8s.io',
    '',
  )
  const evidence = 'its account default/own may write objects of prow.x-k8s.io by ClusterRole own'
  assert.deepEqual(Object.fromEntries(accounts), { 'default/own': { evidence, isAlike: false } })
})
