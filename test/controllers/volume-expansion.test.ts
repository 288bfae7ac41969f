/** What is said of claims that ask for more than their volumes have, as a real v1.37.1 did (recorded 2026-11-24). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, JsonObject, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

const EXPANDER = 'system:serviceaccount:kube-system:expand-controller'
const sources: Readonly<Record<string, JsonObject>> = {
  csi: { csi: { driver: 'csi.example.com', volumeHandle: 'h' } },
  nfs: { nfs: { server: 'a', path: '/b' } },
  aws: { awsElasticBlockStore: { volumeID: 'vol-1' } },
  azd: { azureDisk: { diskName: 'd', diskURI: '/subscriptions/x/disks/z', kind: 'Managed' } },
  azf: { azureFile: { secretName: 's', shareName: 't', secretNamespace: 'default' } },
  cin: { cinder: { volumeID: 'v' } },
  gce: { gcePersistentDisk: { pdName: 'd' } },
  px: { portworxVolume: { volumeID: 'x' } },
  vsp: { vsphereVolume: { volumePath: '[a] b' } },
}
const outside = 'waiting for an external controller to expand this PVC'
const takenOver = (plugin: string) =>
  `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`

test('who makes a volume larger is told, and the driver that has taken over its kind', async () => {
  const runtime = simulatedRuntime(1)
  const { user, writes, events, mark, stop } = await startStage(runtime, { nodes: 0 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const core = (resource: string) => user.resource({ group: '', version: 'v1', resource })
  const claims = core('persistentvolumeclaims').namespace(namespace)
  const own = () => writes.filter((write) => write.user === EXPANDER && !write.uri.includes('/events'))
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: 'c' }
  await done(
    user.resource({ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' }).create({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'c' },
      provisioner: 'csi.example.com',
      allowVolumeExpansion: true,
    } as KubeObject),
  )
  mark()
  for (const [name, source] of Object.entries(sources)) {
    const volume = { ...common, capacity: { storage: '1Gi' }, ...source }
    const claim = { ...common, volumeName: name, resources: { requests: { storage: '1Gi' } } }
    const object = (kind: string, spec: Fields) => ({ apiVersion: 'v1', kind, metadata: { name }, spec }) as KubeObject
    await done(core('persistentvolumes').create(object('PersistentVolume', volume)))
    await done(claims.create(object('PersistentVolumeClaim', claim)))
  }
  await runtime.advance(20_000)
  const told = () => events.filter(({ reason }) => reason === 'ExternalExpanding')
  assert.deepEqual([told().length, own().length], [0, 0])
  const larger = { spec: { resources: { requests: { storage: '2Gi' } } } }
  for (const name of Object.keys(sources)) {
    await done(claims.patch(name, 'merge', larger))
    await done(claims.patch(name, 'merge', { metadata: { labels: { a: 'b' } } }))
    // Less than before, but more than there is: that is not told of again.
    await runtime.advance(1000)
    await done(claims.patch(name, 'merge', { spec: { resources: { requests: { storage: '1500Mi' } } } }))
  }
  await runtime.advance(5000)
  const course = Object.fromEntries(
    told().map((event) => [event.about.name, [event.type, event.component, event.message]]),
  )
  assert.equal(told().length, Object.keys(sources).length)
  const says = (message: string) => ['Normal', 'volume_expand', message]
  assert.deepEqual(course, {
    csi: says(outside),
    nfs: says(outside),
    aws: says(takenOver('kubernetes.io/aws-ebs')),
    azd: says(takenOver('kubernetes.io/azure-disk')),
    azf: says(takenOver('kubernetes.io/azure-file')),
    cin: says(takenOver('kubernetes.io/cinder')),
    gce: says(takenOver('kubernetes.io/gce-pd')),
    px: says(takenOver('kubernetes.io/portworx-volume')),
    vsp: says(takenOver('kubernetes.io/vsphere-volume')),
  })
  const resizers = Object.fromEntries(
    (await done(claims.list())).items.flatMap(({ metadata: { name = '', annotations } }) => {
      const resizer = annotations?.['volume.kubernetes.io/storage-resizer']
      return resizer === undefined ? [] : [[name, resizer]]
    }),
  )
  assert.deepEqual(resizers, {
    aws: 'ebs.csi.aws.com',
    azd: 'disk.csi.azure.com',
    azf: 'file.csi.azure.com',
    cin: 'cinder.csi.openstack.org',
    gce: 'pd.csi.storage.gke.io',
    px: 'pxd.portworx.com',
    vsp: 'csi.vsphere.vmware.com',
  })
  const patches = own().filter(({ code }) => code === 200)
  assert.equal(patches.length, 7)
  for (const { verb, uri, body } of patches) {
    assert.match(`${verb} ${uri}`, /^patch \/api\/v1\/namespaces\/[a-z-]+\/persistentvolumeclaims\/[a-z]+\/status$/)
    assert.deepEqual(Object.keys(body as Fields), ['metadata'])
    assert.deepEqual(Object.keys((body as Fields)['metadata']), ['annotations', 'resourceVersion'])
  }
  await stop()
})
