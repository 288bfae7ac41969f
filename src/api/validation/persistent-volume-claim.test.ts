import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '../generated/types.ts'
import { validatePersistentVolumeClaimStatus, validatePersistentVolumeClaimUpdate } from './persistent-volume-claim.ts'

function claim(storageClassName?: string, annotated?: string): PersistentVolumeClaim {
  return {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    metadata: {
      name: 'c',
      namespace: 'n',
      ...(annotated === undefined ? {} : { annotations: { 'volume.beta.kubernetes.io/storage-class': annotated } }),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      volumeMode: 'Filesystem',
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  }
}

test('a claim without a class is given one once: the one that its annotation has, where it has one', () => {
  const isTaken = (before: PersistentVolumeClaim, now: PersistentVolumeClaim) =>
    validatePersistentVolumeClaimUpdate(now, before).every(({ field }) => field !== 'spec')
  assert.ok(isTaken(claim(), claim('a')))
  assert.ok(isTaken(claim(), claim()))
  assert.ok(isTaken(claim(undefined, 'a'), claim('a', 'a')))
  assert.ok(!isTaken(claim(undefined, 'a'), claim('b', 'a')))
  assert.ok(!isTaken(claim('a'), claim('b')))
  assert.ok(!isTaken(claim('a'), claim()))
  assert.ok(!isTaken(claim(''), claim('a')))
})

test('the state of an expansion is told by known words, of storage or of a resource with a domain', () => {
  const told = (status: object) =>
    validatePersistentVolumeClaimStatus({ ...claim(), status } as never).map(({ field }) => field)
  const known = { storage: 'NodeResizePending', 'a.b/c': 'NodeResizePending' }
  assert.deepEqual(told({ allocatedResourceStatuses: known, allocatedResources: { storage: '2Gi', 'a.b/c': '2' } }), [])
  assert.deepEqual(told({ allocatedResourceStatuses: { storage: 'Odd' } }), ['status.allocatedResourceStatuses'])
  assert.deepEqual(told({ allocatedResourceStatuses: { foo: 'NodeResizePending' } }), [
    'status.allocatedResourceStatuses',
  ])
  assert.deepEqual(told({ allocatedResources: { cpu: '1', storage: '-2Gi' } }), [
    'status.allocatedResources',
    'status.allocatedResources[storage]',
  ])
})
