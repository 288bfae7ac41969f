/** Claims and volumes that are in use stay, with all controllers on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

const resource = (name: string) => ({ group: '', version: 'v1', resource: name })
const spec = { storageClassName: '', accessModes: ['ReadWriteOnce'] }

test('a volume that is bound stays until it is not; a bound claim says whether it is used', async () => {
  const runtime = simulatedRuntime(1)
  const { user, stop } = await startStage(runtime, { nodes: 1 })
  const volumes = user.resource(resource('persistentvolumes'))
  const claims = user.resource(resource('persistentvolumeclaims')).namespace(namespace)
  const pods = user.resource(resource('pods')).namespace(namespace)
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const after = async () => runtime.advance(1000)
  const object = (kind: string, name: string, body: Fields) =>
    ({ apiVersion: 'v1', kind, metadata: { name }, spec: body }) as unknown as KubeObject
  const unused = async () => {
    const { conditions = [] } = (await done(claims.get('c')))['status'] as Fields
    return (conditions as readonly Fields[]).find(({ type }) => type === 'Unused')?.['status']
  }
  await done(
    volumes.create(
      object('PersistentVolume', 'v', { ...spec, capacity: { storage: '1Gi' }, hostPath: { path: '/x' } }),
    ),
  )
  await done(
    claims.create(
      object('PersistentVolumeClaim', 'c', { ...spec, volumeName: 'v', resources: { requests: { storage: '1Gi' } } }),
    ),
  )
  await after()
  assert.equal((await done(claims.get('c')))['status'].phase, 'Bound')
  assert.equal(await unused(), 'True')
  const mount = { name: 'm', persistentVolumeClaim: { claimName: 'c' } }
  const pod = object('Pod', 'p', { nodeName: 'kwok-1', volumes: [mount], containers: [{ name: 'c', image: 'i' }] })
  await done(pods.create({ ...pod, metadata: { name: 'p', finalizers: ['acme.test/hold'] } }))
  await after()
  assert.equal(await unused(), 'False')
  await done(pods.delete('p', { gracePeriodSeconds: 0 }))
  await after()
  assert.equal(await unused(), 'True', 'its pod is shut down, and held by a finalizer alone')
  await done(claims.delete('c'))
  await done(volumes.delete('v'))
  await after()
  assert.ok((await done(claims.get('c'))).metadata.deletionTimestamp)
  assert.ok((await done(volumes.get('v'))).metadata.deletionTimestamp)
  await done(pods.patch('p', 'merge', { metadata: { finalizers: null } } as never))
  await after()
  await assert.rejects(done(claims.get('c')), { code: 404 })
  await assert.rejects(done(volumes.get('v')), { code: 404 })
  await stop()
})

test('the claim of an ephemeral volume goes when its pod is shut down, which waits for it; one that the pod names stays', async () => {
  const runtime = simulatedRuntime(1)
  const { user, stop } = await startStage(runtime, { nodes: 0 })
  const claims = user.resource(resource('persistentvolumeclaims')).namespace(namespace)
  const pods = user.resource(resource('pods')).namespace(namespace)
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const claimSpec = { ...spec, storageClassName: 'none', resources: { requests: { storage: '1Gi' } } }
  const ephemeral = { name: 'd', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } }
  const named = (claimName: string) => ({ name: 'd', persistentVolumeClaim: { claimName } })
  const object = (kind: string, metadata: Fields, body: Fields) =>
    ({ apiVersion: 'v1', kind, metadata, spec: body }) as KubeObject
  const pod = (name: string, volume: Fields, finalizers: readonly string[] = []) =>
    pods.create(
      object(
        'Pod',
        { name, finalizers },
        { nodeName: 'n', volumes: [volume], containers: [{ name: 'c', image: 'i' }] },
      ),
    )
  const left = async () => {
    await runtime.advance(1000)
    return (await done(claims.list())).items.map(({ metadata }) => metadata.name).sort()
  }
  await done(
    user.resource(resource('nodes')).create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } } as KubeObject),
  )
  for (const name of ['shared', 'other-d'])
    await done(claims.create(object('PersistentVolumeClaim', { name }, claimSpec)))
  await done(pod('going', ephemeral))
  await done(pod('held', ephemeral, ['acme.test/hold']))
  await done(pod('user', named('shared'), ['acme.test/hold']))
  await done(pod('other', ephemeral))
  assert.deepEqual(await left(), ['going-d', 'held-d', 'other-d', 'shared'])
  await done(pods.delete('going', { propagationPolicy: 'Foreground' }))
  for (const name of ['held-d', 'shared']) await done(claims.delete(name))
  const { metadata } = await done(claims.get('other-d'))
  await done(claims.delete('other-d'))
  assert.deepEqual(await left(), ['going-d', 'held-d', 'other-d', 'shared'], 'their pods run')
  assert.notEqual(
    (await done(claims.get('other-d'))).metadata.uid,
    metadata.uid,
    "another's went, and the pod got its own",
  )
  for (const name of ['going', 'held', 'user']) await done(pods.delete(name, { gracePeriodSeconds: 0 }))
  assert.deepEqual(await left(), ['other-d', 'shared'])
  assert.deepEqual((await done(pods.list())).items.map(({ metadata }) => metadata.name).sort(), [
    'held',
    'other',
    'user',
  ])
  await stop()
})

test('a VolumeAttributesClass stays while a claim asks for it, has it or is given it, or a volume has it', async () => {
  const runtime = simulatedRuntime(1)
  const { user, stop } = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const classes = user.resource({ group: 'storage.k8s.io', version: 'v1', resource: 'volumeattributesclasses' })
  const claims = user.resource(resource('persistentvolumeclaims')).namespace(namespace)
  const volumes = user.resource(resource('persistentvolumes'))
  const left = async () => {
    await runtime.advance(1000)
    return (await done(classes.list())).items.map(({ metadata }) => metadata.name).sort()
  }
  const names = ['asked', 'given', 'had', 'kept', 'unused']
  for (const name of names) {
    const one = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass', metadata: { name } }
    await done(classes.create({ ...one, driverName: 'd', parameters: { a: 'b' } } as unknown as KubeObject))
  }
  const own = { ...spec, storageClassName: 'none' }
  const asking = { ...own, volumeAttributesClassName: 'asked', resources: { requests: { storage: '1Gi' } } }
  const keeping = { ...own, volumeAttributesClassName: 'kept', capacity: { storage: '1Gi' } }
  const object = (kind: string, body: Fields) =>
    ({ apiVersion: 'v1', kind, metadata: { name: 'x' }, spec: body }) as unknown as KubeObject
  await done(claims.create(object('PersistentVolumeClaim', asking)))
  await done(
    volumes.create(
      object('PersistentVolume', { ...keeping, storageClassName: 'other', csi: { driver: 'd', volumeHandle: 'h' } }),
    ),
  )
  const tell = (status: Fields) => done(claims.patch('x', 'merge', { status }, { subresource: 'status' }))
  await tell({
    currentVolumeAttributesClassName: 'had',
    modifyVolumeStatus: { targetVolumeAttributesClassName: 'given', status: 'Pending' },
  })
  for (const name of names) await done(classes.delete(name))
  assert.deepEqual(await left(), ['asked', 'given', 'had', 'kept'])
  await tell({ currentVolumeAttributesClassName: null })
  assert.deepEqual(await left(), ['asked', 'given', 'kept'])
  await tell({ modifyVolumeStatus: null })
  assert.deepEqual(await left(), ['asked', 'kept'])
  await done(claims.delete('x'))
  assert.deepEqual(await left(), ['kept'])
  await done(volumes.delete('x'))
  assert.deepEqual(await left(), [])
  await stop()
})

test('a claim without a class is given the one that becomes the default, and one with the class of none is not', async () => {
  const runtime = simulatedRuntime(1)
  const { user, stop } = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const claims = user.resource(resource('persistentvolumeclaims')).namespace(namespace)
  const claim = (name: string, more: Fields) => {
    const asked = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more }
    return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: asked } as unknown as KubeObject
  }
  await done(claims.create(claim('any', {})))
  await done(claims.create(claim('none', { storageClassName: '' })))
  await runtime.advance(2000)
  await done(
    user.resource({ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' }).create({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'late', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'example.com/p',
    } as unknown as KubeObject),
  )
  await runtime.advance(20_000)
  const changed = claims.patch('any', 'merge', { spec: { storageClassName: 'other' } })
  await assert.rejects(done(changed), { code: 422 })
  const told = async (name: string) => {
    const { metadata, spec: has } = (await done(claims.get(name))) as unknown as { metadata: Fields; spec: Fields }
    return [has['storageClassName'], metadata['annotations']?.['volume.kubernetes.io/storage-provisioner']]
  }
  assert.deepEqual(
    [await told('any'), await told('none')],
    [
      ['late', 'example.com/p'],
      ['', undefined],
    ],
  )
  await stop()
})

test('in-tree provisioners: a driver has taken their place, or their volumes are held until they are deleted', async () => {
  const runtime = simulatedRuntime(1)
  const { user, stop } = await startStage(runtime, { nodes: 0 })
  const volumes = user.resource(resource('persistentvolumes'))
  const claims = user.resource(resource('persistentvolumeclaims')).namespace(namespace)
  const classes = user.resource({ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const by = (provisioner: string) => ({ 'pv.kubernetes.io/provisioned-by': provisioner })
  const asked = { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/gce-pd' }
  const to = (driver: string) => ({ 'pv.kubernetes.io/migrated-to': driver })
  const claim = (name: string, annotations: Fields, storageClassName = '') =>
    claims.create({
      metadata: { name, annotations },
      spec: { ...spec, storageClassName, resources: { requests: { storage: '1Gi' } } },
    } as unknown as KubeObject)
  const volume = (name: string, annotations: Fields, persistentVolumeReclaimPolicy = 'Delete') =>
    volumes.create({
      metadata: { name, annotations },
      spec: {
        ...spec,
        storageClassName: 'none',
        persistentVolumeReclaimPolicy,
        capacity: { storage: '1Gi' },
        hostPath: { path: '/tmp/x' },
        claimRef: { namespace, name: `of-${name}`, uid: '11111111-1111-1111-1111-111111111111' },
      },
    } as unknown as KubeObject)
  await done(classes.create({ metadata: { name: 'ebs' }, provisioner: 'kubernetes.io/aws-ebs' } as never))
  await done(volume('ebs', { ...by('kubernetes.io/aws-ebs'), ...to('other.test') }))
  await done(volume('unknown', { ...by('kubernetes.io/x'), ...to('other.test') }))
  await done(volume('retained', by('kubernetes.io/x'), 'Retain'))
  await done(volume('path', by('kubernetes.io/host-path')))
  await done(claim('asked', asked))
  await done(claim('outside', { 'volume.kubernetes.io/storage-provisioner': 'x.y', ...to('other.test') }))
  await done(claim('classed', {}, 'ebs'))
  await runtime.advance(1000)
  const protection = 'kubernetes.io/pv-protection'
  assert.deepEqual(
    (await done(volumes.list())).items.map(({ metadata, ...rest }) => {
      const { phase, message } = rest['status'] as Fields
      return [metadata.name, phase, message, metadata.annotations, metadata.finalizers]
    }),
    [
      ['ebs', 'Released', undefined, { ...by('kubernetes.io/aws-ebs'), ...to('ebs.csi.aws.com') }, [protection]],
      ['retained', 'Released', undefined, by('kubernetes.io/x'), [protection]],
      [
        'unknown',
        'Failed',
        'no volume plugin matched name: kubernetes.io/x',
        by('kubernetes.io/x'),
        [protection, 'kubernetes.io/pv-controller'],
      ],
    ],
  )
  const annotationsOf = async (name: string) => (await done(claims.get(name))).metadata.annotations
  assert.deepEqual(await annotationsOf('asked'), { ...asked, ...to('pd.csi.storage.gke.io') })
  assert.deepEqual(await annotationsOf('outside'), { 'volume.kubernetes.io/storage-provisioner': 'x.y' })
  assert.deepEqual(await annotationsOf('classed'), {
    'volume.beta.kubernetes.io/storage-provisioner': 'ebs.csi.aws.com',
    'volume.kubernetes.io/storage-provisioner': 'ebs.csi.aws.com',
  })
  await done(volumes.patch('unknown', 'merge', { spec: { persistentVolumeReclaimPolicy: 'Retain' } } as never))
  await runtime.advance(1000)
  assert.deepEqual((await done(volumes.get('unknown'))).metadata.finalizers, [protection])
  await stop()
})
