/** The TypeScript client of the Kubernetes project against a `skiff up` process: typed calls, watch, informer, apply. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Deployment,
  VersionApi,
  Watch,
} from '@kubernetes/client-node'
import { type E2eCluster, startE2eCluster } from './e2e/cluster.ts'

const namespace = 'client-node'

describe('@kubernetes/client-node', () => {
  let cluster: E2eCluster
  const config = new KubeConfig()
  let core: CoreV1Api
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver')
    config.loadFromFile(cluster.kubeconfig)
    core = config.makeApiClient(CoreV1Api)
    await core.createNamespace({ body: { metadata: { name: namespace } } })
  })
  after(() => cluster?.stop())

  const configMap = (name: string, data: Record<string, string> = {}): V1ConfigMap => ({ metadata: { name }, data })

  test('typed calls create, read, list by page, replace, patch and delete', async () => {
    const version = await config.makeApiClient(VersionApi).getCode()
    assert.match(version.gitVersion, /^v1\./)
    for (const name of ['a', 'b', 'c'])
      await core.createNamespacedConfigMap({
        namespace,
        body: { ...configMap(name), metadata: { name, labels: { page: 'yes' } } },
      })
    const first = await core.listNamespacedConfigMap({ namespace, labelSelector: 'page=yes', limit: 2 })
    const rest = await core.listNamespacedConfigMap({
      namespace,
      labelSelector: 'page=yes',
      limit: 2,
      _continue: first.metadata?._continue ?? '',
    })
    assert.deepEqual(
      [...first.items, ...rest.items].map((item) => item.metadata?.name),
      ['a', 'b', 'c'],
    )
    const read = await core.readNamespacedConfigMap({ namespace, name: 'a' })
    assert.ok(read.metadata?.creationTimestamp instanceof Date)
    const replaced = await core.replaceNamespacedConfigMap({
      namespace,
      name: 'a',
      body: { ...read, data: { k: 'v' } },
    })
    assert.deepEqual(replaced.data, { k: 'v' })
    await assert.rejects(
      core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...read, data: { k: 'late' } } }),
      (error) => error instanceof ApiException && error.code === 409,
    )
    const patched = await core.patchNamespacedConfigMap(
      { namespace, name: 'a', body: [{ op: 'add', path: '/data/more', value: 'yes' }] },
      setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
    )
    assert.deepEqual(patched.data, { k: 'v', more: 'yes' })
    await core.deleteNamespacedConfigMap({ namespace, name: 'a' })
    await assert.rejects(
      core.readNamespacedConfigMap({ namespace, name: 'a' }),
      (error) => error instanceof ApiException && error.code === 404 && JSON.parse(error.body).reason === 'NotFound',
    )
  })

  test('a watch tells every change in order', async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace })
    const seen: string[] = []
    const { promise: told, resolve } = Promise.withResolvers<void>()
    const watch = await new Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { resourceVersion: metadata?.resourceVersion, fieldSelector: 'metadata.name=seen' },
      (phase, object: V1ConfigMap) => {
        seen.push(`${phase} ${object.metadata?.name} ${object.data?.['k'] ?? ''}`)
        if (phase === 'DELETED') resolve()
      },
      () => resolve(),
    )
    await core.createNamespacedConfigMap({ namespace, body: configMap('seen', { k: '1' }) })
    await core.replaceNamespacedConfigMap({ namespace, name: 'seen', body: configMap('seen', { k: '2' }) })
    await core.deleteNamespacedConfigMap({ namespace, name: 'seen' })
    await told
    watch.abort()
    assert.deepEqual(seen, ['ADDED seen 1', 'MODIFIED seen 2', 'DELETED seen 2'])
  })

  test('an informer holds what there is and follows it', async () => {
    await core.createNamespacedConfigMap({ namespace, body: configMap('held') })
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
      core.listNamespacedConfigMap({ namespace }),
    )
    const { promise: removed, resolve, reject } = Promise.withResolvers<string | undefined>()
    const { promise: added, resolve: sawAdded } = Promise.withResolvers<void>()
    informer.on('add', (object) => object.metadata?.name === 'later' && sawAdded())
    informer.on('delete', (object) => resolve(object.metadata?.name))
    informer.on('error', reject)
    await informer.start()
    assert.ok(informer.get('held', namespace))
    await core.createNamespacedConfigMap({ namespace, body: configMap('later') })
    await added
    await core.deleteNamespacedConfigMap({ namespace, name: 'later' })
    assert.equal(await removed, 'later')
    assert.equal(informer.get('later', namespace), undefined)
    await informer.stop()
  })

  test('objects of any kind: dry run, server-side apply, scale', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config)
    const deployment: V1Deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }
    const dry = await objects.create(deployment, undefined, 'All')
    assert.ok(dry.metadata?.uid)
    const applied = await objects.patch(deployment, undefined, undefined, 'tests', true, PatchStrategy.ServerSideApply)
    assert.deepEqual(
      applied.metadata?.managedFields?.map(({ manager, operation }) => [manager, operation]),
      [['tests', 'Apply']],
    )
    const scale = await config
      .makeApiClient(AppsV1Api)
      .patchNamespacedDeploymentScale(
        { namespace, name: 'web', body: { spec: { replicas: 3 } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      )
    assert.equal(scale.spec?.replicas, 3)
    assert.equal(
      (await objects.read<V1Deployment>({ ...deployment, metadata: { name: 'web', namespace } })).spec?.replicas,
      3,
    )
  })
})
