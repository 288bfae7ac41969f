/**
 * A device plugin beside a node of real containers: its devices are the Node's, containers find what it gives them, what it has not is refused
 * as a kubelet v1.37.1 refuses it, and a kubelet that is killed finds its pods' devices. Each test goes on where the one before it ended.
 */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readMessage } from '../../src/api/codec/protobuf-decode.ts'
import { createReader } from '../../src/api/codec/protobuf-wire.ts'
import { schemaOf } from '../../src/api/schema/builtin.ts'
import { asObject } from '../../src/api/unchecked.ts'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const RESOURCE = 'example.test/gadget'
const standIn = fileURLToPath(new URL('../../src/kubelet/device-plugins/plugin-stand-in.ts', import.meta.url))
const agent = fileURLToPath(new URL('../../src/kubelet/server/agent-stand-in.ts', import.meta.url))

function pod(name: string, gadgets: number, spec: object = {}) {
  const container = {
    name: 'c',
    image: IMAGE,
    imagePullPolicy: 'Never',
    command: ['/bin/busybox', 'sh', '-c', 'exec sleep 9999'],
    resources: { limits: { [RESOURCE]: String(gadgets) } },
  }
  const metadata = { name }
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata,
    spec: { containers: [container], terminationGracePeriodSeconds: 1, ...spec },
  }
}

describe('a device plugin', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  let plugin: ChildProcess | undefined
  let asked: string[] = []
  const field = (path: string, ...object: readonly string[]) =>
    machine.kubectl('get', ...object, '-o', `jsonpath=${path}`).stdout
  const amounts = () =>
    ['capacity', 'allocatable'].map((of) => field(`{.status.${of}.example\\.test/gadget}`, 'node', 'skiff-1')).join()
  const ready = (name: string) =>
    until(`${name} is ready`, () => field('{.status.conditions[?(@.type=="Ready")].status}', 'pod', name) === 'True')
  const devices = (...lines: readonly string[]) =>
    writeFileSync(join(machine.directory, 'devices'), lines.map((line) => `${line}\n`).join(''))
  /** What an agent on the machine is told. */
  const told = (method: string, request: object = {}) => {
    const socket = join(machine.dataDir, 'kubelet/skiff-1/pod-resources/kubelet.sock')
    const service = ['podresources', 'v1.PodResourcesLister', method, JSON.stringify(request)]
    const { stdout } = machine.run(process.execPath, agent, socket, ...service)
    return stdout.startsWith('ERROR') ? stdout.trim() : JSON.parse(stdout)
  }
  const near = (id: string, ...nodes: readonly number[]) =>
    nodes.map((ID) => ({ resource_name: RESOURCE, device_ids: [id], topology: { nodes: [{ ID }] } }))
  const alone = (id: string) => ({ resource_name: RESOURCE, device_ids: [id], topology: null })
  const up = () => machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')

  before(async () => {
    machine = await startContainerMachine()
    const { status, stderr } = up()
    assert.equal(status, 0, stderr)
    const loaded = machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE))
    assert.equal(loaded.status, 0, loaded.stderr)
    devices('d1', 'd2', 'd3')
    const folder = join(machine.dataDir, 'kubelet/skiff-1/device-plugins')
    plugin = machine.start(process.execPath, standIn, RESOURCE, folder, join(machine.directory, 'devices'))
    plugin.stdout?.on('data', (text: Buffer) => {
      asked = [...asked, ...`${text}`.trim().split('\n')]
    })
  })
  after(async () => {
    plugin?.kill()
    machine?.skiff('down')
    await machine?.stop()
  })

  test('its devices are in the capacity of the Node, the healthy ones allocatable', async () => {
    await until('three', () => amounts() === '3,3')
    devices('d1 Unhealthy', 'd2', 'd3')
    await until('two of three', () => amounts() === '3,2')
    devices('d1', 'd2', 'd3 Healthy 0,1')
    await until('three again', () => amounts() === '3,3')
    await until('it was asked', () => asked.length === 3)
    assert.deepEqual(asked.toSorted(), ['GetDevicePluginOptions {}', 'ListAndWatch {}', 'registered {}'])
  })

  test('a container has what the plugin answers: variable, mount, device file', async () => {
    asked = []
    machine.apply(pod('two', 2))
    await ready('two')
    const script = 'echo $DEVICES; test -s /etc/of-the-device && echo mounted; ls -l /dev/of-the-plugin | cut -c1'
    const { stdout } = machine.kubectl(
      'exec',
      'two',
      '--',
      '/bin/busybox',
      'sh',
      '-c',
      script.replace(/test|ls|cut/g, '/bin/busybox $&'),
    )
    assert.equal(stdout, 'd2,d3\nmounted\nc\n')
    await until('the plugin was asked', () => asked.length === 3)
    assert.deepEqual(asked, [
      'GetPreferredAllocation {"container_requests":[{"available_deviceIDs":["d1","d2","d3"],"must_include_deviceIDs":[],"allocation_size":2}]}',
      'Allocate {"container_requests":[{"devices_ids":["d3","d2"]}]}',
      'PreStartContainer {"devices_ids":["d3","d2"]}',
    ])
    const health = () => field('{.status.containerStatuses[0].allocatedResourcesStatus}', 'pod', 'two')
    const resource = (id: string, of: string) => ({ health: of, resourceID: id })
    assert.deepEqual(JSON.parse(health()), [
      { name: RESOURCE, resources: [resource('d3', 'Healthy'), resource('d2', 'Healthy')] },
    ])
    devices('d1', 'd2 Unhealthy', 'd3')
    await until('it is told', () => health().includes('"Unhealthy"'))
    devices('d1', 'd2', 'd3 Healthy 0,1')
  })

  test('an agent on the machine is told which devices a pod has, and which there are', () => {
    const containers = [
      { name: 'c', devices: [...near('d3', 0, 1), alone('d2')], cpu_ids: [], memory: [], dynamic_resources: [] },
    ]
    const two = { name: 'two', namespace: 'default', containers }
    assert.deepEqual(told('Get', { pod_name: 'two', pod_namespace: 'default' }), { pod_resources: two })
    const { pod_resources: listed } = told('List')
    assert.deepEqual(
      listed.filter(({ namespace }: { readonly namespace: string }) => namespace === 'default'),
      [two],
    )
    const all = [alone('d1'), alone('d2'), ...near('d3', 0, 1)]
    assert.deepEqual(told('GetAllocatableResources'), { devices: all, cpu_ids: [], memory: [] })
    const missing = 'ERROR 2 pod three in namespace default not found'
    assert.equal(told('Get', { pod_name: 'three', pod_namespace: 'default' }), missing)
    const { stdout } = machine.run(
      'stat',
      '-c',
      '%a %F',
      join(machine.dataDir, 'kubelet/skiff-1/pod-resources'),
      join(machine.dataDir, 'kubelet/skiff-1/pod-resources/kubelet.sock'),
    )
    assert.equal(stdout, '750 directory\n755 socket\n')
  })

  test('an agent is told of the pods themselves, as their kubelet knows them', async () => {
    const socket = join(machine.dataDir, 'kubelet/skiff-1/pods-api/pods-api.sock')
    const ask = (method: string, request: object = {}) =>
      machine.run(process.execPath, agent, socket, 'pods', 'v1alpha1.Pods', method, JSON.stringify(request)).stdout
    const watching = machine.start(process.execPath, agent, socket, 'pods', 'v1alpha1.Pods', 'WatchPods')
    let seen = ''
    watching.stdout?.on('data', (text: Buffer) => {
      seen += text.toString()
    })
    const types = () => [...seen.matchAll(/"type":"([A-Z_]+)"/g)].map(([, type]) => type)
    await until('the first list', () => types().at(-1) === 'INITIAL_SYNC_COMPLETE')
    const uid = field('{.metadata.uid}', 'pod', 'two')
    const { pod: message } = JSON.parse(ask('GetPod', { podUID: uid }))
    const bytes = Buffer.from(message.data)
    const { metadata, status } = readMessage(
      schemaOf('io.k8s.api.core.v1.Pod'),
      createReader(bytes, 0, bytes.length),
      0,
    )
    assert.deepEqual(
      [asObject(metadata)['uid'], asObject(status)['phase'], asObject(status)['podIP']],
      [uid, 'Running', field('{.status.podIP}', 'pod', 'two')],
    )
    assert.equal(ask('GetPod', { podUID: 'u' }), 'ERROR 5 pod with UID u not found\n')
    const before = types().length
    machine.kubectl('label', 'pod', 'two', 'a=b')
    await until('the label', () => types().length > before && types().at(-1) === 'MODIFIED')
    watching.kill()
  })

  test('a pod that asks for more than is free is refused, before it begins', async () => {
    machine.apply(pod('five', 5, { nodeName: 'skiff-1' }))
    await until('it is refused', () => field('{.status.phase}', 'pod', 'five') === 'Failed')
    const told = `Allocate failed due to requested number of devices unavailable for ${RESOURCE}. Requested: 5, Available: 1, which is unexpected`
    assert.equal(
      field('{.status.reason}: {.status.message}', 'pod', 'five'),
      `UnexpectedAdmissionError: Pod was rejected: ${told}`,
    )
    const events = machine.kubectl(
      ...['get', 'events', '--field-selector', 'involvedObject.name=five'],
      ...['-o', 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\\n"}{end}'],
    ).stdout
    assert.equal(events, `Warning UnexpectedAdmissionError ${told}\n`)
  })

  test('the scheduler counts them, and devices of a pod that has ended are given to the next', async () => {
    machine.apply(pod('next', 2))
    await until('it waits', () =>
      field('{.status.conditions[0].message}', 'pod', 'next').includes(`Insufficient ${RESOURCE}`),
    )
    assert.equal(machine.kubectl('delete', 'pod', 'two', '--wait=false').status, 0)
    await ready('next')
  })

  test('after kill -9 pods keep their devices, and the plugin registers anew', async () => {
    const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
    asked = []
    assert.equal(machine.run('kill', '-9', pid).status, 0)
    await until('its end', () => machine.run('kill', '-0', pid).status !== 0)
    const { status, stderr } = up()
    assert.equal(status, 0, stderr)
    await until('the plugin has registered', () => asked.includes('registered {}') && amounts() === '3,3')
    assert.equal(field('{.status.phase} {.status.containerStatuses[0].restartCount}', 'pod', 'next'), 'Running 0')
    const next = told('Get', { pod_name: 'next', pod_namespace: 'default' })
    assert.deepEqual(next.pod_resources.containers[0].devices, [...near('d3', 0, 1), alone('d2')])
    machine.apply(pod('more', 2, { nodeName: 'skiff-1' }))
    await until('it is refused', () => field('{.status.message}', 'pod', 'more').includes('Requested: 2, Available: 1'))
  })
})
