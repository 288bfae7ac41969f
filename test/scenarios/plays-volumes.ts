/** Volumes and claims: bound by size and class, or by name; released, reclaimed and lost. */
import type { Fields } from '../../src/api/object.ts'
import { brief, create, patch, pause, remove } from './acts.ts'
import { namespace, type Stage } from './stage.ts'

const volumeName = `pv-${namespace}`
const volume = (storageClassName: string, spec: Fields = {}, name = volumeName, storage = '1Gi') => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    capacity: { storage },
    accessModes: ['ReadWriteOnce'],
    storageClassName,
    persistentVolumeReclaimPolicy: 'Retain',
    ...(spec['csi'] === undefined ? { hostPath: { path: '/x' } } : {}),
    ...spec,
  },
})
const claim = (storageClassName: string, spec: Fields = {}, storage = '1Gi', name = 'v') => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
})
async function bound(stage: Stage, made: unknown, claimed: unknown): Promise<void> {
  await create(stage, 'persistentvolumes', made)
  await pause(stage, 1000)
  await create(stage, 'persistentvolumeclaims', claimed)
  await pause(stage, 3000)
}

export const volumePlays = brief({
  'pv-binds': {
    nodes: 1,
    async act(stage) {
      await bound(stage, volume('manual'), claim('manual'))
      await remove(stage, 'persistentvolumeclaims', 'v')
      await pause(stage, 3000)
      await remove(stage, 'persistentvolumes', volumeName)
    },
  },
  'pv-chooses': {
    nodes: 1,
    async act(stage) {
      const named = (size: string) => `pv-${size}-${namespace}`
      for (const [size, storage] of Object.entries({ big: '10Gi', mid: '5Gi', small: '1Gi' }))
        await create(stage, 'persistentvolumes', volume('choose', {}, named(size), storage))
      await pause(stage, 2000)
      await create(stage, 'persistentvolumeclaims', claim('choose', {}, '3Gi'))
      await pause(stage, 3000)
      await remove(stage, 'persistentvolumes', named('mid'))
      await pause(stage, 3000)
      for (const size of ['big', 'small']) await remove(stage, 'persistentvolumes', named(size))
    },
  },
  'pv-prebound': {
    nodes: 1,
    async act(stage) {
      const deleted = { hostPath: { path: '/tmp/x' }, persistentVolumeReclaimPolicy: 'Delete' }
      await bound(stage, volume('', deleted), claim('', { volumeName }))
      await remove(stage, 'persistentvolumeclaims', 'v')
    },
  },
  'pv-reclaim-delete': {
    nodes: 1,
    async act(stage) {
      const csi = { csi: { driver: 'x.example.com', volumeHandle: 'h' }, persistentVolumeReclaimPolicy: 'Delete' }
      await bound(stage, volume('rd', csi), claim('rd'))
      await remove(stage, 'persistentvolumeclaims', 'v')
    },
  },
  'pv-lost': {
    nodes: 1,
    async act(stage) {
      await bound(stage, volume('l'), claim('l'))
      await remove(stage, 'persistentvolumes', volumeName)
      await patch(stage, 'persistentvolumes', volumeName, { metadata: { finalizers: null } })
    },
  },
  'pv-waits': {
    nodes: 1,
    async act(stage) {
      await create(stage, 'persistentvolumeclaims', claim('none-such'))
      await create(stage, 'persistentvolumeclaims', claim('', {}, '1Gi', 'e'))
    },
  },
})
