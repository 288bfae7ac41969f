import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import { node, pod } from './test-objects.ts'
import { startSchedulerStandIn } from './test-stand-in.ts'
import { createVolumeBinder } from './volume-binder.ts'
import { planFor, type VolumePlan, volumesOf } from './volume-binding-and-first-consumer.ts'

const SELECTED = 'volume.kubernetes.io/selected-node'
const BOUND = { 'pv.kubernetes.io/bind-completed': 'yes' }

const claim = (spec: Fields, annotations: Fields = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', namespace: 'default', uid: 'uid-c', annotations },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'late',
    volumeMode: 'Filesystem',
    ...spec,
  },
  status: { phase: 'Pending' },
})
/** Reachable from one node alone. */
const volume = (on: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    storageClassName: 'late',
    volumeMode: 'Filesystem',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [on] }] }],
      },
    },
  },
  status: { phase: 'Available' },
})
const storageClass = (volumeBindingMode: string, provisioner = 'example.com/p'): KubeObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'late' },
  provisioner,
  volumeBindingMode,
})
const user = pod('p', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }] })

async function started(objects: Readonly<Record<string, KubeObject>>) {
  const it = startSchedulerStandIn()
  for (const [resource, object] of Object.entries(objects)) it.put(resource, object)
  const changes: string[] = []
  const stop = new AbortController()
  const tell = ({ name }: { readonly name: string }) => changes.push(name)
  const binder = createVolumeBinder(it.runtime, it.client, it.informers, tell, stop.signal)
  it.informers.start()
  await it.runtime.complete(binder.whenSynced(it.options.signal))
  const claims = () => volumesOf(user, binder.view)
  const planOn = (name: string) => {
    const found = claims()
    return found === undefined || 'reason' in found ? found : planFor(found, node(name), binder.view)
  }
  const bind = (on: string, plan = planOn(on) as VolumePlan) => {
    const outcome: string[] = []
    let wanted = true
    void binder
      .bind(plan, on, () => wanted, 600_000)
      .then(
        () => outcome.push('bound'),
        (error: Error) => outcome.push(error.message),
      )
    const giveUp = () => {
      wanted = false
    }
    return { outcome, giveUp }
  }
  const stored = (resource: string, key: string) => it.of(resource).get(key) as KubeObject
  return { ...it, binder, claims, planOn, bind, stored, changes: () => changes, stop }
}
const late = { storageclasses: storageClass('WaitForFirstConsumer') }
const annotationsOf = ({ metadata }: KubeObject) => metadata.annotations ?? {}

test('a claim waits for its first consumer where its class says so, and keeps the pod from every node where it does not', async () => {
  const it = await started({ ...late, persistentvolumeclaims: claim({}) })
  assert.deepEqual((it.claims() as { waiting: readonly KubeObject[] }).waiting.length, 1)
  const at = await started({ storageclasses: storageClass('Immediate'), persistentvolumeclaims: claim({}) })
  const unbound = 'pod has unbound immediate PersistentVolumeClaims'
  assert.deepEqual(at.claims(), { plugin: 'VolumeBinding', reason: unbound })
  const missing = 'persistentvolumeclaim "c" not found'
  assert.deepEqual((await started(late)).claims(), { plugin: 'VolumeRestrictions', reason: missing })
})

test('a bound claim is to be had only where its volume can be reached', async () => {
  const it = await started({
    ...late,
    persistentvolumes: volume('n'),
    persistentvolumeclaims: claim({ volumeName: 'v' }, BOUND),
  })
  assert.deepEqual(it.planOn('n'), { bindings: [], provisions: [] })
  assert.deepEqual(it.planOn('m'), ["node(s) didn't match PersistentVolume's node affinity"])
})

test('a volume that fits is bound to the claim; the pod goes on once the claim is bound too, which is looked at each second', async () => {
  const it = await started({ ...late, persistentvolumes: volume('n'), persistentvolumeclaims: claim({}) })
  const { outcome } = it.bind('n')
  await it.runtime.settle()
  assert.equal(it.stored('persistentvolumes', '/v')['spec'].claimRef.uid, 'uid-c')
  it.put('persistentvolumeclaims', claim({ volumeName: 'v' }, BOUND))
  await it.runtime.advance(999)
  assert.deepEqual(outcome, [])
  await it.runtime.advance(1)
  assert.deepEqual(outcome, ['bound'])
})

test('a scheduler that ends waits for no volumes, and leaves no timer behind', async () => {
  const it = await started({ ...late, persistentvolumes: volume('n'), persistentvolumeclaims: claim({}) })
  await it.runtime.settle()
  const { outcome } = it.bind('n')
  await it.runtime.settle()
  const begin = it.runtime.clock.now()
  it.stop.abort(new Error('the scheduler ends'))
  await it.runtime.settle()
  assert.deepEqual(outcome, ['the scheduler ends'])
  assert.equal(it.runtime.clock.now(), begin)
})

test('what is promised is offered to no other, until it is released', async () => {
  const it = await started({ ...late, persistentvolumes: volume('n'), persistentvolumeclaims: claim({}) })
  const plan = it.planOn('n') as VolumePlan
  it.binder.reserve(plan, 'n')
  assert.equal(it.binder.view.volume('v')?.spec?.claimRef?.name, 'c')
  assert.equal(it.binder.view.volumes()[0]?.spec?.claimRef?.name, 'c')
  it.binder.release(plan)
  assert.equal(it.binder.view.volume('v')?.spec?.claimRef, undefined)
  assert.deepEqual(it.taken(), [])
})

test('a volume is asked for by the node’s name on the claim; that taken off again, making it has failed', async () => {
  const it = await started({ ...late, persistentvolumes: volume('n'), persistentvolumeclaims: claim({}) })
  const { outcome } = it.bind('m')
  await it.runtime.settle()
  const asked = it.stored('persistentvolumeclaims', 'default/c')
  assert.equal(annotationsOf(asked)[SELECTED], 'm')
  assert.deepEqual(outcome, [])
  assert.deepEqual(
    it.planOn('n'),
    ["node(s) didn't find available persistent volumes to bind"],
    'it is being made for m',
  )
  await it.runtime.advance(1000)
  it.put('persistentvolumeclaims', claim({}))
  await it.runtime.advance(1000)
  assert.deepEqual(outcome, ['provisioning failed for PVC "c"'])
})

test('nothing makes volumes of a class without a provisioner', async () => {
  const storageclasses = storageClass('WaitForFirstConsumer', 'kubernetes.io/no-provisioner')
  const it = await started({ storageclasses, persistentvolumeclaims: claim({}) })
  assert.deepEqual(it.planOn('m'), ["node(s) didn't find available persistent volumes to bind"])
})

test('a driver that tells of its capacity is asked for no volume where it has no room for one', async () => {
  const driver = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'example.com/p' } }
  const tells = { ...driver, spec: { storageCapacity: true } }
  const it = await started({ ...late, persistentvolumeclaims: claim({}), csidrivers: tells })
  const noRoom = ['node(s) did not have enough free storage']
  assert.deepEqual(it.planOn('n'), noRoom)
  const capacity = async (more: Fields) => {
    it.put('csistoragecapacities', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIStorageCapacity',
      metadata: { name: 'k', namespace: 'default' },
      storageClassName: 'late',
      nodeTopology: { matchLabels: { 'kubernetes.io/hostname': 'n' } },
      ...more,
    } as never)
    await it.runtime.settle()
    return it.planOn('n')
  }
  assert.deepEqual(await capacity({ capacity: '1Mi' }), noRoom)
  assert.deepEqual(await capacity({ capacity: '10Gi', maximumVolumeSize: '512Mi' }), noRoom)
  assert.deepEqual(await capacity({ capacity: '10Gi', storageClassName: 'other' }), noRoom)
  assert.equal(((await capacity({ capacity: '1Gi' })) as VolumePlan).provisions.length, 1)
  assert.deepEqual(it.planOn('other'), noRoom)
  it.put('csidrivers', { ...driver, spec: { storageCapacity: false } } as never)
  await it.runtime.settle()
  assert.equal((it.planOn('other') as VolumePlan).provisions.length, 1)
})

test('waiting ends when the claim or the pod has gone, and after ten minutes', async () => {
  const objects = { ...late, persistentvolumeclaims: claim({}) }
  const one = await started(objects)
  const gone = one.bind('m')
  await one.runtime.settle()
  one.of('persistentvolumeclaims').remove('default/c')
  await one.runtime.advance(1000)
  assert.deepEqual(gone.outcome, ['PVC "c" not found'])
  const two = await started(objects)
  const unwanted = two.bind('m')
  await two.runtime.settle()
  unwanted.giveUp()
  await two.runtime.advance(1000)
  assert.deepEqual(unwanted.outcome, ['pod does not exist any more'])
  const three = await started(objects)
  const slow = three.bind('m')
  await three.runtime.advance(599_999)
  assert.deepEqual(slow.outcome, [])
  await three.runtime.advance(1)
  assert.deepEqual(slow.outcome, ['context deadline exceeded'])
})

test('changes of claims, volumes and classes are told, by what they are', async () => {
  const it = await started({})
  it.put('persistentvolumeclaims', claim({}))
  it.put('persistentvolumes', volume('n'))
  it.put('storageclasses', storageClass('Immediate'))
  await it.runtime.settle()
  it.of('persistentvolumes').remove('/v')
  await it.runtime.settle()
  const told = [
    'PersistentVolumeAdd',
    'PersistentVolumeClaimAdd',
    'PersistentVolumeDelete',
    'storage.k8s.io/StorageClassAdd',
  ]
  assert.deepEqual(it.changes().toSorted(), told)
})
