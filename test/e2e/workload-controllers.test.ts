/** Quotas, stateful sets, daemon sets and cron jobs, by the commands their users type. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Any, type Kubectl, withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, startE2eCluster } from './cluster.ts'

describe('workload controllers', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster('--nodes', '2')
  })
  after(() => cluster.stop())

  test('quota: what is used is shown, what would exceed it is refused, what goes makes room', async () => {
    const kubectl = await cluster.namespace('quota')
    using quotas = kubectl.watch('resourcequotas')
    await kubectl('create', 'quota', 'q', '--hard=configmaps=2,count/deployments.apps=1')
    const used = (count: string, from = 0) =>
      quotas.until((event) => quotas.seen.indexOf(event) >= from && event.object.status?.used?.configmaps === count)
    await used('1')
    await kubectl('create', 'configmap', 'a')
    assert.match(await kubectl('describe', 'quota', 'q'), /configmaps +2 +2\ncount\/deployments.apps +0 +1/)
    const { code, err } = await kubectl.run(['create', 'configmap', 'b'])
    assert.equal(code, 1)
    assert.match(err, /exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2/)
    const seen = quotas.seen.length
    await kubectl('delete', 'configmap', 'a')
    await used('1', seen)
    await kubectl('create', 'configmap', 'b')
  })

  const statefulSet = (spec: Any = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 's' },
    spec: {
      replicas: 2,
      serviceName: 's',
      selector: { matchLabels: { app: 's' } },
      template: {
        metadata: { labels: { app: 's' } },
        spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'nginx:1' }] },
      },
      ...spec,
    },
  })
  const names = (kubectl: Kubectl, kind: string) =>
    kubectl('get', kind, '--selector=app=s', '-o=jsonpath={.items[*].metadata.name}')

  test('statefulset: rolls out in order, is undone, scaled, and leaves its pods when orphaned', async () => {
    const kubectl = await cluster.namespace('stateful')
    const status = () => kubectl('rollout', 'status', 'sts/s', '--timeout=20s')
    using pods = kubectl.watch('pods')
    await kubectl.send('create', statefulSet())
    assert.match(await status(), /partitioned roll out complete|rolling update complete 2 pods/)
    const made = pods.seen.filter(({ type }) => type === 'ADDED').map(({ object }) => object.metadata.name)
    assert.deepEqual(made, ['s-0', 's-1'])
    await kubectl('set', 'image', 'sts/s', 'c=nginx:2')
    await status()
    assert.match(await kubectl('rollout', 'history', 'sts/s'), /^1 .*\n2 /m)
    await kubectl('rollout', 'undo', 'sts/s')
    await status()
    const images = '-o=jsonpath={.items[*].spec.containers[*].image}'
    assert.equal(await kubectl('get', 'pods', images), 'nginx:1 nginx:1')
    await kubectl('scale', 'sts/s', '--replicas=1')
    await pods.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 's-1')
    await kubectl('delete', 'sts', 's', '--cascade=orphan')
    assert.equal(await names(kubectl, 'pods'), 's-0')
    await kubectl.send('create', statefulSet({ replicas: 1 }))
    await status()
    await kubectl('delete', 'sts', 's', '--cascade=foreground')
    assert.equal(await names(kubectl, 'pods,controllerrevisions'), '')
  })

  test('daemonset: one on each node, rolled out, undone and deleted', async () => {
    const kubectl = await cluster.namespace('daemons')
    const { template, selector } = statefulSet().spec
    const spec = { selector, template }
    const status = () => kubectl('rollout', 'status', 'ds/d', '--timeout=20s')
    await kubectl.send('create', { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'd' }, spec })
    await status()
    const nodes = () => kubectl('get', 'pods', '-o=jsonpath={.items[*].spec.nodeName}')
    assert.deepEqual((await nodes()).split(' ').sort(), ['skiff-1', 'skiff-2'])
    await kubectl('set', 'image', 'ds/d', 'c=nginx:2')
    await status()
    assert.match(await kubectl('rollout', 'history', 'ds/d'), /^1 .*\n2 /m)
    await kubectl('rollout', 'undo', 'ds/d')
    await status()
    const images = '-o=jsonpath={.items[*].spec.containers[*].image}'
    assert.equal(await kubectl('get', 'pods', '--field-selector=status.phase=Running', images), 'nginx:1 nginx:1')
    await kubectl('delete', 'ds', 'd', '--cascade=foreground')
    assert.equal(await names(kubectl, 'pods,controllerrevisions'), '')
  })

  test('cronjob: fires, is suspended, is run by hand, and takes its jobs with it', async () => {
    const kubectl = await cluster.namespace('cron')
    using jobs = kubectl.watch('jobs')
    await kubectl('create', 'cronjob', 'cj', '--image=busybox', '--schedule=@every 1s', '--', 'sleep', '1d')
    await jobs.until(({ object }) => /^cj-\d+$/.test(object.metadata.name) && object.status.active === 1)
    await kubectl('patch', 'cronjob', 'cj', '-p', '{"spec":{"suspend":true}}')
    assert.match(await kubectl('get', 'cronjob', 'cj', '--no-headers'), /^cj +@every 1s +<none> +True +\d+ /)
    await kubectl('create', 'job', 'by-hand', '--from=cronjob/cj')
    await jobs.until(({ object }) => object.metadata.name === 'by-hand' && object.status.active === 1)
    await kubectl('delete', 'cronjob', 'cj', '--cascade=foreground')
    // A job made by hand does not block its owner's end: it goes behind it.
    await jobs.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'by-hand')
    assert.equal(await kubectl('get', 'jobs', '-o=name'), '')
  })
})
