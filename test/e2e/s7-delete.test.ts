/** S7: what the API server does on delete, with nobody else around. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Any, type Kubectl, kubectlFor, withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, pod, startE2eCluster } from './cluster.ts'
import { trail } from './trail.ts'

describe('S7', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  let kubectl: Kubectl
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver', '--disable-admission-plugins', 'ServiceAccount')
    await cluster.kubectl('create', 'namespace', 's7')
    kubectl = kubectlFor(cluster.kubeconfig, 's7')
  })
  after(() => cluster.stop())

  const path = (resource: string, name: string) => `/api/v1/namespaces/s7/${resource}/${name}`
  const remove = (resource: string, name: string, options: Any = {}) =>
    kubectl.run(
      ['delete', '--raw', path(resource, name), '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', ...options }),
    )
  const onNode = (name: string, more: Any = {}) => pod(name, {}, { ...more, spec: { nodeName: 'far', ...more.spec } })
  /** The events about one object after it was made. */
  const follow = async (resource: string, name: string) => {
    const watch = kubectl.watch(resource, '--field-selector', `metadata.name=${name}`)
    const { object } = await watch.until(() => true)
    return {
      watch,
      object,
      trail: () => trail(watch.seen, name, object.metadata.resourceVersion),
      [Symbol.dispose]: watch.stop,
    }
  }

  test('preconditions that do not hold are a conflict that names both values, and change nothing', async () => {
    await kubectl.send('create', configMap('guarded'))
    const { metadata } = await kubectl.json('get', 'configmap', 'guarded')
    const uid = await remove('configmaps', 'guarded', { preconditions: { uid: 'other' } })
    assert.match(uid.err, /\(Conflict\)|409|the UID in the precondition: other, UID in object meta: /)
    assert.ok(uid.err.includes(metadata.uid), uid.err)
    const version = await remove('configmaps', 'guarded', { preconditions: { resourceVersion: '1' } })
    assert.match(
      version.err,
      /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record /,
    )
    assert.ok(version.err.includes(metadata.resourceVersion), version.err)
    assert.equal((await kubectl.json('get', 'configmap', 'guarded')).metadata.resourceVersion, metadata.resourceVersion)
    const both = { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
    const gone = await remove('configmaps', 'guarded', { preconditions: both })
    assert.equal(gone.code, 0, gone.err)
  })

  test('what nothing holds is removed at once and answered with a Success Status', async () => {
    await kubectl.send('create', configMap('plain'))
    const { metadata } = await kubectl.json('get', 'configmap', 'plain')
    using it = await follow('configmaps', 'plain')
    const status = JSON.parse((await remove('configmaps', 'plain')).out)
    assert.equal(status.kind, 'Status')
    assert.equal(status.status, 'Success')
    assert.deepEqual(status.details, { name: 'plain', kind: 'configmaps', uid: metadata.uid })
    await it.watch.until(({ type }) => type === 'DELETED')
    assert.deepEqual(it.trail(), ['DELETED'])
  })

  test('a pod that no node has gets no time to stop, and the answer is the pod', async () => {
    await kubectl.send('create', pod('unscheduled'))
    using it = await follow('pods', 'unscheduled')
    const answer = JSON.parse((await remove('pods', 'unscheduled')).out)
    assert.equal(answer.kind, 'Pod')
    await it.watch.until(({ type }) => type === 'DELETED')
    assert.deepEqual(it.trail(), [
      'MODIFIED metadata.deletionGracePeriodSeconds metadata.deletionTimestamp metadata.generation',
      'DELETED',
    ])
  })

  test('a pod on a node waits its grace period; a second delete may only shorten it; 0 removes it', async () => {
    await kubectl.send('create', onNode('graceful'))
    using it = await follow('pods', 'graceful')
    const first = JSON.parse((await remove('pods', 'graceful')).out)
    assert.equal(first.metadata.deletionGracePeriodSeconds, 30)
    assert.equal(first.metadata.generation, 2)
    const until = Date.parse(first.metadata.deletionTimestamp) - Date.parse(first.metadata.creationTimestamp)
    assert.ok(until >= 30_000 && until < 90_000, 'the time of deletion is the request and the grace period')
    const longer = JSON.parse((await remove('pods', 'graceful', { gracePeriodSeconds: 100 })).out)
    assert.equal(longer.metadata.deletionTimestamp, first.metadata.deletionTimestamp)
    assert.equal(longer.metadata.deletionGracePeriodSeconds, 30)
    const shorter = JSON.parse((await remove('pods', 'graceful', { gracePeriodSeconds: 25 })).out)
    assert.equal(shorter.metadata.deletionGracePeriodSeconds, 25)
    assert.ok(Date.parse(shorter.metadata.deletionTimestamp) < Date.parse(first.metadata.deletionTimestamp))
    assert.equal(shorter.metadata.generation, 2)
    await remove('pods', 'graceful', { gracePeriodSeconds: 0 })
    const gone = await it.watch.until(({ type }) => type === 'DELETED')
    assert.equal(gone.object.metadata.deletionGracePeriodSeconds, 0)
    const marked = 'metadata.deletionGracePeriodSeconds metadata.deletionTimestamp'
    assert.deepEqual(it.trail(), [
      `MODIFIED ${marked} metadata.generation`,
      `MODIFIED ${marked}`,
      `MODIFIED ${marked}`,
      'DELETED',
    ])
  })

  test('a finalizer turns the delete into an update, and the update that empties the finalizers into a delete', async () => {
    await kubectl.send('create', configMap('held', { finalizers: ['example.com/one', 'example.com/two'] }))
    using it = await follow('configmaps', 'held')
    const marked = JSON.parse((await remove('configmaps', 'held')).out)
    assert.equal(marked.kind, 'ConfigMap')
    assert.equal(marked.metadata.deletionGracePeriodSeconds, 0)
    const added = await kubectl.run([
      'patch',
      'configmap',
      'held',
      '-p',
      '{"metadata":{"finalizers":["example.com/three"]}}',
    ])
    assert.match(
      added.err,
      /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted/,
    )
    const json = (...operations: object[]) => [
      'patch',
      'configmap',
      'held',
      '--type=json',
      '-p',
      JSON.stringify(operations),
    ]
    await kubectl(...json({ op: 'remove', path: '/metadata/finalizers/0' }))
    await kubectl(...json({ op: 'remove', path: '/metadata/finalizers/0' }))
    await it.watch.until(({ type }) => type === 'DELETED')
    assert.deepEqual(it.trail(), [
      'MODIFIED metadata.deletionGracePeriodSeconds metadata.deletionTimestamp',
      'MODIFIED metadata.finalizers',
      'DELETED',
    ])
  })

  test('generation goes up by one when deletion starts, where the kind has one', async () => {
    await kubectl('create', 'deployment', 'counted', '--image=nginx')
    using it = await follow('deployments', 'counted')
    await kubectl('delete', 'deployment', 'counted', '--cascade=foreground', '--wait=false')
    const { object } = await it.watch.until(({ type }) => type === 'MODIFIED')
    assert.equal(object.metadata.generation, 2)
    assert.deepEqual(object.metadata.finalizers, ['foregroundDeletion'])
    assert.deepEqual(it.trail(), [
      'MODIFIED metadata.deletionGracePeriodSeconds metadata.deletionTimestamp metadata.finalizers metadata.generation',
    ])
  })

  test('a later delete may swap the garbage-collection finalizers', async () => {
    await kubectl.send('create', configMap('swapped'))
    using it = await follow('configmaps', 'swapped')
    const finalizers = async (propagationPolicy: string) =>
      JSON.parse((await remove('configmaps', 'swapped', { propagationPolicy })).out).metadata?.finalizers
    assert.deepEqual(await finalizers('Orphan'), ['orphan'])
    assert.deepEqual(await finalizers('Foreground'), ['foregroundDeletion'])
    assert.deepEqual(await finalizers('Orphan'), ['orphan'])
    await remove('configmaps', 'swapped', { propagationPolicy: 'Background' })
    await it.watch.until(({ type }) => type === 'DELETED')
    assert.equal(it.trail().length, 4)
  })

  test('orphanDependents and a propagation policy together are refused', async () => {
    await kubectl.send('create', configMap('both'))
    const { err } = await remove('configmaps', 'both', { orphanDependents: true, propagationPolicy: 'Orphan' })
    assert.match(
      err,
      /orphanDependents and deletionPropagation cannot be both set|orphanDependents and propagationPolicy/i,
    )
  })

  test('delete with a selector removes what it selects and nothing else', async () => {
    const labelled = (name: string, app: string) => configMap(name, { labels: { app } })
    await kubectl.send('create', labelled('set-1', 'go'), labelled('set-2', 'go'), labelled('set-3', 'stay'))
    await kubectl('delete', 'configmaps', '-l', 'app=go')
    assert.equal(await kubectl('get', 'configmaps', '-l', 'app', '-o', 'name'), 'configmap/set-3\n')
  })

  test('a dry run answers as the delete would and changes nothing', async () => {
    await kubectl.send('create', configMap('kept'))
    assert.match(
      await kubectl('delete', 'configmap', 'kept', '--dry-run=server'),
      /^configmap "kept" deleted .*\(server dry run\)$/m,
    )
    await kubectl('get', 'configmap', 'kept')
  })
})
