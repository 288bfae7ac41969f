/** Volumes of every source, and what else configures storage, using every part of their types. */
import type { CorpusEntry } from '../mutations.ts'
import { type Any, entry } from './entry.ts'

const nodeTerms = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] }
const secret = { name: 's', namespace: 'n' }
const volume = (name: string, source: Any, more: Any = {}) =>
  entry('v1', 'persistentvolumes', 'PersistentVolume', `rich-${name}`, {
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'fast',
      mountOptions: ['hard'],
      volumeMode: 'Filesystem',
      nodeAffinity: { required: nodeTerms },
      ...more,
      ...source,
    },
  })

export const richStorage: readonly CorpusEntry[] = [
  volume(
    'csi',
    {
      csi: {
        driver: 'csi.example.com',
        volumeHandle: 'h',
        readOnly: true,
        fsType: 'ext4',
        volumeAttributes: { a: 'b' },
        controllerPublishSecretRef: secret,
        nodeStageSecretRef: secret,
        nodePublishSecretRef: secret,
        controllerExpandSecretRef: secret,
        nodeExpandSecretRef: secret,
      },
    },
    {
      volumeAttributesClassName: 'gold',
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'n', name: 'c', uid: 'u' },
    },
  ),
  volume('iscsi', {
    iscsi: {
      targetPortal: '10.0.0.1:3260',
      iqn: 'iqn.2001-04.com.example:storage.disk1',
      lun: 0,
      chapAuthDiscovery: true,
      secretRef: secret,
      initiatorName: 'iqn.2001-04.com.example:i',
    },
  }),
  volume('fc', { fc: { wwids: ['3600508b400105e210000900000490000'], fsType: 'ext4' } }),
  volume('local', { local: { path: '/mnt/disk', fsType: 'ext4' } }),
  volume('rbd', { rbd: { monitors: ['a'], image: 'i', secretRef: secret } }),
  volume('cephfs', { cephfs: { monitors: ['a'], path: '/x', secretRef: secret } }),
  volume('azure', { azureFile: { secretName: 's', shareName: 'x', secretNamespace: 'n' } }),
  volume('disk', {
    azureDisk: { diskName: 'd', diskURI: '/subscriptions/x/d', kind: 'Managed', cachingMode: 'ReadOnly' },
  }),
  volume('flex', { flexVolume: { driver: 'example.com/d', secretRef: secret } }),
  volume('scaleio', { scaleIO: { gateway: 'g', system: 's', volumeName: 'v', secretRef: secret } }),
  volume('storageos', {
    storageos: { volumeName: 'v', volumeNamespace: 'n', secretRef: { name: 's', namespace: 'n' } },
  }),
  volume('gce', { gcePersistentDisk: { pdName: 'p', partition: 3 } }, { persistentVolumeReclaimPolicy: 'Delete' }),
  volume('aws', { awsElasticBlockStore: { volumeID: 'v', partition: 3 } }),
  volume('glusterfs', { glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: 'n' } }),
  volume('cinder', { cinder: { volumeID: 'v', secretRef: secret } }),
  volume('recycled', { nfs: { server: 's', path: '/p' } }, { persistentVolumeReclaimPolicy: 'Recycle' }),
  entry('v1 ns', 'persistentvolumeclaims', 'PersistentVolumeClaim', 'pvc', {
    spec: {
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
      selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'DoesNotExist' }] },
      storageClassName: 'fast',
      volumeMode: 'Block',
      volumeName: 'pv',
      dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' },
      volumeAttributesClassName: 'gold',
    },
  }),
  entry('storage.k8s.io/v1', 'storageclasses', 'StorageClass', 'rich-sc', {
    provisioner: 'example.com/p',
    parameters: { type: 'ssd', 'example.com/x': 'y' },
    reclaimPolicy: 'Retain',
    mountOptions: ['a', 'b'],
    allowVolumeExpansion: true,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }],
  }),
  entry('storage.k8s.io/v1', 'csidrivers', 'CSIDriver', 'rich.csi.example.com', {
    spec: {
      attachRequired: true,
      podInfoOnMount: true,
      volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      storageCapacity: true,
      fsGroupPolicy: 'File',
      tokenRequests: [{ audience: 'a', expirationSeconds: 3600 }, { audience: '' }],
      requiresRepublish: true,
      seLinuxMount: true,
      nodeAllocatableUpdatePeriodSeconds: 60,
    },
  }),
  entry('storage.k8s.io/v1', 'csinodes', 'CSINode', 'rich-node', {
    spec: {
      drivers: [
        {
          name: 'csi.example.com',
          nodeID: 'n',
          topologyKeys: ['zone', 'example.com/rack'],
          allocatable: { count: 10 },
        },
        { name: 'b.example.com', nodeID: 'x' },
      ],
    },
  }),
  entry('storage.k8s.io/v1 ns', 'csistoragecapacities', 'CSIStorageCapacity', 'cap', {
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { zone: 'a' } },
    capacity: '10Gi',
    maximumVolumeSize: '1Gi',
  }),
  entry('storage.k8s.io/v1', 'volumeattachments', 'VolumeAttachment', 'rich-va', {
    spec: { attacher: 'csi.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
  }),
  entry('storage.k8s.io/v1', 'volumeattachments', 'VolumeAttachment', 'rich-inline', {
    spec: {
      attacher: 'csi.example.com',
      nodeName: 'n',
      source: {
        inlineVolumeSpec: {
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'csi.example.com', volumeHandle: 'h' },
        },
      },
    },
  }),
  entry('storage.k8s.io/v1', 'volumeattributesclasses', 'VolumeAttributesClass', 'rich-vac', {
    driverName: 'csi.example.com',
    parameters: { iops: '100' },
  }),
]
