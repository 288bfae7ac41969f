/** S5: a pod with a finalizer is stuck in Terminating until an update takes the finalizer away; that update removes it. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { kubectlFor, withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, isReady, pod, skiff, startE2eCluster } from './cluster.ts'
import { trail } from './trail.ts'

const FINALIZER = { metadata: { finalizers: ['example.com/kubernetes'] } }
const WITHOUT = '{"metadata":{"finalizers":null}}'

describe('S5 with nodes', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster()
  })
  after(() => cluster.stop())

  test('the containers stop, the object stays, and a patch that empties the finalizers removes it', async () => {
    const kubectl = await cluster.namespace('s5')
    await kubectl.send('create', pod('b2', { 'sim.skiff.dev/stop-delay': '200ms' }, FINALIZER))
    using watch = kubectl.watch('pods')
    const running = await watch.until(({ object }) => isReady(object))
    await kubectl('delete', 'pod', 'b2', '--grace-period=1', '--wait=false')
    const stuck = await watch.until(({ object }) => object.metadata.deletionGracePeriodSeconds === 0)
    assert.equal(stuck.type, 'MODIFIED')
    assert.equal(stuck.object.status.phase, 'Succeeded')
    assert.deepEqual(stuck.object.metadata.finalizers, ['example.com/kubernetes'])
    assert.ok(stuck.object.status.containerStatuses[0].state.terminated)
    const { out } = await kubectl.run(['get', 'pod', 'b2'])
    assert.match(out, /b2 +0\/1 +Completed/)

    const patched = await kubectl.json('patch', 'pod', 'b2', '-p', WITHOUT)
    assert.equal(patched.metadata.name, 'b2', 'the patch is answered with the object')
    assert.equal(patched.metadata.finalizers, undefined)
    const gone = await watch.until(({ type }) => type === 'DELETED')
    assert.deepEqual(gone.object.metadata.finalizers, ['example.com/kubernetes'], 'as it was last stored')
    assert.match((await kubectl.run(['get', 'pod', 'b2'])).err, /\(NotFound\): pods "b2" not found/)

    const seen = trail(watch.seen, 'b2', running.object.metadata.resourceVersion)
    const marked = 'metadata.deletionGracePeriodSeconds metadata.deletionTimestamp metadata.generation'
    assert.equal(seen[0], `MODIFIED ${marked}`)
    assert.equal(seen[1], 'MODIFIED status.conditions status.observedGeneration')
    assert.match(seen[2] ?? '', /^MODIFIED status\.conditions status\.containerStatuses status\.phase/)
    // The grace period's end, which the mark named, may be the very second in which the kubelet says that the pod has ended.
    assert.match(seen.at(-2) ?? '', /^MODIFIED metadata\.deletionGracePeriodSeconds( metadata\.deletionTimestamp)?$/)
    assert.equal(seen.at(-1), 'DELETED')
    assert.equal(seen.length, 5, seen.join('\n'))
  })

  test('kubectl edit does the same with a PUT', async () => {
    const kubectl = await cluster.namespace('s5-edit')
    await kubectl.send('create', pod('b2', {}, FINALIZER))
    using watch = kubectl.watch('pods')
    await watch.until(({ object }) => isReady(object))
    await kubectl('delete', 'pod', 'b2', '--grace-period=1', '--wait=false')
    await watch.until(({ object }) => object.metadata.deletionGracePeriodSeconds === 0)
    const live = await kubectl.json('get', 'pod', 'b2')
    const { finalizers: _gone, ...metadata } = live.metadata
    await kubectl.send('replace', { ...live, metadata })
    assert.equal((await watch.until(({ type }) => type === 'DELETED')).object.metadata.name, 'b2')
  })
})

describe('S5 with neither kubelet nor controllers', { skip: withoutKubectl }, () => {
  test('a pod stuck in Terminating, whose cluster is stopped and started as an API server alone, is freed by a patch', async () => {
    const cluster = await startE2eCluster()
    try {
      const kubectl = await cluster.namespace('s5')
      await kubectl.send('create', pod('b2', {}, FINALIZER), pod('b3', {}, FINALIZER))
      using watch = kubectl.watch('pods')
      for (const name of ['b2', 'b3'])
        await watch.until(({ object }) => object.metadata.name === name && isReady(object))
      await kubectl('delete', 'pod', 'b2', '--grace-period=1', '--wait=false')
      await watch.until(({ object }) => object.metadata.deletionGracePeriodSeconds === 0)

      await cluster.restart('--components', 'apiserver')
      assert.match((await skiff('status', '--data-dir', cluster.dataDir)).out, /^components: apiserver$/m)
      using alone = kubectl.watch('pods')
      const stuck = await alone.until(({ object }) => object.metadata.name === 'b2')
      assert.equal(stuck.object.metadata.deletionGracePeriodSeconds, 0)
      assert.equal(stuck.object.status.phase, 'Succeeded')
      await kubectl('patch', 'pod', 'b2', '-p', WITHOUT)
      const gone = await alone.until(({ type }) => type === 'DELETED')
      assert.deepEqual(trail(alone.seen, 'b2', stuck.object.metadata.resourceVersion), ['DELETED'])
      assert.equal(gone.object.metadata.name, 'b2')

      // b3 still runs, as far as the API server knows: only the kubelet can say that it has stopped. Forced is forced.
      const b3 = await alone.until(({ object }) => object.metadata.name === 'b3')
      await kubectl('delete', 'pod', 'b3', '--wait=false')
      await alone.until(
        ({ object }) => object.metadata.name === 'b3' && object.metadata.deletionGracePeriodSeconds === 30,
      )
      await kubectl('delete', 'pod', 'b3', '--force', '--wait=false')
      await alone.until(
        ({ object }) => object.metadata.name === 'b3' && object.metadata.deletionGracePeriodSeconds === 0,
      )
      const editor = join(cluster.dataDir, 'editor.sh')
      writeFileSync(editor, '#!/bin/sh\nsed -i -e "/^  finalizers:$/d" -e "/^  - example.com.kubernetes$/d" "$1"\n', {
        mode: 0o755,
      })
      await kubectlFor(cluster.kubeconfig, 's5', { KUBE_EDITOR: editor })('edit', 'pod', 'b3')
      await alone.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'b3')
      assert.deepEqual(trail(alone.seen, 'b3', b3.object.metadata.resourceVersion), [
        'MODIFIED metadata.deletionGracePeriodSeconds metadata.deletionTimestamp metadata.generation',
        'MODIFIED metadata.deletionGracePeriodSeconds metadata.deletionTimestamp',
        'DELETED',
      ])
    } finally {
      await cluster.stop()
    }
  })
})
