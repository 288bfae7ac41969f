/** Volumes of a CSI driver on real containers: a driver of the tests registers with the node's kubelet, and binds a folder for each volume. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const DRIVER = 'd.example.test'
const driver = fileURLToPath(new URL('../../src/kubelet/csi/driver-stand-in.ts', import.meta.url))

function pod(name: string, volume: object) {
  const command = ['/bin/busybox', 'sh', '-c', 'echo left > /v/by-$HOSTNAME; exec sleep 9999']
  const volumeMounts = [{ name: 'v', mountPath: '/v' }]
  const containers = [{ name: 'c', image: IMAGE, imagePullPolicy: 'Never', command, volumeMounts }]
  const spec = { containers, volumes: [{ name: 'v', ...volume }], terminationGracePeriodSeconds: 1 }
  return { kind: 'Pod', apiVersion: 'v1', metadata: { name }, spec }
}

describe('volumes of a CSI driver', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  let running: ChildProcess | undefined
  const field = (name: string, path: string) => machine.kubectl('get', 'pod', name, '-o', `jsonpath=${path}`).stdout
  const ready = (name: string) =>
    until(`${name} is ready`, () => field(name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True')
  const kubelet = () => join(machine.dataDir, 'kubelet/skiff-1')
  const volumes = () => join(machine.directory, 'driver')
  const asked = () => readFileSync(join(machine.directory, 'asked'), 'utf8')

  before(async () => {
    machine = await startContainerMachine()
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
    assert.equal(status, 0, stderr)
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
    machine.apply(
      {
        kind: 'CSIDriver',
        apiVersion: 'storage.k8s.io/v1',
        metadata: { name: DRIVER },
        spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
      },
      {
        kind: 'PersistentVolume',
        apiVersion: 'v1',
        metadata: { name: 'pv1' },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          storageClassName: '',
          claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'c1' },
          csi: { driver: DRIVER, volumeHandle: 'handle-1' },
        },
      },
      {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        metadata: { name: 'c1' },
        spec: {
          volumeName: 'pv1',
          storageClassName: '',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      },
      pod('inline', { csi: { driver: DRIVER } }),
      pod('first', { persistentVolumeClaim: { claimName: 'c1' } }),
      pod('second', { persistentVolumeClaim: { claimName: 'c1' } }),
    )
  })
  after(async () => {
    running?.kill()
    machine?.skiff('down')
    await machine?.stop()
  })

  test('pods wait for the driver, and run when it has registered', async () => {
    const told = () => machine.kubectl('get', 'events', '-o', 'jsonpath={.items[*].message}').stdout
    await until('the driver is missed', () => told().includes('not found in the list of registered CSI drivers'))
    writeFileSync(join(machine.directory, 'asked'), '')
    const registry = join(kubelet(), 'plugins_registry')
    running = machine.start(
      'sh',
      '-c',
      `exec ${process.execPath} ${driver} ${DRIVER} ${registry} ${volumes()} > ${join(machine.directory, 'asked')}`,
    )
    for (const name of ['inline', 'first', 'second']) await ready(name)
    const csiNode = JSON.parse(machine.kubectl('get', 'csinode', 'skiff-1', '-o', 'json').stdout)
    assert.deepEqual(
      csiNode.spec.drivers.map(({ name, nodeID }: { name: string; nodeID: string }) => [name, nodeID]),
      [[DRIVER, 'id-of-node']],
    )
    for (const name of ['first', 'second'])
      assert.equal(readFileSync(join(volumes(), 'handle-1', `by-${name}`), 'utf8'), 'left\n')
  })

  test('a volume that has become larger is so on the node, and its claim tells of it', async () => {
    const larger = '{"spec":{"capacity":{"storage":"2Gi"}}}'
    assert.equal(machine.kubectl('patch', 'pv', 'pv1', '-p', larger).status, 0)
    const size = () => machine.kubectl('get', 'pvc', 'c1', '-o', 'jsonpath={.status.capacity.storage}').stdout
    await until('the claim is larger', () => size() === '2Gi', 240_000)
    assert.ok(asked().includes('"required_bytes":2147483648'))
  })

  test('what pods had is taken back when they have ended, and what lies in it stays', async () => {
    assert.equal(machine.kubectl('delete', 'pod', 'inline', 'first', '--timeout=60s').status, 0)
    assert.equal(asked().includes('NodeUnstageVolume'), false)
    assert.equal(machine.kubectl('delete', 'pod', 'second', '--timeout=60s').status, 0)
    await until('it is unstaged', () => asked().includes('NodeUnstageVolume'))
    assert.equal(machine.run('cat', '/proc/mounts').stdout.includes('kubernetes.io~csi'), false)
    assert.equal(readFileSync(join(volumes(), 'handle-1/by-second'), 'utf8'), 'left\n')
  })

  test('down leaves nothing of a node whose volumes are still published', async () => {
    machine.apply(pod('last', { persistentVolumeClaim: { claimName: 'c1' } }))
    await ready('last')
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.equal(machine.run('cat', '/proc/mounts').stdout.includes(machine.dataDir), false)
    assert.equal(existsSync(kubelet()), false)
    assert.equal(readFileSync(join(volumes(), 'handle-1/by-last'), 'utf8'), 'left\n')
  })
})
