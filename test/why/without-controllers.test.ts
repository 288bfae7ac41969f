/** What only shows where controllers do not run: deletes that nobody takes further, owners that wait for each other. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LATER, ownerOf } from './cases/case.ts'
import { hookConfig, hookServer } from './cases/servers-that-judge.ts'
import { configMap, type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage('--components', 'apiserver')
})
after(async () => stage?.stop())

test('case 12: two owners that are deleted in the foreground wait for each other', async () => {
  const [a, b] = [configMap('default', 'a'), configMap('default', 'b')]
  const [madeA, madeB] = await stage.make(a, b)
  const blocks = { blockOwnerDeletion: true }
  const owners = (of: object) => ({ metadata: of }) as never
  await stage.of(a).patch('a', 'merge', owners(ownerOf(b, madeB?.metadata.uid ?? '', blocks)))
  await stage.of(b).patch('b', 'merge', owners(ownerOf(a, madeA?.metadata.uid ?? '', blocks)))
  await stage.remove(a, { propagationPolicy: 'Foreground' })
  await stage.remove(b, { propagationPolicy: 'Foreground' })
  const { said, exitCode } = await stage.why('cm', 'a')
  assert.deepEqual([said['verdict'], said['cause'].kind, exitCode], ['cannot-end', 'owner-cycle', 14])
  assert.deepEqual(
    said['cause'].objects.map(({ name }: { name: string }) => name),
    ['a', 'b'],
  )
  assert.match(said['waysOut'][0].what, /blockOwnerDeletion/)
})

test('without a controller manager nobody takes a foreground delete further', async () => {
  const owner = configMap('default', 'owner')
  await stage.make(owner)
  await stage.remove(owner, { propagationPolicy: 'Foreground' })
  const { said } = await stage.why('cm', 'owner')
  assert.deepEqual([said['verdict'], said['cause'].kind], ['nobody', 'controller-missing'])
  assert.match(said['responsible'], /garbage collector \(kube-controller-manager\)/)
})

test('a webhook that is asked about deletes is not blamed for one that no controller asks for', async () => {
  const owner = configMap('default', 'guarded')
  const [made] = await stage.make(owner)
  const server = await hookServer(() => ({ allowed: true }))
  const rule = { operations: ['DELETE'], apiGroups: [''], resources: ['secrets'] }
  const hook = hookConfig('ValidatingWebhookConfiguration', 'guard', rule, { clientConfig: server.clientConfig })
  const dependent = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kept', namespace: 'default' } }
  const owned = ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true })
  await stage.make({ ...dependent, metadata: { ...dependent.metadata, ...owned } }, hook)
  await stage.remove(owner, { propagationPolicy: 'Foreground' })
  const { said } = await stage.why('cm', 'guarded', 'default', { later: LATER })
  await stage.remove(hook)
  await server.close()
  assert.deepEqual([said['verdict'], said['cause'].kind], ['nobody', 'controller-missing'])
})

test('nor is a namespace emptied', async () => {
  await stage.make({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } })
  await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } })
  const { said } = await stage.why('ns', 'ns')
  assert.deepEqual([said['verdict'], said['cause'].kind], ['nobody', 'controller-missing'])
  assert.match(said['responsible'], /namespace controller/)
})

test('a lease that a controller manager no longer renews says so', async () => {
  await stage.make({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
    spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
  })
  const { said } = await stage.why('ns', 'ns')
  assert.deepEqual([said['verdict'], said['cause'].kind], ['nobody', 'controller-not-leading'])
})
