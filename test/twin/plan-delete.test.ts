/** What a delete takes with it, planned from a kubeconfig, is what it takes; and the source is only read. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Node } from '../../src/api/generated/types.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { storedItem } from '../../src/cluster/twin.ts'
import { deleteDeed } from '../../src/inspect/plan/delete-deed.ts'
import { type Plan, planDelete, planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { modelOf, type TwinModel } from '../../src/inspect/twin/twin.ts'
import {
  CONFIG_MAPS,
  configMap,
  core,
  DEFINITIONS,
  DEPLOYMENTS,
  definition,
  deployment,
  NAMESPACES,
  PODS,
  type Stage,
  startStage,
} from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(() => stage?.stop())

const namespace = (name: string) => stage.make(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const shape = ({ goes }: Plan) =>
  goes.map(({ object: { resource, name }, certainty }) => `${resource}/${name} ${certainty}`)

test('a namespace in which a finalizer is left: what goes, what stays and why, and what goes if it acts', async () => {
  await namespace('team')
  await stage.make(CONFIG_MAPS, configMap('held', { finalizers: ['acme.test/cleanup'] }, 'team'))
  await stage.cluster.clock.advance('5s')
  const plan = await planDelete(stage.source, { targets: [{ kind: 'ns', namespace: '', name: 'team' }] })
  assert.deepEqual(shape(plan), [
    'configmaps/kube-root-ca.crt goes',
    'serviceaccounts/default goes',
    'configmaps/held if others act',
    'namespaces/team if others act',
  ])
  assert.deepEqual(
    plan.stays.map(({ object: { name }, verdict, finalizers, goesIfOthersAct }) => [
      name,
      verdict,
      finalizers,
      goesIfOthersAct,
    ]),
    [
      ['team', 'nobody', ['kubernetes'], true],
      ['held', 'nobody', ['acme.test/cleanup'], true],
    ],
  )
  assert.deepEqual(
    plan.outside.map(({ kind, name }) => [kind, name]),
    [['finalizer', 'acme.test/cleanup']],
  )
  assert.deepEqual(
    stage.asked.filter((request) => !request.startsWith('GET ')),
    [
      'POST /apis/authentication.k8s.io/v1/selfsubjectreviews?dryRun=All',
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews?dryRun=All',
    ],
  )
  assert.equal((await stage.cluster.client.resource(NAMESPACES).get('team')).metadata.deletionTimestamp, undefined)
})

test('what is made again under the same name appears', async () => {
  await namespace('again')
  const labels = { a: 'db' }
  const containers = [{ name: 'c', image: 'x' }]
  const sets = { group: 'apps', version: 'v1', resource: 'statefulsets' }
  const template = { metadata: { labels }, spec: { containers, terminationGracePeriodSeconds: 0 } }
  const spec = { replicas: 1, serviceName: 'db', selector: { matchLabels: labels }, template }
  await stage.make(sets, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'again' },
    spec,
  })
  await stage.cluster.clock.advance('10s')
  const { metadata } = await stage.cluster.client.resource(PODS).namespace('again').get('db-0')
  const plan = await planDelete(stage.source, { targets: [{ kind: 'pod', namespace: 'again', name: 'db-0' }] })
  assert.deepEqual(
    plan.appears.map(({ name }) => name),
    ['db-0'],
  )
  assert.notEqual(plan.appears[0]?.uid, metadata.uid)
})

/** As the nodes of a cluster whose programs nothing is known of. */
function onRealNodes({ read }: TwinModel): TwinModel {
  const moved = (node: Node) => ({
    ...node,
    status: { ...node.status, nodeInfo: { ...node.status?.nodeInfo, containerRuntimeVersion: 'containerd://2.1.0' } },
  })
  const resources = read.resources.map((one) =>
    one.resource.resource === 'nodes'
      ? { ...one, items: one.items.map((item) => storedItem(moved(item.object() as Node))) }
      : one,
  )
  return modelOf({ ...read, resources })
}

test("a pod's end is a range, from obeying SIGTERM to the end of its grace; the order of the cascades is kept", async () => {
  await stage.make(DEPLOYMENTS, deployment('web', 2, { terminationGracePeriodSeconds: 30 }))
  await stage.make(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'sleeps', namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 20,
      containers: [{ name: 'c', image: 'i:1', lifecycle: { preStop: { sleep: { seconds: 5 } } } }],
    },
  })
  await stage.cluster.clock.advance('5s')
  const model = onRealNodes(await readModel(stage.source))
  const of = (targets: Parameters<typeof deleteDeed>[1]) =>
    planIn(stage.source, model, deleteDeed(model.read, targets), { orders: 0 })
  const pod = await of({ targets: [{ kind: 'pod', namespace: 'default', name: 'sleeps' }] })
  const [{ removed } = { removed: undefined }] = pod.goes
  assert.equal(pod.goes.length, 1)
  assert.ok(removed !== undefined && removed.least >= 5000 && removed.least < 6000, JSON.stringify(removed))
  assert.ok(removed.most >= 20_000 && removed.most < 23_000, JSON.stringify(removed))

  const target = { kind: 'deploy', namespace: 'default', name: 'web' }
  const kinds = (plan: Plan) => plan.goes.map(({ object }) => object.kind)
  assert.deepEqual(kinds(await of({ targets: [target], cascade: 'foreground' })), [
    'Pod',
    'Pod',
    'ReplicaSet',
    'Deployment',
  ])
  assert.deepEqual(kinds(await of({ targets: [target] })), ['Deployment', 'ReplicaSet', 'Pod', 'Pod'])
  const orphans = await of({ targets: [target], cascade: 'orphan' })
  assert.deepEqual(kinds(orphans), ['Deployment'])
  assert.deepEqual(
    orphans.orphaned.map(({ object, owners }) => [object.kind, owners]),
    [['ReplicaSet', ['Deployment/web']]],
  )
  const one = await of({ targets: [{ kind: 'pods', namespace: 'default', labelSelector: 'app=web' }] })
  assert.deepEqual(
    one.appears.map(({ kind }) => kind),
    ['Pod', 'Pod'],
  )
})

test('what loses one owner and waits for another is orphaned, and goes if the controller of the other acts', async () => {
  const owner = await stage.make(CONFIG_MAPS, configMap('owner'))
  const owned = (...owners: readonly KubeObject[]) =>
    owners.map(({ metadata: { name, uid } }) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid }))
  const held = await stage.make(
    CONFIG_MAPS,
    configMap('held-one', { finalizers: ['acme.test/f'], ownerReferences: owned(owner) }),
  )
  await stage.make(CONFIG_MAPS, configMap('of-both', { ownerReferences: owned(owner, held) }))
  const plan = await planDelete(stage.source, { targets: [{ kind: 'cm', namespace: 'default', name: 'owner' }] })
  assert.deepEqual(shape(plan), [
    'configmaps/owner goes',
    'configmaps/held-one if others act',
    'configmaps/of-both if others act',
  ])
  const orphaned = ({ orphaned: all }: Plan) =>
    all.map(({ object, owners, goesIfOthersAct }) => [object.name, owners, goesIfOthersAct])
  assert.deepEqual(orphaned(plan), [['of-both', ['ConfigMap/owner'], true]])
})

test('what leaves its owner by an orphaning delete is orphaned though the owner stays', async () => {
  const held = await stage.make(CONFIG_MAPS, configMap('held-two', { finalizers: ['acme.test/f'] }))
  const { name, uid } = held.metadata
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }]
  await stage.make(CONFIG_MAPS, configMap('left', { ownerReferences }))
  const targets = [{ kind: 'cm', namespace: 'default', name: 'held-two' }]
  const { orphaned } = await planDelete(stage.source, { targets, cascade: 'orphan' })
  assert.deepEqual(
    orphaned.map(({ object, goesIfOthersAct }) => [object.name, goesIfOthersAct]),
    [['left', false]],
  )
})

test('owners of each other, both named in the foreground, go if the garbage collector comes between the two deletes', async () => {
  await namespace('mutual')
  const a = await stage.make(CONFIG_MAPS, configMap('a', {}, 'mutual'))
  const owned = (name: string, uid = '') => ({
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }],
  })
  const b = await stage.make(CONFIG_MAPS, configMap('b', owned('a', a.metadata.uid), 'mutual'))
  const maps = stage.cluster.client.resource(CONFIG_MAPS).namespace('mutual')
  await maps.patch('a', 'merge', { metadata: owned('b', b.metadata.uid) })
  await stage.cluster.clock.advance('5s')
  const targets = ['a', 'b'].map((name) => ({ kind: 'cm', namespace: 'mutual', name }))
  const plan = await planDelete(stage.source, { targets, cascade: 'foreground' })
  assert.deepEqual(shape(plan).toSorted(), ['configmaps/a either', 'configmaps/b either'])
  assert.deepEqual(plan.stays.map(({ object: { name }, verdict }) => `${name} ${verdict}`).toSorted(), [
    'a cannot-end',
    'b cannot-end',
  ])
})

test('the end of a definition takes what its instances own, whichever version the owners are named in', async () => {
  await stage.make(DEFINITIONS, definition())
  await stage.cluster.clock.advance('5s')
  const shop = await stage.make(
    { group: 'acme.test', version: 'v1', resource: 'shops' },
    { apiVersion: 'acme.test/v1', kind: 'Shop', metadata: { name: 's', namespace: 'default' } },
  )
  const { name, uid } = shop.metadata
  const ownerReferences = [{ apiVersion: 'acme.test/v1', kind: 'Shop', name, uid }]
  await stage.make(CONFIG_MAPS, configMap('of-shop', { ownerReferences }))
  await stage.cluster.clock.advance('5s')
  const targets = [{ kind: 'crd', namespace: '', name: 'shops.acme.test' }]
  assert.deepEqual(shape(await planDelete(stage.source, { targets })).sort(), [
    'apiservices/v1.acme.test goes',
    'apiservices/v2.acme.test goes',
    'configmaps/of-shop goes',
    'customresourcedefinitions/shops.acme.test goes',
    'shops/s goes',
  ])
})

test('what is not there is refused, or ignored; a kind that is not served is a question that cannot be asked', async () => {
  const targets = [{ kind: 'cm', namespace: 'default', name: 'nope' }]
  const refused = await planDelete(stage.source, { targets })
  assert.deepEqual(refused.refused, [
    { what: 'configmaps/nope', message: 'configmaps "nope" not found', isMissing: true },
  ])
  assert.deepEqual((await planDelete(stage.source, { targets, ignoreNotFound: true })).refused, [])
  await assert.rejects(
    planDelete(stage.source, { targets: [{ kind: 'shoe', namespace: '', name: 'a' }] }),
    /serves no kind "shoe"/,
  )
})

test('a claim goes, and with its volume the disk: the driver is named', async () => {
  await stage.make(core('persistentvolumes'), {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'disk' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      csi: { driver: 'csi.acme.test', volumeHandle: 'x' },
      claimRef: { namespace: 'default', name: 'data' },
    },
  })
  await stage.make(core('persistentvolumeclaims'), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default' },
    spec: {
      storageClassName: '',
      volumeName: 'disk',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    },
  })
  await stage.cluster.clock.advance('20s')
  const plan = await planDelete(stage.source, { targets: [{ kind: 'pvc', namespace: 'default', name: 'data' }] })
  assert.deepEqual(
    plan.outside.map(({ kind, name, ifItActs }) => [kind, name, ifItActs]),
    [['driver', 'csi.acme.test', 'deletes persistentvolumes/disk, and the disk with its data']],
  )
})

test('beside pods that are evicted as soon as they are made, a clock comes to its end, and so does a plan', async () => {
  const beside = await startStage(1)
  try {
    const { client, clock } = beside.cluster
    const [node] = (await client.resource<Node>(core('nodes')).list()).items
    const nodeName = node?.metadata.name ?? ''
    const taints = [{ key: 'x', value: 'y', effect: 'NoExecute' }]
    await client.resource(core('nodes')).patch(nodeName, 'merge', { spec: { taints } })
    const loop = deployment('loop', 1, { nodeName })
    const sets = { group: 'apps', version: 'v1', resource: 'statefulsets' }
    await beside.make(sets, { ...loop, kind: 'StatefulSet' })
    await clock.advance('100ms')
    await client.resource(sets).namespace('default').delete('loop')
    await beside.make(DEPLOYMENTS, loop)
    await beside.make(CONFIG_MAPS, configMap('beside'))
    await clock.advance('100ms')
    const targets = [{ kind: 'cm', namespace: 'default', name: 'beside' }]
    assert.deepEqual(shape(await planDelete(beside.source, { targets }, { orders: 0 })), ['configmaps/beside goes'])
  } finally {
    await beside.stop()
  }
})
