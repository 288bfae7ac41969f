/** Nodes, drivers, volumes and pods in few words. */
import type { Fields, Json } from '../../src/api/object.ts'
import type { Act, Step } from './scenario.ts'

export const DRIVER = 'disk.example.com'
const FINALIZER = 'external-attacher/disk-example-com'
const MANAGED = 'volumes.kubernetes.io/controller-managed-attach-detach'

export const step = (...acts: readonly Act[]): Step => ({ acts })
export const wait = (ms: number, ...acts: readonly Act[]): Step => ({ acts, ms })
export const make = (...objects: readonly Fields[]): readonly Act[] => objects.map((object) => ({ make: object }))
export const change = (resource: string, name: string, by: Json, subresource?: string): Act => ({
  change: resource,
  name,
  by,
  ...(subresource === undefined ? {} : { subresource }),
})
export const remove = (resource: string, name: string): Act => ({ remove: resource, name })

const object = (apiVersion: string, kind: string, name: string, more: Fields, metadata: Fields = {}): Fields => ({
  apiVersion,
  kind,
  metadata: { name, ...metadata },
  ...more,
})

/** A node whose kubelet leaves attaching to the controller. */
export const node = (name: string, annotations: Fields = { [MANAGED]: 'true' }): Fields =>
  object(
    'v1',
    'Node',
    name,
    { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }] } },
    { annotations },
  )

export const driver = (spec: Fields = {}): Fields => object('storage.k8s.io/v1', 'CSIDriver', DRIVER, { spec })

export const csi = (handle: string): Fields => ({ csi: { driver: DRIVER, volumeHandle: handle } })

/** A volume and the claim of the same name that is bound to it. */
export const volume = (
  name: string,
  mode = 'ReadWriteOnce',
  source: Fields = csi(`handle-${name}`),
): readonly Fields[] => [
  object('v1', 'PersistentVolume', name, {
    spec: {
      accessModes: [mode],
      capacity: { storage: '1Gi' },
      storageClassName: '',
      persistentVolumeReclaimPolicy: 'Retain',
      ...source,
    },
  }),
  claim(name, mode),
]
export const claim = (name: string, mode = 'ReadWriteOnce'): Fields =>
  object('v1', 'PersistentVolumeClaim', name, {
    spec: {
      accessModes: [mode],
      storageClassName: '',
      volumeName: name,
      resources: { requests: { storage: '1Gi' } },
    },
  })

/** A pod on that node; a volume is a claim's name, or a source. */
export const pod = (name: string, nodeName: string, ...volumes: readonly (string | Fields)[]): Fields =>
  object('v1', 'Pod', name, {
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
      volumes: volumes.map((source, i) => ({
        name: `v${i}`,
        ...(typeof source === 'string' ? { persistentVolumeClaim: { claimName: source } } : source),
      })),
    },
  })

/** Of the VolumeAttachment of that volume and node: its name is found when it is played. */
export const attachmentOf = (volumeName: string, nodeName: string): string => `handle-${volumeName} on ${nodeName}`

const attachment = (volumeName: string, nodeName: string, by: Json, subresource?: string): Act =>
  change('volumeattachments', attachmentOf(volumeName, nodeName), by, subresource)
const now = '2026-01-01T00:00:00Z'

/** What the external attacher does with the volume of that name. */
export const attacher = {
  takes: (name: string, nodeName: string) => attachment(name, nodeName, { metadata: { finalizers: [FINALIZER] } }),
  attached: (name: string, nodeName: string, more: Fields = {}) =>
    attachment(name, nodeName, { status: { attached: true, ...more } }, 'status'),
  failed: (name: string, nodeName: string, message: string | null) =>
    attachment(
      name,
      nodeName,
      { status: { attached: false, attachError: message === null ? null : { message, time: now } } },
      'status',
    ),
  notDetached: (name: string, nodeName: string, message: string) =>
    attachment(name, nodeName, { status: { detachError: { message, time: now } } }, 'status'),
  leaves: (name: string, nodeName: string) => attachment(name, nodeName, { metadata: { finalizers: null } }),
}

/** What the kubelet says it has mounted. */
export const inUse = (nodeName: string, ...names: readonly string[]): Act =>
  change(
    'nodes',
    nodeName,
    { status: { volumesInUse: names.map((name) => `kubernetes.io/csi/${DRIVER}^handle-${name}`) } },
    'status',
  )
export const phase = (name: string, value: string): Act => change('pods', name, { status: { phase: value } }, 'status')
export const ready = (nodeName: string, status: string): Act =>
  change('nodes', nodeName, { status: { conditions: [{ type: 'Ready', status }] } }, 'status')
