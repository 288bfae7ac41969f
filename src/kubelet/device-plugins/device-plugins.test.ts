/** Against a plugin that registers, with the calls and the words that a kubelet v1.37.1 was seen to have for it. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import type { JsonObject } from '../../api/object.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { Container, Pod } from '../pod.ts'
import { OWN_MANAGERS } from '../topology-manager/resource-managers.ts'
import { createTopologyManager } from '../topology-manager/topology-manager.ts'
import { createDevicePlugins, type DevicePlugins } from './device-plugins.ts'
import { givenDevicesFile } from './given-devices.ts'
import { type DevicePluginOptions, type DevicePluginStandIn, startDevicePlugin } from './plugin-stand-in.ts'

const RESOURCE = 'example.test/gadget'
const live = liveRuntime({ level: 0, onUncaught: () => {} })
/** Of plugins that are away: what happens after five minutes. */
const away = new Set<() => void>()
const runtime = {
  ...live,
  clock: {
    ...live.clock,
    setTimer(ms: number, label: string, task: () => void) {
      if (ms !== 300_000) return live.clock.setTimer(ms, label, task)
      away.add(task)
      return { cancel: () => void away.delete(task) }
    },
  },
}
function fiveMinutes(): void {
  for (const task of away) {
    away.delete(task)
    task()
  }
}
const healthy = (...ids: readonly string[]) => ids.map((ID) => ({ ID, health: 'Healthy' }))
const container = (name: string, count: number): Container => ({
  name,
  image: 'x',
  resources: { limits: { [RESOURCE]: String(count) } },
})
const podOf = (uid: string, containers: readonly Container[], initContainers: readonly Container[] = []): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: uid, namespace: 'n', uid },
  spec: { containers, initContainers },
})

let directory: string
let ending: AbortController
let devices: DevicePlugins
let plugin: DevicePluginStandIn | undefined
let asked: (readonly [method: string, request: JsonObject])[]
let changes: { amounts: number; pods: readonly string[] }
let wake = () => {}

async function startKubelet(): Promise<void> {
  ending = new AbortController()
  devices = createDevicePlugins(runtime, givenDevicesFile(join(directory, 'plugin-devices.json')))
  changes = { amounts: 0, pods: [] }
  devices.listen({
    changed() {
      changes = { ...changes, amounts: changes.amounts + 1 }
      wake()
    },
    healthChanged(pods) {
      changes = { ...changes, pods }
    },
  })
  await devices.run(directory, ending.signal)
}

async function changed(act: () => unknown): Promise<void> {
  const next = new Promise<void>((resolve) => {
    wake = resolve
  })
  await act()
  await next
}

async function startPlugin(options: Partial<DevicePluginOptions> = {}): Promise<void> {
  const note = (method: string, request: JsonObject) => asked.push([method, request])
  const all = {
    resource: RESOURCE,
    folder: directory,
    devices: healthy('d1', 'd2', 'd3', 'd4'),
    asked: note,
    ...options,
  }
  plugin = await startDevicePlugin(all)
  await changed(() => plugin?.register())
}

async function admit(pod: Pod): Promise<string | undefined> {
  const { admit: admitted } = createTopologyManager(OWN_MANAGERS.topology, { nodes: [0], between: () => 10 }, [devices])
  const refusal = await admitted(pod)
  if (refusal !== undefined) devices.forget(pod.metadata.uid ?? '')
  return refusal?.message
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'skiff-devices-'))
  asked = []
  await startKubelet()
})
afterEach(() => {
  ending.abort()
  plugin?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const requests = (method: string) => asked.filter(([name]) => name === method).map(([, request]) => request)
const one = (request: object) => ({ container_requests: [request] })

test('a plugin registers, and its healthy devices can be allocated', async () => {
  await startPlugin()
  assert.deepEqual(
    asked.map(([method]) => method),
    ['GetDevicePluginOptions', 'ListAndWatch'],
  )
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '4' }, allocatable: { [RESOURCE]: '4' } })
  await changed(() => plugin?.tell([...healthy('d1', 'd2'), { ID: 'd3', health: 'Unhealthy' }]))
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '3' }, allocatable: { [RESOURCE]: '2' } })
})

test('containers get the devices that the plugin prefers, those of init containers again', async () => {
  await startPlugin()
  const pod = podOf('p', [container('c', 2), container('d', 1)], [container('i', 1)])
  assert.equal(await admit(pod), undefined)
  assert.deepEqual(requests('GetPreferredAllocation'), [
    one({ available_deviceIDs: ['d1', 'd2', 'd3', 'd4'], must_include_deviceIDs: [], allocation_size: 1 }),
    one({ available_deviceIDs: ['d1', 'd2', 'd3', 'd4'], must_include_deviceIDs: ['d4'], allocation_size: 2 }),
    one({ available_deviceIDs: ['d1', 'd2'], must_include_deviceIDs: [], allocation_size: 1 }),
  ])
  assert.deepEqual(
    requests('Allocate').map(({ container_requests }) => container_requests),
    [['d4'], ['d4', 'd3'], ['d2']].map((ids) => [{ devices_ids: ids }]),
  )
  const [given] = await devices.begin(pod, container('c', 2))
  assert.deepEqual(given?.envs, { DEVICES: 'd3,d4' })
  assert.deepEqual(requests('PreStartContainer'), [{ devices_ids: ['d4', 'd3'] }])
  assert.deepEqual(devices.health('p', 'd'), [{ name: RESOURCE, resources: [{ resourceID: 'd2', health: 'Healthy' }] }])
})

test('what is not there is refused in the words of the kubelet, and what has ended is free again', async () => {
  assert.equal(await admit(podOf('before', [container('c', 1)])), undefined, 'nobody offers it yet')
  await startPlugin()
  const refused = (why: string) => `Allocate failed due to ${why}, which is unexpected`
  const too = (wanted: number, left: number) =>
    refused(`requested number of devices unavailable for ${RESOURCE}. Requested: ${wanted}, Available: ${left}`)
  assert.equal(await admit(podOf('a', [container('c', 3)])), undefined)
  assert.equal(await admit(podOf('b', [container('c', 5)])), too(5, 1))
  assert.equal(await admit(podOf('c', [container('c', 1)])), undefined)
  assert.equal(await admit(podOf('d', [container('c', 1)])), too(1, 0))
  devices.forget('c')
  devices.forget('a')
  assert.equal(await admit(podOf('d', [container('c', 4)])), undefined)
  await changed(() => plugin?.stop())
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '4' }, allocatable: { [RESOURCE]: '0' } })
  assert.equal(
    await admit(podOf('e', [container('c', 1)])),
    refused(`no healthy devices present; cannot allocate unhealthy devices ${RESOURCE}`),
  )
})

test('a plugin that stays away for five minutes is forgotten, but not what its pods have', async () => {
  await startPlugin()
  const pod = podOf('p', [container('c', 2)])
  await admit(pod)
  await changed(() => plugin?.stop())
  assert.equal(devices.offers(RESOURCE), true)
  await changed(fiveMinutes)
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '0' }, allocatable: { [RESOURCE]: '0' } })
  const unregistered = `Allocate failed due to cannot allocate unregistered device ${RESOURCE}, which is unexpected`
  assert.equal(await admit(podOf('q', [container('c', 1)])), unregistered)
  const healthOf = (resourceID: string) => ({ resourceID, health: 'Healthy' })
  assert.deepEqual(devices.health('p', 'c'), [{ name: RESOURCE, resources: [healthOf('d4'), healthOf('d3')] }])
  assert.deepEqual(
    devices.given('p', 'c').map(({ id }) => id),
    ['d4', 'd3'],
  )
  assert.deepEqual(devices.allocatable(), [])
  ending.abort()
  await startKubelet()
  assert.deepEqual(devices.amounts(), { capacity: {}, allocatable: {} }, 'a kubelet that starts anew knows of none')
  assert.equal(devices.health('p', 'c'), undefined, 'what was told stays')
  assert.equal(await admit(podOf('q', [container('c', 1)])), unregistered)
  await startPlugin()
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '4' }, allocatable: { [RESOURCE]: '4' } })
  assert.equal(await admit(podOf('q', [container('c', 2)])), undefined)
  assert.match((await admit(podOf('r', [container('c', 1)]))) ?? '', /Requested: 1, Available: 0/)
})

test('what no pod had is unknown once its plugin has been away for five minutes', async () => {
  await startPlugin()
  await changed(() => plugin?.stop())
  await changed(fiveMinutes)
  assert.equal(await admit(podOf('q', [container('c', 1)])), undefined, 'the amounts of the Node say no')
  assert.equal(devices.offers(RESOURCE), false)
})

test('one that comes back within five minutes goes on', async () => {
  await startPlugin()
  await changed(() => plugin?.stop())
  await startPlugin()
  assert.equal(away.size, 0)
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '4' }, allocatable: { [RESOURCE]: '4' } })
})

test('a kubelet that starts anew waits five minutes for plugins that it has known', async () => {
  await startPlugin()
  plugin?.stop()
  ending.abort()
  assert.equal(away.size, 0)
  await startKubelet()
  const refused = async () => admit(podOf('q', [container('c', 1)]))
  assert.match((await refused()) ?? '', /no healthy devices present; cannot allocate unhealthy devices/)
  await changed(fiveMinutes)
  assert.equal(devices.offers(RESOURCE), false)
})

test('a plugin that fails to allocate has its pod refused, and keeps no device', async () => {
  const fails = () => {
    throw new Error('it is broken')
  }
  await startPlugin({ answers: { Allocate: fails } })
  assert.equal(
    await admit(podOf('p', [container('c', 4)])),
    'Allocate failed due to rpc error: code = Unknown desc = it is broken, which is unexpected',
  )
  await changed(() => plugin?.stop())
  await startPlugin({ answers: { PreStartContainer: fails } })
  const pod = podOf('q', [container('c', 4)])
  assert.equal(await admit(pod), undefined)
  await assert.rejects(devices.begin(pod, container('c', 4)), {
    message: 'device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = it is broken',
  })
})

test('a pod hears of the health of its own devices alone', async () => {
  await startPlugin()
  await admit(podOf('p', [container('c', 2)]))
  await changed(() => plugin?.tell([{ ID: 'd1', health: 'Unhealthy' }, ...healthy('d2', 'd3', 'd4')]))
  assert.deepEqual(changes.pods, [])
  await changed(() => plugin?.tell([...healthy('d1', 'd2', 'd3'), { ID: 'd4', health: 'Unhealthy' }]))
  assert.deepEqual(changes.pods, ['p'])
  const [status] = devices.health('p', 'c') ?? []
  assert.deepEqual(status?.resources, [
    { resourceID: 'd4', health: 'Unhealthy' },
    { resourceID: 'd3', health: 'Healthy' },
  ])
})

test('a kubelet that starts anew keeps what pods have, offers nothing until plugins are back, and takes earlier sockets away', async () => {
  await startPlugin()
  await admit(podOf('p', [container('c', 3)]))
  ending.abort()
  await startKubelet()
  assert.equal(existsSync(join(directory, 'example.test-gadget.sock')), false)
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '0' }, allocatable: { [RESOURCE]: '0' } })
  const [given] = await devices.begin(podOf('p', []), container('c', 3))
  assert.deepEqual(given?.envs, { DEVICES: 'd2,d3,d4' })
  plugin?.stop()
  await startPlugin()
  assert.match((await admit(podOf('q', [container('c', 2)]))) ?? '', /Requested: 2, Available: 1/)
  devices.forgetUnknown(() => false)
  assert.equal(await admit(podOf('q', [container('c', 4)])), undefined)
})

test('a plugin may register as other plugins of the node do, and goes with its socket for that', async () => {
  const note = (method: string, request: JsonObject) => asked.push([method, request])
  const endpoint = 'elsewhere.sock'
  plugin = await startDevicePlugin({
    resource: RESOURCE,
    folder: directory,
    endpoint,
    devices: healthy('d1'),
    asked: note,
  })
  const told = { name: RESOURCE, endpoint: join(directory, endpoint), versions: ['v1', 'v1beta1'] }
  await changed(() => devices.handler.add(told))
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '1' }, allocatable: { [RESOURCE]: '1' } })
  await devices.handler.remove({ ...told, endpoint: 'another' })
  assert.equal(devices.amounts().allocatable[RESOURCE], '1')
  await changed(() => devices.handler.remove(told))
  assert.deepEqual(devices.amounts(), { capacity: { [RESOURCE]: '1' }, allocatable: { [RESOURCE]: '0' } })
  assert.equal(away.size, 1)
  const failed = 'RegisterPlugin error -- plugin validation failed with err:'
  await assert.rejects(devices.handler.add({ ...told, versions: ['v1alpha1'] }), {
    message: `${failed} manager version, v1beta1, is not among plugin supported versions [v1alpha1]`,
  })
  await assert.rejects(devices.handler.add({ ...told, name: 'plain' }), {
    message: `${failed} invalid name of device plugin socket: the ResourceName "plain" is invalid`,
  })
})

test('what cannot be registered is told so: another version, no extended resource, a path', async () => {
  await startPlugin()
  const register = async (options: Partial<DevicePluginOptions>) => {
    const other = await startDevicePlugin({ resource: 'example.test/x', folder: directory, devices: [], ...options })
    return other
      .register()
      .then(
        () => '',
        (error: unknown) => String(error),
      )
      .finally(() => other.stop())
  }
  assert.match(await register({ version: 'v1alpha' }), /"v1alpha" is not supported/)
  assert.match(await register({ resource: 'cpu', endpoint: 'cpu.sock' }), /"cpu" is no name of an extended resource/)
  assert.match(
    await register({ endpoint: `../${basename(directory)}/x.sock` }),
    /is no name of a socket in this folder/,
  )
})
