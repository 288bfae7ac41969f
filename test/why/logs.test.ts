/** What a controller's own log says is read, where it may be. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { define, operator, type Stage, startStage, workload } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

/** An object that is being deleted, and then its operator, whose pods print these lines as they start. */
async function withLog(kind: string, log: string): Promise<Fields> {
  const name = `${kind.toLowerCase()}-operator`
  const group = `${kind.toLowerCase()}.acme.test`
  await define(stage, group, kind)
  const object = {
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: 'x', namespace: 'default', finalizers: [`${group}/cleanup`] },
  }
  await stage.make(object)
  await stage.remove(object)
  const { template } = workload('', name)['spec']
  const metadata = { ...template.metadata, annotations: { 'sim.skiff.dev/log': log } }
  await operator(stage, name, group, { template: { ...template, metadata } })
  return object
}

test('a failure that the log of an operator tells of is the cause', async () => {
  await withLog('Gadget', 'starting\nERROR Gadget default/x: bucket is not empty\n')
  const { said, exitCode } = await stage.why('gadget', 'x')
  assert.deepEqual(
    [said['verdict'], said['cause'].kind, said['cause'].source],
    ['refused', 'controller-failing', 'log'],
  )
  assert.equal(said['inferred'], true)
  assert.equal(exitCode, 12)
  assert.match(said['responsible'], /gadget-operator/)
  assert.match(said['sentence'], /its log says: ERROR Gadget default\/x: bucket is not empty/)
})

test('an operator whose log goes on after a failure is at work', async () => {
  await withLog('Wheel', 'ERROR Wheel default/x: bucket is not empty\nWheel default/x: bucket emptied\n')
  const { said } = await stage.why('wheel', 'x')
  assert.deepEqual([said['verdict'], said['cause'].kind], ['slow', 'controller-at-work'])
})

test('who may not read logs is told so, and of nothing that they say', async () => {
  await withLog('Lever', 'ERROR Lever default/x: bucket is not empty\n')
  const rbac = 'rbac.authorization.k8s.io/v1'
  await stage.make(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'looker', namespace: 'default' } },
    {
      apiVersion: rbac,
      kind: 'ClusterRole',
      metadata: { name: 'looker' },
      rules: [
        { apiGroups: ['lever.acme.test', 'apps', 'coordination.k8s.io'], resources: ['*'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['pods', 'events', 'serviceaccounts'], verbs: ['get', 'list'] },
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['get', 'list'] },
      ],
    },
    {
      apiVersion: rbac,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'looker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'looker' },
      subjects: [{ kind: 'ServiceAccount', name: 'looker', namespace: 'default' }],
    },
  )
  const accounts = stage.of({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'default' } })
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} }
  const { token } = (await accounts.create(review, { subresource: 'token', name: 'looker' }))['status']
  const { said } = await stage.why('lever', 'x', 'default', { token })
  assert.deepEqual([said['verdict'], said['cause'].kind], ['slow', 'controller-at-work'])
  const unseen: readonly Fields[] = said['unseen']
  assert.ok(unseen.some(({ what, why }) => /\/log$/.test(what) && /cannot get resource "pods\/log"/.test(why)))
})
