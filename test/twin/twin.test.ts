/** A twin holds what was read, goes its own way, and reaches nothing outside of it. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import type { Cluster } from '../../src/cluster/cluster-options.ts'
import { outsideOf, outsideWords } from '../../src/inspect/twin/outside.ts'
import { readCluster } from '../../src/inspect/twin/read-cluster.ts'
import { modelOf, startTwinOf } from '../../src/inspect/twin/twin.ts'
import {
  CONFIG_MAPS,
  configMap,
  core,
  DEFINITIONS,
  DEPLOYMENTS,
  definition,
  deployment,
  PODS,
  type Stage,
  startStage,
} from './stage.ts'

const SHOPS = { group: 'acme.test', version: 'v1', resource: 'shops' }
const nowhere = { service: { namespace: 'default', name: 'hook', port: 443 } }

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(() => stage?.stop())

const list = async ({ client }: Cluster, gvr: typeof PODS): Promise<readonly KubeObject[]> =>
  (await client.resource(gvr).namespace('default').list()).items

test('the same objects, whose pods go on', async () => {
  const owner = await stage.make(CONFIG_MAPS, configMap('owner', { finalizers: ['acme.test/held'] }))
  const { uid = '' } = owner.metadata
  await stage.make(
    CONFIG_MAPS,
    configMap('owned', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] }),
  )
  await stage.cluster.client.resource(CONFIG_MAPS).namespace('default').delete('owner')
  await stage.make(DEPLOYMENTS, deployment('web', 3))
  await stage.make(core('secrets'), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'default' },
    stringData: { password: 'hidden' },
  })
  await stage.cluster.clock.advance('10s')

  const read = await readCluster(stage.source)
  assert.deepEqual(read.unread, [])
  const twin = await startTwinOf(modelOf(read), { clock: 'manual', programs: 'ignores' })
  try {
    await twin.clock.advance('5s')
    for (const gvr of [PODS, CONFIG_MAPS, DEPLOYMENTS, core('serviceaccounts')]) {
      const isOwn = ({ metadata }: KubeObject) => metadata.name === 'kube-root-ca.crt'
      const here = (await list(twin, gvr)).filter((one) => !isOwn(one))
      assert.deepEqual(
        here,
        (await list(stage.cluster, gvr)).filter((one) => !isOwn(one)),
      )
    }
    const [secret] = await list(twin, core('secrets'))
    assert.deepEqual([secret?.metadata.name, secret?.['data']], ['s', undefined])
    await twin.client.resource(DEPLOYMENTS).namespace('default').delete('web')
    await twin.clock.advance('40s')
    assert.deepEqual(await list(twin, PODS), [])
    assert.equal((await list(stage.cluster, PODS)).length, 3)
  } finally {
    await twin.stop()
  }
  assert.deepEqual(
    stage.asked.filter((request) => !request.startsWith('GET ')),
    [],
  )
  assert.deepEqual(
    stage.asked.filter((request) => /log|proxy|exec/.test(request)),
    [],
  )
})

test('with every outgoing socket refused: webhooks, aggregated APIs, kubelets and Services are named and not called', async () => {
  await stage.make(DEFINITIONS, definition())
  await stage.cluster.clock.advance('1s')
  await stage.make(SHOPS, {
    apiVersion: 'acme.test/v1',
    kind: 'Shop',
    metadata: { name: 'shop', namespace: 'default' },
  })
  await stage.cluster.client.resource(DEFINITIONS).patch('shops.acme.test', 'merge', {
    spec: {
      conversion: { strategy: 'Webhook', webhook: { clientConfig: nowhere, conversionReviewVersions: ['v1'] } },
    },
  })
  await stage.make(core('services'), {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'hook', namespace: 'default' },
    spec: { selector: { app: 'web' }, ports: [{ port: 443 }] },
  })
  await stage.make(
    { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'guard' },
      webhooks: [
        {
          name: 'guard.acme.test',
          clientConfig: nowhere,
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['DELETE'] }],
        },
      ],
    },
  )
  await stage.make(
    { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.away.test' },
      spec: {
        group: 'away.test',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 1,
        service: { namespace: 'default', name: 'hook' },
        insecureSkipTLSVerify: true,
      },
    },
  )
  const read = await readCluster(stage.source)
  assert.deepEqual(outsideWords(outsideOf(read)), [
    'validating webhook guard.acme.test of guard (service default/hook)',
    'aggregated API v1.away.test (service default/hook)',
    'conversion webhook shops.acme.test (service default/hook)',
  ])
  const { connect } = Socket.prototype
  const opened: unknown[] = []
  Socket.prototype.connect = ((...args: unknown[]) => {
    opened.push(args)
    throw new Error('no socket is opened from a twin')
  }) as typeof connect
  try {
    const twin = await startTwinOf(modelOf(read), { clock: 'manual', programs: 'obeys' })
    try {
      const { client, clock } = twin
      await client.resource(core('secrets')).namespace('default').delete('s')
      const [pod] = await list(twin, PODS)
      const proxied = ['services/https:hook:443', `pods/${pod?.metadata.name}`].map((what) => `${what}/proxy/`)
      for (const path of [...proxied, `pods/${pod?.metadata.name}/log`]) {
        const { status } = await client.raw('GET', `/api/v1/namespaces/default/${path}`).catch(() => ({ status: 500 }))
        assert.notEqual(status, 200, path)
      }
      assert.equal((await client.raw('GET', '/apis/away.test/v1/things').catch(() => ({ status: 404 }))).status, 404)
      const shops = client.resource({ ...SHOPS, version: 'v2' }).namespace('default')
      await shops.delete('shop')
      await clock.advance('1m')
      assert.deepEqual(await list(twin, SHOPS), [])
    } finally {
      await twin.stop()
    }
  } finally {
    Socket.prototype.connect = connect
  }
  assert.deepEqual(opened, [])
})
