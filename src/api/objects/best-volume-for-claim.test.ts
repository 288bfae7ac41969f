import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume } from '../generated/types.ts'
import type { Fields, KubeObject } from '../object.ts'
import { bestMatch, mismatch } from './best-volume-for-claim.ts'
import { claimStatus, withClaim, withoutClaim, withVolume } from './volume-binding.ts'

const claim = (spec: Fields = {}, storage = '2Gi'): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c', namespace: 'n', uid: 'u', resourceVersion: '5' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
  }) as never
const volume = (name: string, storage: string, spec: Fields = {}, labels: Fields = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, labels },
    spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], capacity: { storage }, ...spec },
    status: { phase: 'Available' },
  }) as never
const best = (volumes: readonly PersistentVolume[], of = claim()) => bestMatch(volumes, of)?.metadata.name

test('the smallest that is large enough, of the same class and mode, with all access modes and the labels', () => {
  assert.equal(best([volume('a', '10Gi'), volume('b', '3Gi'), volume('c', '1Gi'), volume('d', '3Gi')]), 'b')
  assert.equal(best([volume('a', '2Gi', { storageClassName: 'fast' })]), undefined)
  assert.equal(best([volume('a', '2Gi', { storageClassName: 'fast' })], claim({ storageClassName: 'fast' })), 'a')
  assert.equal(best([volume('a', '2Gi', { volumeMode: 'Block' })]), undefined)
  assert.equal(best([volume('a', '2Gi')], claim({ accessModes: ['ReadWriteMany'] })), undefined)
  const chosen = claim({ selector: { matchLabels: { disk: 'ssd' } } })
  assert.equal(best([volume('a', '2Gi'), volume('b', '9Gi', {}, { disk: 'ssd' })], chosen), 'b')
})

test('a volume reserved for the claim comes first, one of another claim or not available yet not at all', () => {
  const claimRef = { namespace: 'n', name: 'c' }
  assert.equal(best([volume('a', '2Gi'), volume('b', '9Gi', { claimRef })]), 'b')
  assert.equal(best([volume('a', '2Gi', { claimRef: { ...claimRef, uid: 'former' } })]), undefined)
  assert.equal(best([{ ...volume('a', '2Gi'), status: { phase: 'Pending' } }]), undefined)
})

test('why a named volume will not do', () => {
  assert.equal(mismatch(volume('a', '1Gi'), claim()), 'requested PV is too small')
  assert.equal(mismatch(volume('a', '2Gi', { storageClassName: 'x' }), claim()), 'storageClassName does not match')
  assert.equal(mismatch(volume('a', '2Gi'), claim()), undefined)
  const { metadata, ...rest } = volume('a', '2Gi')
  const going = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  assert.equal(mismatch(going, claim()), 'the volume is marked for deletion "a"')
})

test('what the controller bound it lets go of; what a user reserved stays reserved', () => {
  const bound = withClaim(volume('a', '2Gi'), claim())
  assert.deepEqual(bound.metadata.annotations, { 'pv.kubernetes.io/bound-by-controller': 'yes' })
  assert.equal(withClaim(bound, claim()), bound)
  assert.equal(withoutClaim(bound)['spec'].claimRef, undefined)
  const reserved = withClaim(volume('a', '2Gi', { claimRef: { namespace: 'n', name: 'c' } }), claim())
  assert.equal(reserved.metadata.annotations, undefined)
  assert.deepEqual(withoutClaim(reserved)['spec'].claimRef, {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace: 'n',
    name: 'c',
  })
})

test('a claim tells its volume and, once bound, what it got; lost, nothing', () => {
  const own = withVolume(claim(), volume('a', '3Gi'))
  assert.equal(own['spec'].volumeName, 'a')
  assert.equal(withVolume(own, volume('a', '3Gi')), own)
  const status = claimStatus(own, 'Bound', volume('a', '3Gi'))
  assert.deepEqual([status['phase'], status['capacity']], ['Bound', { storage: '3Gi' }])
  assert.deepEqual(claimStatus({ ...own, status } as KubeObject, 'Lost'), { phase: 'Lost' })
  const gold = volume('a', '3Gi', { volumeAttributesClassName: 'gold' })
  const ofGold = claimStatus(own, 'Bound', gold)
  assert.deepEqual(ofGold, { ...status, currentVolumeAttributesClassName: 'gold' })
  assert.deepEqual(claimStatus({ ...own, status: ofGold } as KubeObject, 'Lost'), { phase: 'Lost' })
})
