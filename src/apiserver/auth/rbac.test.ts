import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import type { CacheReads } from '../reads.ts'
import type { Attributes } from './authorizer.ts'
import { createRbacAuthorizer, createRoleReads, grantedRules } from './rbac.ts'

const binding = (name: string, namespace: string | undefined, kind: string, role: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  roleRef: { kind, name: role },
  subjects: [{ kind: 'User', name: 'jane' }],
})

test('who is refused is told which of his roles are not there', () => {
  const objects: Readonly<Record<string, readonly KubeObject[]>> = {
    clusterrolebindings: [binding('a', undefined, 'ClusterRole', 'gone')],
    rolebindings: [binding('b', 'ns', 'Role', 'lost')],
  }
  const reads: CacheReads = {
    get: () => undefined,
    getLive: async () => undefined,
    list: (_group, resource) => (objects[resource] ?? []) as never,
  }
  const { authorize } = createRbacAuthorizer(createRoleReads(reads, () => 1))
  const asked = (namespace: string): Attributes => ({
    user: { name: 'jane', groups: [] },
    verb: 'get',
    isResource: true,
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace,
    name: '',
    path: '',
  })
  const gone = 'clusterrole.rbac.authorization.k8s.io "gone" not found'
  assert.deepEqual(authorize(asked('')), { verdict: 'no opinion', reason: `RBAC: ${gone}` })
  assert.deepEqual(authorize(asked('ns')), {
    verdict: 'no opinion',
    reason: `RBAC: [${gone}, role.rbac.authorization.k8s.io "lost" not found]`,
  })
})

test('a binding to several subjects that a user is grants once, by the first of them', () => {
  const both = {
    ...binding('a', undefined, 'ClusterRole', 'viewer'),
    subjects: ['staff', 'guests'].map((name) => ({ kind: 'Group', name })),
  }
  const role = { metadata: { name: 'viewer' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }] }
  const reads: CacheReads = {
    get: () => role as never,
    getLive: async () => undefined,
    list: (_group, resource) => (resource === 'clusterrolebindings' ? [both] : []) as never,
  }
  const { rules } = grantedRules(
    createRoleReads(reads, () => 1),
    { name: 'jane', groups: ['guests', 'staff'] },
    '',
  )
  assert.deepEqual(
    rules.map(({ rule, describe }) => [rule, describe()]),
    [[role.rules[0], 'RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "viewer" to Group "staff"']],
  )
})
