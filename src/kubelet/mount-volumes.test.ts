import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import type { Client } from '../client/client.ts'
import { checkKeys } from './configmap-secret-and-projected-volumes.ts'
import { createVolumes, type VolumeWriter } from './mount-volumes.ts'
import type { Pod } from './pod.ts'

const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'ns', uid: 'u' },
  spec: {
    nodeName: 'n1',
    containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c1' } }],
  },
} as unknown as Pod

function stage() {
  const runtime = simulatedRuntime(1)
  const claim = {
    metadata: { name: 'c1', namespace: 'ns', uid: 'cu' },
    spec: { volumeName: 'pv1' },
    status: { phase: 'Bound', capacity: { storage: '1Gi' }, conditions: [{ type: 'FileSystemResizePending' }] },
  }
  const size = { storage: '1Gi' }
  const persistent = { metadata: { name: 'pv1' }, spec: { capacity: size, csi: { driver: 'd', volumeHandle: 'h' } } }
  const patches: JsonObject[] = []
  let reads = 0
  const resource = ({ resource: plural }: { readonly resource: string }) => {
    const own = {
      async get() {
        reads++
        return (plural === 'persistentvolumes' ? persistent : claim) as unknown as KubeObject
      },
      async patch(_: string, __: string, patch: JsonObject) {
        patches.push(patch)
        claim.status.capacity = { storage: '2Gi' }
      },
      namespace: () => own,
    }
    return own
  }
  const told: unknown[][] = []
  const events = {
    normal: (_: Pod, ...said: unknown[]) => void told.push(['pod', ...said]),
    warning: (_: Pod, ...said: unknown[]) => void told.push(['pod', ...said]),
    about: ({ kind }: KubeObject, ...said: unknown[]) => void told.push([kind, ...said]),
  }
  const grown: string[] = []
  let failure: Error | undefined
  let unfit: Error | undefined
  const written: string[] = []
  const data = { k: 'old' }
  const asked: string[] = []
  let answers: Promise<void> | undefined
  const configMap = async (_: string, name: string) => {
    asked.push(name)
    await answers
    return { metadata: { name }, data: { ...data } }
  }
  const writer: VolumeWriter = {
    allocatable: () => ({}),
    async setUp(_, { name }, files) {
      if (unfit !== undefined) throw unfit
      written.push(`${name} ${[...(files?.values() ?? [])].map(({ bytes }) => Buffer.from(bytes).toString()).join()}`)
    },
    async expand(_, { name }) {
      if (failure !== undefined) throw failure
      grown.push(name)
      return true
    },
  }
  const volumes = createVolumes(
    runtime.clock,
    { resource } as unknown as Client,
    { configMap } as never,
    events,
    writer,
  )
  const mount = (one = pod) => volumes.mount(one, new AbortController().signal)
  return {
    ...{ runtime, size, patches, told, grown, mount, volumes, written, data, asked },
    /** Objects are read only once this is done. */
    slow: (until: Promise<void>) => {
      answers = until
    },
    unfit: (error: Error | undefined) => {
      unfit = error
    },
    reads: () => reads,
    fail: (error: Error | undefined) => {
      failure = error
    },
  }
}

test('a volume that has become larger is made so on the node within a minute, and its claim tells of it', async () => {
  const { runtime, size, patches, told, grown, mount, reads } = stage()
  await mount()
  assert.deepEqual([grown, patches], [[], []])
  const before = reads()
  await mount()
  assert.equal(reads(), before, 'it is not looked at all the time')
  size.storage = '2Gi'
  await runtime.advance(60_000)
  await mount()
  assert.deepEqual(grown, ['v'])
  assert.deepEqual(patches, [
    { status: { capacity: { storage: '2Gi' }, conditions: [{ type: 'FileSystemResizePending', $patch: 'delete' }] } },
  ])
  const said = ['FileSystemResizeSuccessful', 'MountVolume.NodeExpandVolume succeeded for volume "pv1" n1']
  assert.deepEqual(told, [
    ['pod', ...said],
    ['PersistentVolumeClaim', ...said],
  ])
  await runtime.advance(60_000)
  await mount()
  assert.deepEqual(grown, ['v'], 'it has grown')
})

test('one that does not grow keeps its pod from nothing, and is tried again', async () => {
  const { runtime, size, patches, told, grown, mount, fail } = stage()
  size.storage = '2Gi'
  fail(new Error('full'))
  await mount()
  assert.deepEqual(told, [['pod', 'VolumeResizeFailed', 'NodeExpandVolume failed for volume "v" : full']])
  assert.deepEqual(patches, [])
  fail(undefined)
  await runtime.advance(60_000)
  await mount()
  assert.deepEqual([grown, patches.length], [['v'], 1])
})

test('a volume of the cluster that cannot be set up is told of by its own name', async () => {
  const { mount, unfit, told } = stage()
  unfit(new Error('not a directory'))
  await assert.rejects(mount(), { message: 'MountVolume.SetUp failed for volume "pv1" : not a directory' })
  assert.deepEqual(told, [['pod', 'FailedMount', 'MountVolume.SetUp failed for volume "pv1" : not a directory']])
})

test('what is made of objects is written anew in each sync, what is no file once', async () => {
  const { mount, written, data } = stage()
  const volumes = [
    { name: 'v', configMap: { name: 'm' } },
    { name: 'e', emptyDir: {} },
  ]
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))
  const spec = { ...pod['spec'], containers: [{ name: 'c', volumeMounts }], volumes }
  const one = { ...pod, spec } as unknown as Pod
  await mount(one)
  data.k = 'new'
  await mount(one)
  assert.deepEqual(written.sort(), ['e ', 'v new', 'v old'])
})

test('a volume that was set up and cannot be written anew is told of, and holds nothing up', async () => {
  const { mount, unfit, told } = stage()
  const volumes = [{ name: 'v', configMap: { name: 'm' } }]
  const one = { ...pod, spec: { ...pod['spec'], volumes } } as unknown as Pod
  await mount(one)
  unfit(new Error('gone'))
  await mount(one)
  assert.deepEqual(told, [['pod', 'FailedMount', 'MountVolume.SetUp failed for volume "v" : gone']])
})

/** A pod that mounts each of them. */
function podWith(...names: readonly string[]): Pod {
  const volumes = names.map((name) => ({ name, configMap: { name } }))
  const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }))
  const spec = { ...pod['spec'], containers: [{ name: 'c', volumeMounts }], volumes }
  return { ...pod, spec } as unknown as Pod
}

test('what is mounted is waited for a moment, once, while the API server does not answer', async () => {
  const { runtime, mount, slow, data, asked, written } = stage()
  const one = podWith('a', 'b')
  await mount(one)
  const answers = Promise.withResolvers<void>()
  slow(answers.promise)
  data.k = 'new'
  const began = runtime.clock.monotonic()
  await runtime.complete(mount(one))
  assert.equal(runtime.clock.monotonic() - began, 1000)
  await runtime.complete(mount(one))
  assert.equal(runtime.clock.monotonic() - began, 1000, 'another sync waits no more')
  assert.deepEqual(asked, ['a', 'b', 'a', 'b'], 'and asks no more')
  answers.resolve()
  await runtime.complete(mount(one))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(written.slice(0, 4), ['a old', 'b old', 'a new', 'b new'])
})

test('what a pod has not yet is read at the same time', async () => {
  const { runtime, mount, slow, asked, written } = stage()
  const answers = Promise.withResolvers<void>()
  slow(answers.promise)
  const mounting = mount(podWith('a', 'b'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([asked, written], [['a', 'b'], []])
  answers.resolve()
  await runtime.complete(mounting)
  assert.deepEqual(written, ['a old', 'b old'])
})

test('syncs that come one after the other tell of a volume that fails once, until it is tried again', async () => {
  const { runtime, mount, unfit, told } = stage()
  const one = podWith('a')
  unfit(new Error('not there'))
  for (let sync = 0; sync < 3; sync++) await assert.rejects(mount(one), { retryMs: 500 })
  assert.equal(told.length, 1)
  await runtime.advance(500)
  await assert.rejects(mount(one), { retryMs: 1000 })
  assert.equal(told.length, 2)
  unfit(undefined)
  await mount(one)
  unfit(new Error('gone'))
  for (let sync = 0; sync < 3; sync++) await mount(one)
  assert.equal(told.length, 3, 'one that is mounted neither')
  await runtime.advance(500)
  await mount(one)
  assert.equal(told.length, 4, 'its waits begin anew once it was mounted')
})

test('nothing is written for a pod that has ended, though an answer comes then', async () => {
  const { runtime, mount, slow, volumes, written } = stage()
  const one = podWith('a')
  await mount(one)
  const answers = Promise.withResolvers<void>()
  slow(answers.promise)
  await runtime.complete(mount(one))
  await volumes.end('u')
  answers.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(written, ['a old'])
  assert.equal(volumes.end('u'), undefined)
})

test('keys that are not there are told in the words of a kubelet, by the kind of what should have them', () => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'o' }, data: { k: 'v' } } as const
  const items = [{ key: 'k' }, { key: 'z' }]
  const check = (kind: string, optional?: boolean) => () => checkKeys(object, kind, 'o', optional, items)
  assert.throws(check('configmap'), { message: 'configmap references non-existent config key: z' })
  assert.throws(check('secret'), { message: 'references non-existent secret key: z' })
  check('configmap', true)()
})
