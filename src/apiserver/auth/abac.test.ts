import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPolicyAuthorizer, type Policy, rulesOfPolicies } from './abac.ts'

// As a kube-apiserver v1.37.1 answered SubjectAccessReviews under these policies (2026-11-27).

const userOf = (name: string, ...groups: readonly string[]) => ({ name, uid: '', groups })
const NOWHERE = { version: '', subresource: '', name: '', group: '', resource: '', namespace: '', path: '' }

/** `what`: a verb and a path, or a verb, a resource and its namespace. */
function may(policies: readonly Policy[], user: ReturnType<typeof userOf>, what: string): boolean {
  const [verb = '', at = '', namespace = ''] = what.split(' ')
  const [resource = '', group = ''] = at.split('.')
  const request = at.startsWith('/')
    ? { ...NOWHERE, isResource: false, path: at }
    : { ...NOWHERE, isResource: true, resource, group, namespace }
  const decision = createPolicyAuthorizer(policies).authorize({ ...request, user, verb })
  assert.ok(!(decision instanceof Promise))
  assert.equal(decision.reason, decision.verdict === 'allow' ? '' : 'No policy matched.')
  return decision.verdict === 'allow'
}

test('a policy allows what it describes, and what it leaves out is the empty text', () => {
  const policies = [{ user: 'bob', namespace: 'ns1', resource: 'pods', readonly: true }]
  const bob = userOf('bob', 'system:authenticated')
  for (const verb of ['get', 'list', 'watch']) assert.ok(may(policies, bob, `${verb} pods ns1`))
  for (const refused of [
    'create pods ns1',
    'get pods ns2',
    'list pods',
    'get secrets ns1',
    'get pods.metrics.k8s.io ns1',
  ])
    assert.ok(!may(policies, bob, refused), refused)
  assert.ok(!may(policies, userOf('ann', 'bob'), 'get pods ns1'))
  assert.ok(!may(policies, bob, 'get /'))
  const ofCluster = [{ user: 'bob', resource: 'nodes' }]
  assert.ok(may(ofCluster, bob, 'delete nodes'))
  assert.ok(!may(ofCluster, bob, 'delete nodes ns1'))
})

test('a policy with a user and a group is for a user of that name who is in that group; one with neither is for none', () => {
  const both = [{ user: 'carol', group: 'ops', resource: 'pods', namespace: '*' }]
  assert.ok(may(both, userOf('carol', 'dev', 'ops'), 'get pods n'))
  assert.ok(!may(both, userOf('carol', 'dev'), 'get pods n'))
  assert.ok(!may(both, userOf('dave', 'ops'), 'get pods n'))
  assert.ok(!may([{ resource: '*', namespace: '*', apiGroup: '*' }], userOf('carol'), 'get pods n'))
  assert.ok(may([{ user: '*', group: 'ops', resource: 'pods', namespace: '*' }], userOf('x', 'ops'), 'get pods n'))
  assert.ok(may([{ group: '*', resource: 'pods', namespace: '*' }], userOf('x'), 'get pods n'))
})

test('a path that ends in * is the beginning of what is allowed', () => {
  const mia = userOf('mia')
  const begins = [{ user: 'mia', nonResourcePath: '/x*' }]
  for (const path of ['/x', '/xyz', '/x/y']) assert.ok(may(begins, mia, `post ${path}`), path)
  const below = [{ user: 'mia', nonResourcePath: '/y/*', readonly: true }]
  assert.ok(may(below, mia, 'get /y/z'))
  for (const refused of ['get /y', 'post /y/z', 'head /y/z', 'get pods']) assert.ok(!may(below, mia, refused), refused)
})

test('the rules of a user in a namespace are those of the policies for it, in their order', () => {
  const policies: readonly Policy[] = [
    { user: 'two', resource: 'pods', namespace: 'n', readonly: true },
    { user: 'two', resource: '*', namespace: '*', apiGroup: '*', nonResourcePath: '*' },
    { user: 'two', resource: 'x', namespace: 'm' },
    { user: 'two', nonResourcePath: '/healthz*' },
    { group: 'a', resource: 'jobs', namespace: 'n' },
    { user: 'two', namespace: 'n', nonResourcePath: '/q' },
  ]
  assert.deepEqual(rulesOfPolicies(policies, userOf('two'), 'n'), [
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['/q'] },
  ])
})
