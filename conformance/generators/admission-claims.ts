/** What admission does to claims that grow, and to pods by the topology of their node. */
import type { Case } from '../recording.ts'
import { type Any, claim, core, get, merge, pod, post, put } from './admission-parts.ts'

export function claims(): readonly Case[] {
  const storageClass = (name: string, allowVolumeExpansion: boolean | undefined): Any => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'example.com/x',
    allowVolumeExpansion,
  })
  const classes = '/apis/storage.k8s.io/v1/storageclasses'
  const claimsPath = `${core}/persistentvolumeclaims`
  const bound = (name: string, storage: string, more: Any) => ({
    ...claim(name, storage, more),
    status: { phase: 'Bound', capacity: { storage } },
  })
  const grow = (storage: string) => ({ spec: { resources: { requests: { storage } } } })
  return [
    {
      name: 'claims that grow',
      steps: [
        post(classes, storageClass('$NS-fixed', undefined)),
        post(classes, storageClass('$NS-grows', true)),
        post(claimsPath, claim('a', '1Gi', { storageClassName: '$NS-fixed', volumeName: 'v' })),
        post(claimsPath, claim('b', '1Gi', { storageClassName: '$NS-grows', volumeName: 'v' })),
        post(claimsPath, claim('c', '1Gi', { storageClassName: '' })),
        post(claimsPath, claim('d', '1Gi', { storageClassName: '$NS-gone', volumeName: 'v' })),
        merge(`${claimsPath}/a`, grow('2Gi')),
        put(`${claimsPath}/a/status`, bound('a', '1Gi', { storageClassName: '$NS-fixed', volumeName: 'v' })),
        put(`${claimsPath}/b/status`, bound('b', '1Gi', { storageClassName: '$NS-grows', volumeName: 'v' })),
        put(`${claimsPath}/c/status`, bound('c', '1Gi', { storageClassName: '' })),
        put(`${claimsPath}/d/status`, bound('d', '1Gi', { storageClassName: '$NS-gone', volumeName: 'v' })),
        merge(`${claimsPath}/a`, grow('2Gi')),
        merge(`${claimsPath}/b`, grow('2Gi')),
        merge(`${claimsPath}/c`, grow('2Gi')),
        merge(`${claimsPath}/d`, grow('2Gi')),
        merge(`${claimsPath}/b`, grow('1500Mi')),
        merge(`${claimsPath}/b`, grow('1Gi')),
        merge(`${claimsPath}/b`, grow('512Mi')),
        { m: 'DELETE', p: `${classes}/$NS-fixed` },
        { m: 'DELETE', p: `${classes}/$NS-grows` },
      ],
    },
    {
      name: 'pod topology labels',
      steps: [
        post('/api/v1/nodes', {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: {
            name: '$NS-n',
            labels: {
              'topology.kubernetes.io/zone': 'z',
              'topology.kubernetes.io/region': 'r',
              'topology.k8s.io/rack': 'k',
              other: 'o',
            },
          },
        }),
        post(`${core}/pods`, pod('a')),
        post(`${core}/pods/a/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a' },
          target: { kind: 'Node', name: '$NS-n' },
        }),
        get(`${core}/pods/a`),
        post(`${core}/pods`, pod('b', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('c', {}, { labels: { 'topology.kubernetes.io/zone': 'mine' } })),
        post(`${core}/pods/c/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'c' },
          target: { kind: 'Node', name: '$NS-n' },
        }),
        get(`${core}/pods/c`),
        { m: 'DELETE', p: `${core}/pods/a?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/b?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/c?gracePeriodSeconds=0` },
        { m: 'DELETE', p: '/api/v1/nodes/$NS-n' },
      ],
    },
  ]
}
