import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../api/object.ts'
import { prefilter, refusalOf } from './filters.ts'
import { createCluster } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import { leastHarm, preemptionCandidates } from './preemption.ts'
import { node, pod } from './test-objects.ts'

const having = (name: string, volume: Fields) => pod(name, { volumes: [{ name: 'v', ...volume }] })
const gce = (readOnly: boolean, pdName = 'd') => ({ gcePersistentDisk: { pdName, readOnly } })
const ebs = (readOnly: boolean) => ({ awsElasticBlockStore: { volumeID: 'd', readOnly } })
const iscsi = (readOnly: boolean, more: Fields = {}) => ({
  iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:storage', lun: 0, readOnly, ...more },
})
const rbd = (readOnly: boolean, ...monitors: readonly string[]) => ({ rbd: { monitors, image: 'i', readOnly } })

const conflicts: Readonly<Record<string, readonly [there: Fields, wanted: Fields, isRefused: boolean]>> = {
  'a GCE disk for writing': [gce(false), gce(true), true],
  'a GCE disk for reading': [gce(true), gce(true), false],
  'another GCE disk': [gce(false), gce(false, 'e'), false],
  'an EBS volume, even for reading': [ebs(true), ebs(true), true],
  'an EBS volume of the name of a GCE disk': [gce(false), ebs(false), false],
  'an iSCSI target by another portal and unit': [iscsi(true), iscsi(false, { targetPortal: '10.0.0.2', lun: 1 }), true],
  'an iSCSI target for reading': [iscsi(true), iscsi(true), false],
  'an RBD image by a monitor in common': [rbd(true, 'a', 'b'), rbd(false, 'b', 'c'), true],
  'an RBD image for reading': [rbd(true, 'a', 'b'), rbd(true, 'b'), false],
  'an RBD image of other monitors': [rbd(false, 'a'), rbd(false, 'b'), false],
}
const DISK_TAKEN = { reasons: ['node(s) had no available disk'], hard: false, plugin: 'VolumeRestrictions' }

for (const [what, [there, wanted, isRefused]] of Object.entries(conflicts))
  test(`a pod of the node has ${what}: ${isRefused ? 'refused' : 'no matter'}`, () => {
    const cluster = createCluster()
    cluster.setNode(node('a'))
    cluster.setPod(podInfoOf(having('there', there)), 'a')
    const info = podInfoOf(having('wanted', wanted))
    const refusal = refusalOf(
      info,
      cluster.ready()[0]!,
      prefilter(info, cluster, () => ({})),
    )
    assert.deepEqual(refusal, isRefused ? DISK_TAKEN : undefined)
  })

test('pods with different disks are not taken for the same', () => {
  assert.notEqual(podInfoOf(having('a', gce(false))).shape, podInfoOf(having('b', gce(false, 'e'))).shape)
})

test('a claim of ReadWriteOncePod that a pod uses refuses all nodes, until that pod is gone or pushed aside', () => {
  const cluster = createCluster()
  for (const name of ['a', 'b']) cluster.setNode(node(name))
  const using = (name: string, priority: number) =>
    podInfoOf(pod(name, { priority, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }))
  cluster.setPod(using('there', 1), 'b')
  const info = using('wanted', 10)
  const state = { ...prefilter(info, cluster, () => ({})), exclusiveClaims: ['default/c'] }
  const refusals = () => cluster.ready().map((one) => refusalOf(info, one, state)?.reasons)
  const why = [
    'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  ]
  assert.deepEqual(refusals(), [why, why])
  const chosen = leastHarm(preemptionCandidates(info, cluster.ready(), state, []))
  assert.deepEqual([chosen?.node.name, chosen?.victims.map(({ key }) => key)], ['b', ['default/there']])
  assert.deepEqual(refusals(), [why, why], 'trying changes nothing')
  // One that is there twice over is counted once.
  cluster.setPod(using('there', 1), 'b')
  cluster.removePod('default/there')
  assert.deepEqual(refusals(), [undefined, undefined])
})
