import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import { podInfoOf } from './pod-info.ts'
import { startScheduler } from './scheduler.ts'
import { node, pod } from './test-objects.ts'
import { startSchedulerStandIn } from './test-stand-in.ts'

const DRIVER = 'd.example.com'
const EXCEEDED = (count: number) =>
  `FailedScheduling: 0/1 nodes are available: 1 node(s) exceed max volume count. preemption: 0/1 nodes are available: ${count} No preemption victims found for incoming pod.`
const storage = (kind: string, name: string, spec: Fields) =>
  ({ apiVersion: 'storage.k8s.io/v1', kind, metadata: { name, uid: name }, spec }) as KubeObject
const csiNode = (count?: number, driver = DRIVER) =>
  storage('CSINode', 'n', {
    drivers: [{ name: driver, nodeID: 'n', topologyKeys: [], ...(count !== undefined && { allocatable: { count } }) }],
  })
const attachment = (volume: string) =>
  storage('VolumeAttachment', `va-${volume}`, {
    attacher: DRIVER,
    nodeName: 'n',
    source: { persistentVolumeName: volume },
  })
const using = (name: string, ...claims: readonly string[]) =>
  pod(name, {
    schedulerName: 'default-scheduler',
    volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  })

/** Node n and claims 1 to 4, each bound to the CSI volume of its name. */
async function started(...more: readonly (readonly [resource: string, object: KubeObject])[]) {
  const it = startSchedulerStandIn()
  it.put('nodes', node('n'))
  for (const name of ['1', '2', '3', '4']) {
    const volume = { driver: DRIVER, volumeHandle: `h${name}` }
    const claimRef = { namespace: 'default', name, uid: `c${name}` }
    it.put('persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: { csi: volume, claimRef, accessModes: ['ReadWriteOnce'] },
    } as KubeObject)
    it.put('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name,
        namespace: 'default',
        uid: `c${name}`,
        annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
      },
      spec: { volumeName: name, accessModes: ['ReadWriteOnce'], storageClassName: '' },
      status: { phase: 'Bound' },
    } as KubeObject)
  }
  for (const [resource, object] of more) it.put(resource, object)
  const ready = startScheduler(it.options)
  await it.runtime.advance(0)
  await ready
  const nodeOf = async (made: KubeObject) => {
    it.put('pods', made)
    await it.runtime.advance(0)
    return podInfoOf(it.of('pods').get(`default/${made.metadata.name}`)!).pod.spec?.nodeName
  }
  return { ...it, nodeOf }
}

test('a node takes as many volumes as its driver says; one that it has already is not one more', async () => {
  const it = await started(['csinodes', csiNode(2)])
  assert.equal(await it.nodeOf(using('a', '1', '2')), 'n')
  assert.equal(await it.nodeOf(using('b', '2')), 'n')
  assert.equal(await it.nodeOf(using('c', '3')), undefined)
  assert.deepEqual(
    it.events().filter((one) => one.startsWith('Failed')),
    [EXCEEDED(1)],
  )
  it.put('csinodes', csiNode(3))
  await it.runtime.advance(1000)
  assert.equal(await it.nodeOf(using('d', '3')), 'n')
  it.stop()
})

test('what is attached counts, until it is detached', async () => {
  const it = await started(['csinodes', csiNode(1)], ['volumeattachments', attachment('1')])
  assert.equal(await it.nodeOf(using('a', '2')), undefined)
  it.of('volumeattachments').remove('/va-1')
  await it.runtime.advance(1000)
  assert.equal(podInfoOf(it.of('pods').get('default/a')!).pod.spec?.nodeName, 'n')
  it.stop()
})

test('a node whose driver says no number, or that has no such driver, takes any', async () => {
  for (const csi of [csiNode(), csiNode(0, 'other.example.com')]) {
    const it = await started(['csinodes', csi])
    assert.equal(await it.nodeOf(using('a', '1', '2', '3', '4')), 'n')
    it.stop()
  }
})

test('a driver can keep pods off nodes where it is not', async () => {
  const it = await started(['csidrivers', storage('CSIDriver', DRIVER, { preventPodSchedulingIfMissing: true })])
  assert.equal(await it.nodeOf(using('a', '1')), undefined)
  assert.match(it.events()[0] ?? '', /: 1 d\.example\.com CSI driver is not installed on the node\. preemption: /)
  it.put('csinodes', csiNode())
  await it.runtime.advance(1000)
  assert.equal(podInfoOf(it.of('pods').get('default/a')!).pod.spec?.nodeName, 'n')
  it.stop()
})
