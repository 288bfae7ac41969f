/** Drains, uninstalls and applies, planned: budgets that refuse, orders that deadlock, what an update replaces. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import type { Deed } from '../../src/inspect/plan/deed.ts'
import { deleteDeed } from '../../src/inspect/plan/delete-deed.ts'
import { drainDeed } from '../../src/inspect/plan/drain-deed.ts'
import { applyDeed, uninstallDeed } from '../../src/inspect/plan/manifest-deeds.ts'
import { type Plan, planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { rehearse } from '../../src/inspect/plan/rehearse.ts'
import { planAs } from '../../src/inspect/plan/report.ts'
import type { ReadCluster } from '../../src/inspect/twin/read-cluster.ts'
import { core, DEFINITIONS, DEPLOYMENTS, definition, deployment, type Stage, startStage } from './stage.ts'

const RBAC = 'rbac.authorization.k8s.io'
const SHOPS = { group: 'acme.test', version: 'v1', resource: 'shops' }
const shop = {
  apiVersion: 'acme.test/v1',
  kind: 'Shop',
  metadata: { name: 'shop', namespace: 'default', finalizers: ['acme.test/cleanup'] },
}
const operator = deployment('acme-operator', 1, { serviceAccountName: 'acme-operator' })
const file = (name: string, ...objects: readonly object[]) => ({ name, objects: objects as readonly KubeObject[] })

let stage: Stage
before(async () => {
  stage = await startStage(2)
  await stage.make(DEFINITIONS, definition())
  await stage.make(core('serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'acme-operator', namespace: 'default' },
  })
  await stage.make(
    { group: RBAC, version: 'v1', resource: 'clusterroles' },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'acme-operator' },
      rules: [{ apiGroups: ['acme.test'], resources: ['*'], verbs: ['*'] }],
    },
  )
  await stage.make(
    { group: RBAC, version: 'v1', resource: 'clusterrolebindings' },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'acme-operator' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'acme-operator' },
      subjects: [{ kind: 'ServiceAccount', name: 'acme-operator', namespace: 'default' }],
    },
  )
  await stage.make(DEPLOYMENTS, operator)
  await stage.make(DEPLOYMENTS, deployment('web', 2))
  await stage.cluster.clock.advance('2s')
  await stage.make(SHOPS, shop)
  await stage.cluster.clock.advance('10s')
})
after(() => stage?.stop())

async function plan(deedOf: (read: ReadCluster) => Deed): Promise<Plan> {
  const model = await readModel(stage.source)
  return planIn(stage.source, model, deedOf(model.read), { orders: 0 })
}
const ends = ({ stages }: Plan) => stages.map(({ ended }) => ended !== undefined)
const certain = ({ goes }: Plan, kind: string) =>
  goes.filter(({ object, certainty }) => object.kind === kind && certainty === 'goes').length

test('an operator that goes before what it has to clean up is a deadlock; the other way round it is none', async () => {
  const files = { operator: file('operator', operator), shop: file('shop', shop), crd: file('crd', definition()) }
  const wrong = await plan((read) =>
    uninstallDeed(read, [files.operator, files.shop, files.crd], { namespace: 'default' }, {}),
  )
  assert.deepEqual(ends(wrong), [true, false, false])
  assert.match(wrong.stages[1]?.heldBy[0] ?? '', /shops\.acme\.test\/shop .*acme\.test\/cleanup/)
  assert.deepEqual(wrong.stays.map(({ object }) => object.kind).sort(), ['CustomResourceDefinition', 'Shop'])
  assert.deepEqual(
    wrong.outside.map(({ kind, name }) => [kind, name]),
    [['finalizer', 'acme.test/cleanup']],
  )
  assert.deepEqual(wrong.endsInOrder, ['delete -f shop', 'delete -f crd', 'delete -f operator'])
  assert.match(
    planAs('tree', wrong),
    /^none in this order:\n {2}delete -f shop\n {2}delete -f crd\n {2}delete -f operator$/m,
  )
  const right = await plan((read) =>
    uninstallDeed(read, [files.shop, files.operator, files.crd], { namespace: 'default' }, {}),
  )
  assert.deepEqual(ends(right), [true, true, true])
  assert.equal(right.endsInOrder, undefined)
  assert.deepEqual(right.stays, [])
  assert.equal(certain(right, 'Shop'), 1)
})

test('a drain that a budget refuses says so, with its words, and what goes before', async () => {
  await stage.make(
    { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'all', namespace: 'default' },
      spec: { minAvailable: '100%', selector: { matchLabels: { app: 'acme-operator' } } },
    },
  )
  await stage.cluster.clock.advance('2s')
  const pods = (await stage.cluster.client.resource(core('pods')).list()).items
  const node = pods.find(({ metadata }) => metadata.labels?.['app'] === 'acme-operator')?.['spec'].nodeName as string
  const own = pods.filter((pod) => pod['spec'].nodeName === node).length
  const drained = await plan((read) => drainDeed(read, { nodes: [node] }))
  assert.equal(drained.refused.length, 1)
  assert.match(drained.refused[0]?.message ?? '', /disruption budget/)
  assert.equal(certain(drained, 'Pod'), own - 1)
  assert.equal(drained.appears.filter(({ kind }) => kind === 'Pod').length, own - 1)
  const forced = await plan((read) => drainDeed(read, { nodes: [node], disableEviction: true }))
  assert.equal(certain(forced, 'Pod'), own)
})

test('several nodes are cordoned, then drained one after the other; one that is not there keeps all of them', async () => {
  const nodes = ['skiff-1', 'skiff-2']
  const drained = await plan((read) => drainDeed(read, { nodes, podSelector: 'app=web' }))
  assert.deepEqual(
    drained.stages.map(({ what }) => what),
    ['cordon node/skiff-1, node/skiff-2', 'drain node/skiff-1', 'drain node/skiff-2'],
  )
  assert.equal(certain(drained, 'Pod'), 2)
  const chosen = { selector: 'kubernetes.io/hostname in (skiff-1)' }
  const byLabel = await plan((read) => drainDeed(read, { nodes: chosen, podSelector: 'app=web' }))
  assert.equal(byLabel.deed, 'drain node/skiff-1')
  const none = await plan((read) => drainDeed(read, { nodes: ['skiff-1', 'nope'] }))
  assert.deepEqual(none.refused, [{ what: 'nodes/nope', message: 'nodes "nope" not found', isMissing: true }])
  assert.deepEqual(none.goes, [])
})

test('a drain with a timeout gives up then, and one without when nothing comes of it, whatever else goes on', async () => {
  const schedule = '* * * * *'
  const job = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } }
  await stage.make(
    { group: 'batch', version: 'v1', resource: 'cronjobs' },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'often', namespace: 'default' },
      spec: { schedule, successfulJobsHistoryLimit: 0, jobTemplate: job },
    },
  )
  const pods = (await stage.cluster.client.resource(core('pods')).list({ labelSelector: 'app=acme-operator' })).items
  const nodes = [pods[0]?.['spec'].nodeName as string]
  const drain = { nodes, podSelector: 'app=acme-operator' }
  for (const request of [drain, { ...drain, timeoutMs: 20_000 }]) {
    const { refused, appears } = await plan((read) => drainDeed(read, request))
    assert.equal(refused.length, 1)
    // What the CronJob makes meanwhile does not come of the deed.
    assert.deepEqual(appears, [])
  }
  await stage.cluster.client
    .resource({ group: 'batch', version: 'v1', resource: 'cronjobs' })
    .namespace('default')
    .delete('often')
})

test('a Job that never ends keeps no plan waiting, and is no part of it but by the pods that the deed takes from it', async () => {
  const jobs = { group: 'batch', version: 'v1', resource: 'jobs' }
  const template = {
    metadata: { annotations: { 'sim.skiff.dev/exit-after': '4s' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  }
  await stage.make(jobs, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'endless', namespace: 'default' },
    spec: { completions: 1_000_000, parallelism: 2, template },
  })
  await stage.make(core('configmaps'), configMapOf('quiet'))
  await stage.cluster.clock.advance('5s')
  const model = await readModel(stage.source)
  const target = { namespace: 'default', name: 'quiet' }
  const quiet = deleteDeed(model.read, { targets: [{ ...target, kind: 'configmap' }] })
  const { rest, steps } = await rehearse(stage.source, model, quiet, 'obeys')
  assert.equal(steps.length, 1)
  // It makes two in some five seconds.
  const made = rest.filter(({ key }) => key.startsWith('/registry/pods/default/endless-')).length
  assert.ok(made > 20 && made < 80, `${made} pods at rest`)
  assert.deepEqual((await planIn(stage.source, model, quiet, { orders: 0 })).appears, [])
  const pods = (await stage.cluster.client.resource(core('pods')).list({ labelSelector: 'job-name=endless' })).items
  const running = pods.find((pod) => pod['status'].phase === 'Running')?.metadata.name ?? ''
  const one = deleteDeed(model.read, { targets: [{ kind: 'pod', namespace: 'default', name: running }] })
  const { goes, appears } = await planIn(stage.source, model, one, { orders: 0 })
  assert.deepEqual([goes.map(({ object }) => object.name), appears.length], [[running], 1])
  await stage.cluster.client.resource(jobs).namespace('default').delete('endless', { propagationPolicy: 'Foreground' })
  await stage.cluster.clock.advance('60s')
})

test('what an owner elsewhere begins by the deed is followed to its end, however slow; what it does without the deed is not', async () => {
  const sets = { group: 'apps', version: 'v1', resource: 'statefulsets' }
  const { spec } = deployment('slow', 4)
  const set = { ...spec, serviceName: 'slow', minReadySeconds: 80 }
  await stage.make(core('namespaces'), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'quota' } })
  await stage.cluster.clock.advance('1s')
  await stage.make(sets, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'slow', namespace: 'quota' },
    spec: set,
  })
  await stage.cluster.clock.advance('400s')
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'three', namespace: 'quota' },
    spec: { hard: { pods: '3' } },
  }
  await stage.make(core('resourcequotas'), quota)
  await stage.make(core('configmaps'), configMapOf('beside'))
  await stage.cluster.clock.advance('1s')
  const apps = stage.cluster.client.resource(sets).namespace('quota')
  const { containers } = spec.template.spec
  await apps.patch('slow', 'merge', {
    spec: { template: { spec: { containers: containers.map((one) => ({ ...one, image: 'i:2' })) } } },
  } as never)
  await stage.cluster.clock.advance('30s')
  const model = await readModel(stage.source)
  const of = (kind: string, namespace: string, name: string) =>
    deleteDeed(model.read, { targets: [{ kind, namespace, name }] })
  const goneBy = async (deed: Deed) => {
    const { steps } = await rehearse(stage.source, model, deed, 'obeys')
    return steps.flatMap(({ changes, object }) =>
      object.kind === 'Pod' && changes.some(({ type }) => type === 'removed') ? [object.name] : [],
    )
  }
  // Each waits 80 seconds for the one before.
  assert.deepEqual(await goneBy(of('resourcequota', 'quota', 'three')), ['slow-2', 'slow-1', 'slow-0'])
  await stage.cluster.client.resource(core('resourcequotas')).namespace('quota').delete('three')
  await stage.cluster.clock.advance('1s')
  const alone = await readModel(stage.source)
  const beside = deleteDeed(alone.read, { targets: [{ kind: 'configmap', namespace: 'default', name: 'beside' }] })
  const { steps } = await rehearse(stage.source, alone, beside, 'obeys')
  assert.ok(!steps.some(({ object }) => object.name === 'slow-0'))
  await stage.cluster.client.resource(core('namespaces')).delete('quota')
  await stage.cluster.clock.advance('60s')
})

test('a category is all of its kinds', async () => {
  const all = { kind: 'all', namespace: 'default' }
  const { goes } = await plan((read) => deleteDeed(read, { targets: [all] }))
  const kinds = [...new Set(goes.filter(({ cause }) => cause === undefined).map(({ object }) => object.kind))]
  assert.deepEqual(kinds.sort(), ['Deployment', 'Pod', 'ReplicaSet', 'Service'])
  // Its controller takes it after its Service.
  const services = new Set(goes.filter(({ object }) => object.kind === 'Service').map(({ object }) => object.uid))
  const addresses = goes.filter(({ object }) => object.kind === 'IPAddress')
  assert.deepEqual([...new Set(addresses.map(({ cause = '' }) => services.has(cause)))], [true])
})

test('an apply: what it replaces goes, and what it may not do is refused', async () => {
  const changed = { ...deployment('web', 2, { containers: [{ name: 'c', image: 'i:2' }] }) }
  const broken = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { ports: [{ port: 0 }] } }
  const applied = await plan((read) =>
    applyDeed(read, [file('web', changed), file('broken', broken)], { namespace: 'default' }),
  )
  assert.equal(certain(applied, 'Pod'), 2)
  assert.deepEqual(applied.appears.map(({ kind }) => kind).sort(), ['Pod', 'Pod', 'ReplicaSet'])
  assert.deepEqual(
    applied.refused.map(({ what }) => what),
    ['broken: Service/x'],
  )
})

test('an apply refuses what kubectl does: kinds that are defined in the same files, and namespaces other than the one asked for', async () => {
  const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } }
  const files = [
    file('all', definition({ strategy: 'None' }, 'new.test'), { ...shop, apiVersion: 'new.test/v1' }),
    file('x', other),
  ]
  const { refused, appears } = await plan((read) => applyDeed(read, files, { namespace: 'team', isGiven: true }))
  assert.deepEqual(
    refused.map(({ what }) => what),
    ['all: Shop/shop', 'x: ConfigMap/x'],
  )
  assert.deepEqual(appears.map(({ kind }) => kind).sort(), ['APIService', 'APIService', 'CustomResourceDefinition'])
  const targets = [{ object: other as KubeObject, namespace: 'team', isGiven: true }]
  assert.match((await plan((read) => deleteDeed(read, { targets }))).refused[0]?.message ?? '', /default is not team/)
})

test('what was marked before and does not go is told when the deed names it', async () => {
  const held = {
    ...configMapOf('held-before'),
    metadata: { ...configMapOf('held-before').metadata, finalizers: ['acme.test/f'] },
  }
  await stage.make(core('configmaps'), held)
  await stage.cluster.client.resource(core('configmaps')).namespace('default').delete('held-before')
  const target = { kind: 'configmap', namespace: 'default' }
  const named = await plan((read) => deleteDeed(read, { targets: [{ ...target, name: 'held-before' }] }))
  assert.deepEqual(
    named.stays.map(({ object }) => object.name),
    ['held-before'],
  )
  const others = await plan((read) => deleteDeed(read, { targets: [{ ...target, name: 'kube-root-ca.crt' }] }))
  assert.deepEqual(others.stays, [])
})

const configMapOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

test('which of a budget’s pods a drain takes is chance', async () => {
  await stage.make(DEPLOYMENTS, deployment('pair', 2, { nodeSelector: { 'kubernetes.io/hostname': 'skiff-1' } }))
  const labels = { matchLabels: { app: 'pair' } }
  await stage.make(
    { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'pair', namespace: 'default' },
      spec: { minAvailable: 1, selector: labels },
    },
  )
  await stage.cluster.clock.advance('10s')
  const model = await readModel(stage.source)
  const drain = { nodes: ['skiff-1'], podSelector: 'app=pair' }
  const { goes } = await planIn(stage.source, model, drainDeed(model.read, drain), { orders: 1 })
  assert.ok(goes.some(({ certainty }) => certainty === 'either'))
})

test('of pods that a budget lets go one by one each may be the first: its times span both turns, and so do those of its claims', async () => {
  const here = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['skiff-1'] }] }
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: here }] }
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }]
  await stage.make(DEPLOYMENTS, deployment('turns', 2, { affinity: { nodeAffinity }, volumes }))
  await stage.make(
    { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'turns', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'turns' } } },
    },
  )
  await stage.cluster.clock.advance('10s')
  const model = await readModel(stage.source)
  const drain = { nodes: ['skiff-1'], podSelector: 'app=turns' }
  const { goes } = await planIn(stage.source, model, drainDeed(model.read, drain), { orders: 1 })
  const pods = goes.filter(({ object }) => object.resource === 'pods')
  const claims = goes.filter(({ object }) => object.resource === 'persistentvolumeclaims')
  assert.deepEqual([pods.length, claims.length], [2, 2])
  for (const { object, marked, removed, certainty } of [...pods, ...claims]) {
    assert.equal(certainty, 'goes')
    const told = `${object.resource} ${JSON.stringify([marked, removed])}`
    assert.ok(removed.least < 1000 && removed.most >= 5000, told)
    assert.ok(marked && marked.least <= removed.least && marked.most >= 5000, told)
  }
})

test('after a stage that writes nothing the next one takes as long as without it', async () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'extra' } }
  await stage.make(core('namespaces'), namespace)
  await stage.make(core('configmaps'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'inside', namespace: 'extra' },
  })
  await stage.cluster.clock.advance('5s')
  const files = [file('operator', operator), file('shop', shop), file('shop again', shop), file('ns', namespace)]
  const removed = async (chosen: typeof files) => {
    const { goes } = await plan((read) => uninstallDeed(read, chosen, { namespace: 'default' }, {}))
    return goes.find(({ object }) => object.name === 'inside')?.removed
  }
  const without = await removed(files.filter(({ name }) => name !== 'shop again'))
  assert.equal(without?.least, 5_000)
  assert.deepEqual(await removed(files), without)
})
