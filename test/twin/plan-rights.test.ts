/** A plan tells who asks for it what of it he may not do, by the authorizers of the source. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Secret } from '../../src/api/generated/types.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import type { Deed } from '../../src/inspect/plan/deed.ts'
import { deleteDeed, namedTargets } from '../../src/inspect/plan/delete-deed.ts'
import { drainDeed } from '../../src/inspect/plan/drain-deed.ts'
import { applyDeed, uninstallDeed } from '../../src/inspect/plan/manifest-deeds.ts'
import { type Plan, planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { planAs } from '../../src/inspect/plan/report.ts'
import { type ReadCluster, readCluster, type TwinSource } from '../../src/inspect/twin/read-cluster.ts'
import { CONFIG_MAPS, configMap, core, PODS, type Stage, startStage } from './stage.ts'

const RBAC = 'rbac.authorization.k8s.io'
let stage: Stage
let reader: TwinSource
let stop: () => void
before(async () => {
  stage = await startStage()
  const role = (name: string, rules: readonly object[]) =>
    stage.make(
      { group: RBAC, version: 'v1', resource: 'clusterroles' },
      { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    )
  await role('reader', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['delete'] },
  ])
  await stage.make(core('serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'reader', namespace: 'default' },
  })
  await stage.make(
    { group: RBAC, version: 'v1', resource: 'clusterrolebindings' },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'reader' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
    },
  )
  for (const name of ['mine', 'others']) await stage.make(CONFIG_MAPS, configMap(name))
  await stage.make(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { nodeName: 'skiff-1', containers: [{ name: 'c', image: 'i' }] },
  })
  await stage.cluster.clock.advance('5s')
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} }
  const accounts = stage.cluster.client.resource(core('serviceaccounts')).namespace('default')
  const { token } = (await accounts.create(review, { subresource: 'token', name: 'reader' }))['status']
  const { server, ca = '' } = endpointFromKubeconfig(readFileSync(stage.cluster.kubeconfigFile, 'utf8'), (path) =>
    readFileSync(path, 'utf8'),
  )
  const transport = httpsTransport({ server, ca, token })
  stop = () => transport.close()
  reader = { ...stage.source, transport }
})
after(async () => {
  stop?.()
  await stage?.stop()
})

async function plan(source: TwinSource, deedOf: (read: ReadCluster) => Deed): Promise<Plan> {
  const model = await readModel(source)
  return planIn(source, model, deedOf(model.read), { orders: 0 })
}
const objects = ['mine', 'others'].map((name) => configMap(name) as unknown as KubeObject)
const deletion = (read: ReadCluster) =>
  deleteDeed(read, { targets: objects.map((object) => ({ object, namespace: 'default' })) })
const told = ({ forbidden }: Plan) =>
  forbidden.map(({ verb, resource, namespace, names }) => `${verb} ${resource} ${namespace} ${names}`).sort()

test('the plan names the caller as the source knows it', async () => {
  const why = async (source: TwinSource) => (await plan(source, deletion)).goes[0]?.why
  assert.equal(await why(stage.source), 'kubernetes-admin asks for it')
  assert.equal(await why(reader), 'system:serviceaccount:default:reader asks for it')
  const silent: TwinSource['transport']['send'] = async (request) => {
    if (request.path.endsWith('/selfsubjectreviews')) throw new StatusError(403, 'Forbidden', 'no reviews')
    return reader.transport.send(request)
  }
  assert.equal(await why({ ...reader, transport: { ...reader.transport, send: silent } }), 'the caller asks for it')
})

test('who may delete one by its name and not the other is told of the other; the plan is whole', async () => {
  const made = await plan(reader, deletion)
  assert.deepEqual(told(made), ['delete configmaps default others'])
  assert.deepEqual(
    made.goes.map(({ object }) => object.name),
    ['mine', 'others'],
  )
  assert.match(planAs('tree', made), /^you may not do it .*\n {2}delete configmaps others in namespace default$/m)
  assert.deepEqual(told(await plan(stage.source, deletion)), [])
})

test('a drain needs the node and evictions, an apply of what is not there the right to create it', async () => {
  assert.deepEqual(told(await plan(reader, (read) => drainDeed(read, { nodes: ['skiff-1'], force: true }))), [
    'create pods/eviction default p',
    'patch nodes  skiff-1',
  ])
  const files = [{ name: 'f', objects: [configMap('mine'), configMap('new')] as unknown as readonly KubeObject[] }]
  assert.deepEqual(told(await plan(reader, (read) => applyDeed(read, files, { namespace: 'default' }))), [
    'create configmaps default new',
    'patch configmaps default mine,new',
  ])
})

/** The source, where a list of these is forbidden. */
const withoutListOf = (name: string, source: TwinSource = stage.source): TwinSource => ({
  ...source,
  transport: {
    ...source.transport,
    async send(request) {
      if (request.path === `/api/v1/${name}`) throw new StatusError(403, 'Forbidden', `${name} is forbidden`)
      return source.transport.send(request)
    },
  },
})

test('what may not be read is not taken for absent: neither by its name nor all of a kind, nor the pods of a node', async () => {
  const refusals = async (source: TwinSource, deedOf: (read: ReadCluster) => Deed) =>
    (await plan(source, deedOf)).refused.map(({ what, message }) => `${what}: ${message}`)
  const blind = 'what there is could not be read: '
  assert.deepEqual(await refusals(withoutListOf('configmaps'), deletion), [
    `configmaps/mine: ${blind}configmaps is forbidden`,
    `configmaps/others: ${blind}configmaps is forbidden`,
  ])
  assert.deepEqual(
    await refusals(withoutListOf('configmaps'), (read) =>
      deleteDeed(read, { targets: [{ kind: 'cm', namespace: 'default' }] }),
    ),
    [`configmaps/*: ${blind}configmaps is forbidden`],
  )
  for (const name of ['nodes', 'pods'])
    assert.deepEqual(await refusals(withoutListOf(name), (read) => drainDeed(read, { nodes: ['skiff-1'] })), [
      `nodes/skiff-1: ${blind}${name} is forbidden`,
    ])
})

test('an uninstall of what may not be read is refused, and no deadlock: its end is not known', async () => {
  const files = [
    { name: 'a.yaml', objects: objects.slice(0, 1) },
    { name: 'b.yaml', objects: objects.slice(1) },
  ]
  const made = await plan(withoutListOf('configmaps'), (read) =>
    uninstallDeed(read, files, { namespace: 'default' }, {}),
  )
  assert.equal(made.refused.length, 2)
  assert.deepEqual(
    made.stages.map(({ ended, refused }) => [ended, refused]),
    [
      [undefined, []],
      [undefined, []],
    ],
  )
  const tree = planAs('tree', made)
  assert.doesNotMatch(tree, /a deadlock/)
  assert.match(tree, /^ {2}delete -f a\.yaml: its end is not known, for what there is could not all be read$/m)
})

test('an apply of what may not be listed is refused, and no right to create is asked for: it may be there', async () => {
  const files = [{ name: 'f', objects: [configMap('mine')] as readonly KubeObject[] }]
  const made = await plan(withoutListOf('configmaps', reader), (read) =>
    applyDeed(read, files, { namespace: 'default' }),
  )
  assert.deepEqual(made.refused, [
    {
      what: 'f: ConfigMap/mine',
      message: 'what there is could not be read: configmaps is forbidden',
      isUnread: true,
    },
  ])
  // Whether it may patch is known, and is told; whether it would have to create is not.
  assert.deepEqual(told(made), ['patch configmaps default mine'])
})

test('a Secret that is read by its name is read as its metadata, as those of a list are, unless values are asked for', async () => {
  await stage.make(core('secrets'), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'default' },
    data: { password: 'c2VjcmV0' },
  })
  const listless = withoutListOf('secrets', reader)
  const asked: string[] = []
  const source: TwinSource = {
    ...listless,
    transport: {
      ...listless.transport,
      send(request) {
        if (request.path.endsWith('/secrets/s')) asked.push(request.headers?.['accept'] ?? 'application/json')
        return listless.transport.send(request)
      },
    },
  }
  const named = namedTargets([{ kind: 'secret', name: 's', namespace: 'default' }])
  const dataIn = async (secrets: boolean) => {
    const { resources } = await readCluster(source, { named, secrets })
    const items = resources.find(({ kind }) => kind === 'Secret')?.items ?? []
    return items.map((item) => [item.metadata.name, (item.object() as Secret).data])
  }
  assert.deepEqual(await dataIn(false), [['s', undefined]])
  assert.deepEqual(asked, ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'])
  assert.deepEqual(await dataIn(true), [['s', { password: 'c2VjcmV0' }]])
})

test('what is read by its name is there once: named twice, or a node that pods run on, for which nothing has to stand in', async () => {
  const read = async (kind: string, ...names: readonly string[]) => {
    const named = namedTargets(names.map((name) => ({ kind, name, namespace: 'default' })))
    const { resources, unread } = await readCluster(withoutListOf(kind), { named })
    const items = resources.find(({ resource }) => resource.resource === kind)?.items ?? []
    const standIns = unread.map(({ what }) => what).filter((what) => what.startsWith('nodes/'))
    return [items.map(({ metadata }) => metadata.name), ...standIns]
  }
  // Both own a Lease.
  assert.deepEqual(await read('nodes', 'skiff-1'), [['skiff-1', 'skiff-2']])
  assert.deepEqual(await read('configmaps', 'mine', 'mine'), [['mine']])
})
