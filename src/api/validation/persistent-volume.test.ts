import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validatePersistentVolume } from './persistent-volume.ts'

const volume = (source: object) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v', annotations: { 'volume.beta.kubernetes.io/mount-options': '' } },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...source },
})

test('the annotation for mount options is for volumes that are mounted with some', () => {
  const fields = (source: object) =>
    validatePersistentVolume(volume(source)).map(({ field, type }) => `${field} ${type}`)
  assert.deepEqual(fields({ nfs: { server: 's', path: '/x' } }), [])
  const refused = ['metadata.annotations.volume.beta.kubernetes.io/mount-options FieldValueForbidden']
  assert.deepEqual(fields({ hostPath: { path: '/x' }, mountOptions: ['ro'] }), refused)
  assert.deepEqual(fields({ csi: { driver: 'd', volumeHandle: 'h' } }), refused)
})
