import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import { reclaimOf } from './reclaim-policy.ts'

const reclaimed = (persistentVolumeReclaimPolicy: string, source: Fields, annotations: Fields = {}) => {
  const spec = { persistentVolumeReclaimPolicy, ...source }
  const volume = { metadata: { name: 'v', annotations }, spec } as unknown as PersistentVolume
  const reclaim = reclaimOf(volume)
  return reclaim.action === 'fail' ? `${reclaim.reason}: ${reclaim.message}` : reclaim.action
}
const local = { local: { path: '/x' } }
const nfs = { nfs: { server: 's', path: '/x' } }
const csi = { csi: { driver: 'x.y', volumeHandle: 'h' } }
const path = (of: string) => ({ hostPath: { path: of } })
const by = (provisioner: string) => ({ 'pv.kubernetes.io/provisioned-by': provisioner })
const to = (driver: string) => ({ 'pv.kubernetes.io/migrated-to': driver })

test('deleted is what Kubernetes can delete; what has a provisioner or driver is left to it; all else fails', () => {
  const failed = 'VolumeFailedDelete: error getting deleter volume plugin for volume "v": '
  assert.deepEqual(
    [
      reclaimed('Delete', path('/tmp/x')),
      reclaimed('Delete', path('/tmp/')),
      reclaimed('Delete', csi),
      reclaimed('Delete', local, by('x.y/local')),
      reclaimed('Delete', local, by('')),
      reclaimed('Delete', local),
      reclaimed('Delete', nfs),
      reclaimed('Retain', local),
    ],
    [
      'delete',
      'VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /tmp/',
      'none',
      'none',
      `${failed}no volume plugin matched`,
      `${failed}no volume plugin matched`,
      `${failed}no deletable volume plugin matched`,
      'none',
    ],
  )
})

test('only host paths and NFS can be recycled', () => {
  const failed = 'VolumeFailedRecycle: No recycler plugin found for the volume!'
  assert.deepEqual(
    [path('/x'), nfs, csi, local].map((source) => reclaimed('Recycle', source)),
    ['none', 'none', failed, failed],
  )
})

test('the name of an in-tree provisioner counts for more than the source', () => {
  const path = { hostPath: { path: '/tmp/x' } }
  for (const source of [csi, nfs, local, path])
    assert.deepEqual(
      ['x', 'no-provisioner', 'nfs'].map((name) => reclaimed('Delete', source, by(`kubernetes.io/${name}`))),
      [
        'VolumeFailedDelete: no volume plugin matched name: kubernetes.io/x',
        'VolumeFailedDelete: no volume plugin matched name: kubernetes.io/no-provisioner',
        'VolumeFailedDelete: no deletable volume plugin matched',
      ],
    )
  assert.equal(reclaimed('Delete', path, by('kubernetes.io/host-path')), 'delete')
  assert.equal(
    reclaimed('Delete', csi, by('kubernetes.io/host-path')),
    'VolumeFailedDelete: failed to create deleter for volume "v": spec.PersistentVolumeSource.HostPath is nil',
  )
})

test('what a driver has taken over is left to it under any policy', () => {
  for (const source of [csi, nfs, local, path('/x'), path('/tmp/x')])
    for (const policy of ['Delete', 'Recycle', 'Retain']) assert.equal(reclaimed(policy, source, to('x.y')), 'none')
  assert.equal(reclaimed('Delete', path('/tmp/x'), to('')), 'none')
  assert.match(reclaimed('Recycle', csi, to('')), /^VolumeFailedRecycle/)
})
