/** kubectl top on simulated pods, and metrics-server's manifest taking metrics.k8s.io over. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cluster, isNotFound, type KubeObject, StatusError, startCluster } from '../src/cluster/index.ts'
import { kubectlFor, withoutKubectl } from './kubectl.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster({ storage: 'memory', clock: 'manual' })
})
after(() => cluster?.stop())

const rows = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))

test('kubectl top tells what annotations say, and aggregated roles may read it', { skip: withoutKubectl }, async () => {
  const kubectl = kubectlFor(cluster.kubeconfigFile)
  await kubectl(
    'run',
    'p',
    '--image=nginx',
    '--labels=app=p',
    '--annotations=sim.skiff.dev/cpu=250m',
    '--annotations=sim.skiff.dev/memory=64Mi',
  )
  await kubectl('run', 'q', '--image=nginx')
  await cluster.clock.advance('1s')
  assert.deepEqual(rows(await kubectl('top', 'pod')), [
    ['NAME', 'CPU(cores)', 'MEMORY(bytes)'],
    ['p', '250m', '64Mi'],
    ['q', '1m', '16Mi'],
  ])
  assert.deepEqual(rows(await kubectl('top', 'pod', '-l', 'app=p', '--containers'))[1], ['p', 'p', '250m', '64Mi'])
  assert.deepEqual(rows(await kubectl('top', 'node'))[1], ['skiff-1', '301m', '0%', '336Mi', '0%'])
  assert.deepEqual(rows(await kubectl('get', 'pods.metrics.k8s.io', 'p')), [
    ['NAME', 'CPU', 'MEMORY', 'WINDOW'],
    ['p', '250m', '65536Ki', '15s'],
  ])
  const can = (...words: readonly string[]) => kubectl('auth', 'can-i', ...words).catch((error) => String(error))
  await kubectl('create', 'rolebinding', 'v', '--clusterrole=view', '--user=jane')
  assert.match(await can('list', 'pods.metrics.k8s.io', '--as=jane', '-n', 'default'), /yes/)
  assert.match(await can('list', 'pods.metrics.k8s.io', '--as=joe', '-n', 'default'), /no/)
  const listed = JSON.parse(await kubectl('get', '--raw', '/apis/metrics.k8s.io/v1beta1'))
  assert.deepEqual(
    listed.resources.map(({ name }: { name: string }) => name),
    ['nodes', 'pods'],
  )
})

test('what is not measured is not found, other verbs are not allowed, selectors that cannot be read are refused', async () => {
  const metrics = cluster.client.custom<KubeObject>('metrics.k8s.io/v1beta1', 'pods', 'default')
  await assert.rejects(metrics.get('none'), (error: Error) => {
    assert.ok(isNotFound(error))
    assert.equal(error.message, 'podmetrics.metrics.k8s.io "default/none" not found')
    return true
  })
  await assert.rejects(metrics.delete('p'), (error) => error instanceof StatusError && error.code === 405)
  await assert.rejects(
    metrics.list({ labelSelector: 'a in (' }),
    (error) => error instanceof StatusError && error.code === 400,
  )
  const pods = cluster.client.core.pods('default')
  for (const name of ['measured', 'other'])
    await pods.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    })
  await cluster.clock.advance('1s')
  const { items } = await metrics.list({ fieldSelector: 'metadata.name=measured' })
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['measured'],
  )
})

test("an APIService of one's own leads elsewhere, and without any there is no such API", {
  skip: withoutKubectl,
}, async () => {
  const services = cluster.client.apiregistration.apiServices()
  const metrics = cluster.client.custom<KubeObject>('metrics.k8s.io/v1beta1', 'pods', 'default')
  const served = async () =>
    (await kubectlFor(cluster.kubeconfigFile)('get', '--raw', '/apis')).includes('metrics.k8s.io')
  assert.equal(await served(), true)
  await services.patch('v1beta1.metrics.k8s.io', 'merge', {
    spec: { insecureSkipTLSVerify: true, service: { namespace: 'kube-system', name: 'metrics-server' } },
  })
  await assert.rejects(metrics.list(), (error) => error instanceof StatusError && error.code === 503)
  await services.delete('v1beta1.metrics.k8s.io')
  await assert.rejects(metrics.list(), (error) => error instanceof StatusError && error.code === 404)
  assert.equal(await served(), false)
})
