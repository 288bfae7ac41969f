/** Volumes, claims and attachments that do not go. */

import { node, runningPod } from '../stage.ts'
import { attachment, type Case, claim, volume } from './case.ts'

export const storage: Readonly<Record<string, Case>> = {
  '6': {
    title: 'a volume is still attached to a node that is gone',
    async setUp(stage) {
      const pv = volume('case-6', {}, { finalizers: ['external-attacher/csi-acme-test'] })
      await stage.make(pv, attachment('case-6', 'gone-node', 'case-6'))
      await stage.remove(pv)
      return { kind: 'pv', name: 'case-6' }
    },
    verdict: 'nobody',
    cause: 'missing-node',
    responsible: /node gone-node/,
  },
  '14': {
    title: 'a claim that a pod uses',
    async setUp(stage, namespace) {
      await node(stage, 'user-14', true)
      const object = claim(namespace, 'data')
      await stage.make(object)
      await runningPod(stage, namespace, 'user', 'user-14', {
        spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] },
      })
      await stage.remove(object)
      return { kind: 'pvc', name: 'data' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /pods\/user in namespace case-14/,
  },
  '15': {
    title: 'a volume that is bound',
    async setUp(stage, namespace) {
      const pvc = claim(namespace, 'data', { volumeName: 'case-15' })
      const pv = volume('case-15', { claimRef: { namespace, name: 'data' } })
      await stage.make(pv, pvc)
      await stage.until(pv, ({ status }) => status?.phase === 'Bound')
      await stage.until(pvc, ({ status }) => status?.phase === 'Bound')
      await stage.remove(pv)
      return { kind: 'pv', name: 'case-15' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /persistentvolumeclaims\/data in namespace case-15/,
  },
  '16 driver': {
    title: "an attachment whose driver's node plugin is gone",
    async setUp(stage) {
      await node(stage, 'bare-16', true)
      await stage.make({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSINode',
        metadata: { name: 'bare-16' },
        spec: { drivers: [] },
      })
      const object = attachment('case-16-driver', 'bare-16', 'case-16-driver')
      await stage.make(volume('case-16-driver'), object)
      await stage.remove(object)
      return { kind: 'volumeattachment', name: 'case-16-driver' }
    },
    verdict: 'nobody',
    cause: 'driver-missing',
    responsible: /csi\.acme\.test on node bare-16/,
  },
  '16 volume': {
    title: 'an attachment whose volume is gone',
    async setUp(stage) {
      await node(stage, 'attached-16', true)
      await stage.make({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSINode',
        metadata: { name: 'attached-16' },
        spec: { drivers: [{ name: 'csi.acme.test', nodeID: 'n' }] },
      })
      const object = attachment('case-16', 'attached-16', 'no-volume')
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'volumeattachment', name: 'case-16' }
    },
    verdict: 'nobody',
    cause: 'volume-missing',
    responsible: /persistentvolumes\/no-volume/,
  },
  '17': {
    title: "a snapshotter's protection was left on a claim",
    async setUp(stage, namespace) {
      const object = claim(
        namespace,
        'data',
        {},
        { finalizers: ['snapshot.storage.kubernetes.io/pvc-as-source-protection'] },
      )
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'pvc', name: 'data' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /snapshot-controller/,
  },
}
