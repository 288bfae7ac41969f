/** Against a driver that registers, with the calls that a kubelet v1.37.1 was seen to make of it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { PersistentVolume, Volume } from '../../api/generated/types.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { Client } from '../../client/client.ts'
import { podDirectories } from '../machine/pod-directories.ts'
import { createPluginRegistry } from '../plugins/plugin-registry.ts'
import type { Pod } from '../pod.ts'
import { createCsiDrivers } from './csi-drivers.ts'
import { type CsiVolumes, createCsiVolumes } from './csi-volumes.ts'
import { type DriverOptions, startDriver } from './driver-stand-in.ts'

const DRIVER = 'd.example.test'
const ends: (() => void)[] = []
after(() => {
  for (const end of ends) end()
})

/** An API server that keeps what it is given. */
function fakeApi(objects: Readonly<Record<string, KubeObject>>) {
  const kept = new Map(Object.entries(objects))
  const waiting: { readonly is: () => boolean; readonly done: () => void }[] = []
  const put = (key: string, object: KubeObject) => {
    kept.set(key, object)
    for (const one of waiting) if (one.is()) one.done()
    return object
  }
  const resource = ({ resource: plural }: { readonly resource: string }) => {
    const own = {
      async get(name: string) {
        const found = kept.get(`${plural}/${name}`)
        if (found === undefined) throw notFound({ group: '', resource: plural }, name)
        return found
      },
      async create(object: KubeObject, options?: { readonly subresource?: string }) {
        if (options?.subresource === 'token')
          return { ...object, status: { token: 'a token', expirationTimestamp: '2026-11-24T05:52:58Z' } }
        return put(`${plural}/${object.metadata.name}`, object)
      },
      update: async (object: KubeObject) => put(`${plural}/${object.metadata.name}`, object),
      async patch(name: string, _: string, patch: JsonObject) {
        const before = await own.get(name)
        const { annotations = {}, labels = {} } = patch['metadata'] as Record<string, Record<string, string>>
        const metadata = {
          ...before.metadata,
          annotations: { ...before.metadata.annotations, ...annotations },
          labels: { ...before.metadata.labels, ...labels },
        }
        return put(`${plural}/${name}`, { ...before, metadata })
      },
      namespace: () => own,
    }
    return own
  }
  return {
    client: { resource } as unknown as Client,
    object: (key: string) => kept.get(key),
    until: (is: () => boolean) => (is() ? undefined : new Promise<void>((done) => waiting.push({ is, done }))),
  }
}

const csiDriver = (spec: object = {}): KubeObject => ({
  kind: 'CSIDriver',
  apiVersion: 'storage.k8s.io/v1',
  metadata: { name: DRIVER },
  spec: {
    attachRequired: false,
    podInfoOnMount: true,
    volumeLifecycleModes: ['Persistent', 'Ephemeral'],
    tokenRequests: [{ audience: 'a' }],
    ...spec,
  },
})
const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's' }, data: { k: 'eA==' } }
const node = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n1', uid: 'nu' } }

async function stage(objects: Readonly<Record<string, KubeObject>> = {}, driver: Partial<DriverOptions> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'skiff-csi-'))
  const asked: [string, Record<string, unknown>][] = []
  const registry = join(root, 'plugins_registry')
  const registered = Promise.withResolvers<void>()
  const runtime = liveRuntime()
  const api = fakeApi({ 'nodes/n1': node, [`csidrivers/${DRIVER}`]: csiDriver(), 'secrets/s': secret, ...objects })
  const drivers = createCsiDrivers({ runtime, client: api.client, nodeName: 'n1' })
  const stop = new AbortController()
  createPluginRegistry(runtime, registry, { CSIPlugin: drivers }).run(stop.signal)
  const running = await startDriver({
    name: DRIVER,
    registry,
    folder: join(root, 'd'),
    asked(method, request) {
      asked.push([method, request as Record<string, unknown>])
      if (method === 'NotifyRegistrationStatus') registered.resolve()
    },
    ...driver,
  })
  await registered.promise
  ends.push(() => {
    stop.abort()
    running.stop()
    rmSync(root, { recursive: true, force: true })
  })
  const directories = podDirectories(root)
  const toldInUse: (readonly string[])[] = []
  const options = {
    client: api.client,
    nodeName: 'n1',
    directories,
    drivers,
    tellInUse: async () => void toldInUse.push(csi.inUse()),
  }
  const csi: CsiVolumes = createCsiVolumes(options)
  return {
    api,
    asked,
    directories,
    root,
    running,
    csi,
    toldInUse,
    again: () => createCsiVolumes(options),
  }
}

const podOf = (uid: string): Pod =>
  ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'ns', uid }, spec: { containers: [] } }) as never
const inline: Volume = { name: 'v', csi: { driver: DRIVER, volumeAttributes: { x: 'y' }, readOnly: true } }
const claimed: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'c' } }
const persistent = {
  kind: 'PersistentVolume',
  apiVersion: 'v1',
  metadata: { name: 'pv1' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    mountOptions: ['noatime'],
    csi: {
      driver: DRIVER,
      volumeHandle: 'handle-1',
      fsType: 'ext4',
      volumeAttributes: { a: 'b' },
      nodeStageSecretRef: { name: 's', namespace: 'ns' },
      nodePublishSecretRef: { name: 's', namespace: 'ns' },
    },
  },
} as unknown as PersistentVolume

test('a driver registers, and the CSINode, the Node’s annotation and its labels tell of it; with its socket it goes', async () => {
  const { api, asked, running } = await stage()
  assert.deepEqual(
    asked.map(([method]) => method),
    ['GetInfo', 'NodeGetInfo', 'NodeGetCapabilities', 'NotifyRegistrationStatus'],
  )
  assert.deepEqual(asked.at(-1)?.[1], { plugin_registered: true, error: '' })
  const csiNode = api.object('csinodes/n1')
  assert.deepEqual(csiNode?.metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'nu' }])
  assert.deepEqual(csiNode?.['spec'], {
    drivers: [{ name: DRIVER, nodeID: 'id-of-node', topologyKeys: ['example.test/zone'], allocatable: { count: 3 } }],
  })
  const { annotations, labels } = api.object('nodes/n1')?.metadata ?? {}
  assert.deepEqual(annotations, { 'csi.volume.kubernetes.io/nodeid': `{"${DRIVER}":"id-of-node"}` })
  assert.deepEqual(labels, { 'example.test/zone': 'z' })
  running.stop()
  await api.until(() => api.object('csinodes/n1')?.['spec'].drivers.length === 0)
})

test('a driver in whose topology the node stands elsewhere is told why it is not registered', async () => {
  const elsewhere = { ...node, metadata: { ...node.metadata, labels: { 'example.test/zone': 'other' } } }
  const { api, asked } = await stage({ 'nodes/n1': elsewhere })
  assert.deepEqual(asked.at(-1)?.[1], {
    plugin_registered: false,
    error:
      'detected topology value collision: driver reported "example.test/zone":"z" but existing label is "example.test/zone":"other"',
  })
  assert.equal(api.object('csinodes/n1'), undefined)
})

test('a pod’s own volume is published as a kubelet asks for it, and taken back', async () => {
  const { asked, csi, directories } = await stage()
  asked.length = 0
  const path = await csi.publish(podOf('u1'), inline, undefined)
  assert.equal(path, join(directories.pod('u1'), 'volumes/kubernetes.io~csi/v/mount'))
  const handle = `csi-${createHash('sha256').update('u1v').digest('hex')}`
  assert.deepEqual(
    asked,
    [
      [
        'NodePublishVolume',
        {
          publish_context: {},
          secrets: {},
          volume_context: {
            'csi.storage.k8s.io/pod.name': 'p',
            'csi.storage.k8s.io/pod.namespace': 'ns',
            'csi.storage.k8s.io/pod.uid': 'u1',
            'csi.storage.k8s.io/serviceAccount.name': 'default',
            'csi.storage.k8s.io/ephemeral': 'true',
            'csi.storage.k8s.io/serviceAccount.tokens':
              '{"a":{"token":"a token","expirationTimestamp":"2026-11-24T05:52:58Z"}}',
            x: 'y',
          },
          volume_id: handle,
          staging_target_path: '',
          target_path: path,
          volume_capability: {
            access_mode: { mode: 'SINGLE_NODE_WRITER' },
            mount: { mount_flags: [], fs_type: '', volume_mount_group: '' },
          },
          readonly: true,
        },
      ],
    ].map(([method, request]) => [method, { ...(request as object) }]),
  )
  await csi.publish(podOf('u1'), inline, undefined)
  assert.equal(asked.length, 1, 'what is published is not published again')
  await csi.unpublish('u1')
  assert.deepEqual(asked.at(-1), ['NodeUnpublishVolume', { volume_id: handle, target_path: path }])
  assert.deepEqual(readdirSync(join(directories.pod('u1'), 'volumes/kubernetes.io~csi')), [])
})

test('a volume of two pods is staged where it is, and unstaged when the last of them has ended, after a restart too', async () => {
  const { asked, csi, again, root } = await stage()
  asked.length = 0
  const names = () => asked.splice(0).map(([method]) => method)
  await csi.publish(podOf('u1'), claimed, persistent)
  const staging = join(
    root,
    'plugins/kubernetes.io/csi',
    DRIVER,
    '4219dcd75aa1fff692ddc5cf84c1b34bf799aaad291afdf03dde2213f2f3b397/globalmount',
  )
  const [[, staged], [, published]] = asked as [[string, object], [string, Record<string, unknown>]]
  assert.deepEqual(staged, {
    publish_context: {},
    secrets: { k: 'x' },
    volume_context: { a: 'b' },
    volume_id: 'handle-1',
    staging_target_path: staging,
    volume_capability: {
      access_mode: { mode: 'SINGLE_NODE_WRITER' },
      mount: { mount_flags: ['noatime'], fs_type: 'ext4', volume_mount_group: '' },
    },
  })
  assert.deepEqual(
    [published['staging_target_path'], published['secrets'], published['readonly']],
    [staging, { k: 'x' }, false],
  )
  assert.deepEqual(names(), ['NodeStageVolume', 'NodePublishVolume'])
  await csi.publish(podOf('u2'), claimed, persistent)
  assert.deepEqual(names(), ['NodeStageVolume', 'NodePublishVolume'])
  const later = again()
  await later.unpublish('u1')
  assert.deepEqual(names(), ['NodeUnpublishVolume'])
  assert.equal(existsSync(staging), true)
  await later.unpublish('u2')
  assert.deepEqual(names(), ['NodeUnpublishVolume', 'NodeUnstageVolume'])
  assert.equal(existsSync(staging), false)
})

test('what is missing is told in the kubelet’s words, and what cannot be taken back stays', async () => {
  const { csi, running, again } = await stage()
  const other: Volume = { name: 'v', csi: { driver: 'none.example.test' } }
  await assert.rejects(csi.publish(podOf('u1'), other, undefined), {
    message:
      'kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name none.example.test not found in the list of registered CSI drivers',
  })
  const elsewhere = { ...persistent, spec: { ...persistent.spec, csi: { ...persistent.spec?.csi, driver: 'none' } } }
  await assert.rejects(csi.publish(podOf('u1'), claimed, elsewhere as PersistentVolume), {
    step: 'MountDevice',
    volume: 'pv1',
    message:
      'kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name none not found in the list of registered CSI drivers',
  })
  await csi.publish(podOf('u1'), inline, undefined)
  running.stop()
  await assert.rejects(again().unpublish('u1'))
  await assert.rejects(again().unpublish('u1'), 'it is tried again')
})

test('a volume that has to be attached waits for that, and has what the attachment tells', async () => {
  const id = `csi-${createHash('sha256').update(`handle-1${DRIVER}n1`).digest('hex')}`
  const required = { [`csidrivers/${DRIVER}`]: csiDriver({ attachRequired: true }) }
  const { csi, asked: calls, toldInUse } = await stage(required)
  calls.length = 0
  await assert.rejects(csi.publish(podOf('u1'), claimed, persistent), { step: 'WaitForAttach', volume: 'pv1' })
  // It is in use before it is there, so that it is not detached in between; the driver hears of none of it.
  const name = `kubernetes.io/csi/${DRIVER}^handle-1`
  assert.deepEqual(toldInUse, [[name]])
  await csi.unpublish('u1')
  assert.deepEqual([toldInUse, calls], [[[name], []], []])
  const attachment = { kind: 'VolumeAttachment', apiVersion: 'storage.k8s.io/v1', metadata: { name: id } }
  const status = { attached: true, attachmentMetadata: { device: '/dev/x' } }
  const {
    csi: ready,
    asked,
    toldInUse: told,
    again,
  } = await stage({ ...required, [`volumeattachments/${id}`]: { ...attachment, status } })
  await ready.publish(podOf('u1'), claimed, persistent)
  const publish = asked.find(([method]) => method === 'NodePublishVolume')
  assert.deepEqual(publish?.[1]['publish_context'], { device: '/dev/x' })
  assert.deepEqual(again().inUse(), [name], 'after a restart too')
  await ready.publish(podOf('u2'), claimed, persistent)
  await ready.unpublish('u1')
  assert.deepEqual([ready.inUse(), told], [[name], [[name]]], 'another pod has it')
  await ready.unpublish('u2')
  assert.deepEqual(told, [[name], []])
})

test('a volume of mode Block is staged and published as a device, beside the pod’s own directory', async () => {
  const { csi, asked, root } = await stage()
  asked.length = 0
  const block = { ...persistent, spec: { ...persistent.spec, volumeMode: 'Block' } } as PersistentVolume
  const path = await csi.publish(podOf('u1'), claimed, block)
  const devices = join(root, 'plugins/kubernetes.io/csi/volumeDevices')
  assert.equal(path, join(devices, 'publish/pv1/u1'))
  const [[, staged], [, published]] = asked as [[string, Record<string, unknown>], [string, Record<string, unknown>]]
  assert.equal(staged['staging_target_path'], join(devices, 'staging/pv1'))
  assert.deepEqual(published['volume_capability'], { access_mode: { mode: 'SINGLE_NODE_WRITER' }, block: {} })
  assert.equal(published['target_path'], path)
  asked.length = 0
  await csi.unpublish('u1')
  assert.deepEqual(
    asked.map(([method]) => method),
    ['NodeUnpublishVolume', 'NodeUnstageVolume'],
  )
  assert.deepEqual(readdirSync(join(devices, 'staging')), [])
})

test('a driver that tells how full its volumes are is asked, another is not', async () => {
  const NodeGetCapabilities = () => ({ capabilities: [{ rpc: { type: 'GET_VOLUME_STATS' } }] })
  const usage = [
    { unit: 'BYTES', total: 100, available: 60, used: 40 },
    { unit: 'INODES', total: 10, available: 9, used: 1 },
  ]
  const answers = { NodeGetCapabilities, NodeGetVolumeStats: () => ({ usage }) }
  const { csi, asked, directories } = await stage({}, { answers })
  await csi.publish(podOf('u1'), claimed, persistent)
  const stats = await csi.stats(podOf('u1'), claimed, persistent)
  assert.deepEqual(stats, {
    ...{ capacityBytes: 100, availableBytes: 60, usedBytes: 40 },
    ...{ inodes: 10, inodesFree: 9, inodesUsed: 1 },
  })
  const path = join(directories.pod('u1'), 'volumes/kubernetes.io~csi/pv1/mount')
  const request = { volume_id: 'handle-1', volume_path: path, staging_target_path: '' }
  assert.deepEqual(asked.at(-1), ['NodeGetVolumeStats', request])
  const { csi: silent } = await stage()
  assert.equal(await silent.stats(podOf('u1'), claimed, persistent), undefined)
})

test('a published volume is made larger as a kubelet asks for it', async () => {
  const { csi, asked, directories, root } = await stage()
  await csi.publish(podOf('u1'), claimed, persistent)
  asked.length = 0
  const larger = { ...persistent, spec: { ...persistent.spec, capacity: { storage: '2Gi' } } } as PersistentVolume
  assert.equal(await csi.expand(podOf('u1'), claimed, larger), true)
  assert.deepEqual(asked, [
    [
      'NodeExpandVolume',
      {
        secrets: {},
        volume_id: 'handle-1',
        volume_path: join(directories.pod('u1'), 'volumes/kubernetes.io~csi/pv1/mount'),
        capacity_range: { required_bytes: 2_147_483_648, limit_bytes: 0 },
        staging_target_path: join(
          root,
          'plugins/kubernetes.io/csi',
          DRIVER,
          '4219dcd75aa1fff692ddc5cf84c1b34bf799aaad291afdf03dde2213f2f3b397/globalmount',
        ),
        volume_capability: {
          access_mode: { mode: 'SINGLE_NODE_WRITER' },
          mount: { mount_flags: ['noatime'], fs_type: 'ext4', volume_mount_group: '' },
        },
      },
    ],
  ])
})
