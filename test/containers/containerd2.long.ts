/**
 * What containerd 1.6 lacks, with containerd 2 (SKIFF_CONTAINERD, stage.ts): images as volumes, users of a pod's own, mounts that are
 * read-only with all below them, events in place of lists, devices of claims. Each test goes on where the one before it ended.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const DRIVER = 'd.example.test'
const driver = fileURLToPath(new URL('../../src/kubelet/dra/driver-stand-in.ts', import.meta.url))
const sh = (script: string) => ['/bin/busybox', 'sh', '-c', script]
const without = process.env['SKIFF_CONTAINERD'] === undefined ? 'SKIFF_CONTAINERD names no containerd' : false

function pod(name: string, container: object, spec: object = {}) {
  const whole = { name: 'c', image: IMAGE, imagePullPolicy: 'Never', command: sh('exec sleep 9999'), ...container }
  const metadata = { name }
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata,
    spec: { containers: [whole], terminationGracePeriodSeconds: 1, ...spec },
  }
}

describe('containerd 2', { skip: without || withoutContainers }, () => {
  let machine: ContainerMachine
  const field = (name: string, path: string) => machine.kubectl('get', 'pod', name, '-o', `jsonpath=${path}`).stdout
  const ready = (name: string) =>
    until(`${name} is ready`, () => field(name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True')
  const exec = (name: string, script: string) => {
    const { status, stdout, stderr } = machine.kubectl('exec', name, '--', ...sh(script))
    assert.equal(status, 0, stderr)
    return stdout
  }

  before(async () => {
    machine = await startContainerMachine()
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
    assert.equal(status, 0, stderr)
    const loaded = machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE))
    assert.equal(loaded.status, 0, loaded.stderr)
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('the node says what its runtime can do', () => {
    assert.match(machine.skiff('status').stdout, /^nodes: +1 of 1 ready, containerd 2\./m)
    const { runtimeHandlers, features } = JSON.parse(
      machine.kubectl('get', 'node', 'skiff-1', '-o', 'json').stdout,
    ).status
    assert.deepEqual(
      runtimeHandlers.find(({ name = '' }) => name === ''),
      { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
    )
    assert.deepEqual(features, { supplementalGroupsPolicy: true })
  })

  test('an image is a volume, whole or from a path in it; one that is not there keeps its pod waiting', async () => {
    const volumes = (reference: string) => ({ volumes: [{ name: 'i', image: { reference, pullPolicy: 'Never' } }] })
    machine.apply(
      pod(
        'image',
        {
          volumeMounts: [
            { name: 'i', mountPath: '/whole' },
            { name: 'i', mountPath: '/part', subPath: 'bin' },
          ],
        },
        volumes(IMAGE),
      ),
      pod('none', { volumeMounts: [{ name: 'i', mountPath: '/i' }] }, volumes('example.test/none:1')),
    )
    await ready('image')
    assert.equal(
      exec('image', 'cd /; ls whole/bin part; touch part/new 2> /dev/null || echo kept'),
      'part:\nbusybox\n\nwhole/bin:\nbusybox\nkept\n',
    )
    const waiting = '{.status.containerStatuses[0].state.waiting.reason}'
    await until('none waits', () => field('none', waiting) === 'ErrImageNeverPull')
    assert.equal(machine.kubectl('delete', 'pod', 'image', 'none').status, 0)
  })

  test('a pod has users of its own: root in it is nobody outside, and its volumes are its own', async () => {
    machine.apply(
      pod(
        'users',
        {
          volumeMounts: [
            { name: 'e', mountPath: '/e' },
            { name: 'm', mountPath: '/m' },
          ],
        },
        {
          hostUsers: false,
          securityContext: { fsGroup: 2000 },
          volumes: [
            { name: 'e', emptyDir: {} },
            { name: 'm', emptyDir: { medium: 'Memory' } },
          ],
        },
      ),
    )
    await ready('users')
    const [inside, first, length] = exec('users', 'cat /proc/self/uid_map').trim().split(/ +/)
    assert.deepEqual([inside, Number(first) % 65_536, length], ['0', 0, '65536'])
    assert.notEqual(first, '0')
    assert.equal(
      exec('users', 'id -u; id -G; touch /e/f /m/f; stat -c %u:%g /e/f /m/f /etc/hosts'),
      '0\n0 2000\n0:2000\n0:2000\n0:0\n',
    )
    const outside = machine.run('sh', '-c', "for p in $(pgrep -f 'sleep 9999'); do stat -c %u /proc/$p; done").stdout
    assert.ok(outside.split('\n').includes(first ?? ''), outside)
    assert.equal(field('users', '{.status.containerStatuses[0].user.linux.uid}'), '0')
  })

  test('a mount below a volume can be read only too', async () => {
    const host = join(machine.directory, 'host')
    mkdirSync(join(host, 'below'), { recursive: true })
    assert.equal(machine.run('mount', '-t', 'tmpfs', 'tmpfs', join(host, 'below')).status, 0)
    const mount = { name: 'h', readOnly: true, mountPropagation: 'None' }
    machine.apply(
      pod(
        'below',
        {
          volumeMounts: [
            { ...mount, mountPath: '/all', recursiveReadOnly: 'Enabled' },
            { ...mount, mountPath: '/top' },
          ],
        },
        { volumes: [{ name: 'h', hostPath: { path: host } }] },
      ),
    )
    await ready('below')
    const write = (path: string) => `touch ${path} 2> /dev/null && echo written || echo kept`
    assert.equal(
      exec('below', `${write('/all/below/f')}; ${write('/top/below/f')}; ${write('/top/f')}`),
      'kept\nwritten\nkept\n',
    )
    assert.equal(
      field('below', '{.status.containerStatuses[0].volumeMounts[*].recursiveReadOnly}'),
      'Enabled Disabled Disabled',
    )
  })

  test('devices of a claim are prepared by their driver, given to the containers that name them, and taken back', async () => {
    const api = { apiVersion: 'resource.k8s.io/v1' }
    const asked = join(machine.directory, 'asked')
    const registry = join(machine.dataDir, 'kubelet/skiff-1/plugins_registry')
    const folder = join(machine.directory, 'driver')
    const devices = { requests: [{ name: 'r', exactly: { deviceClassName: DRIVER } }] }
    machine.apply(
      {
        ...api,
        kind: 'DeviceClass',
        metadata: { name: DRIVER },
        spec: { selectors: [{ cel: { expression: `device.driver == '${DRIVER}'` } }] },
      },
      {
        ...api,
        kind: 'ResourceSlice',
        metadata: { name: 'slice' },
        spec: {
          driver: DRIVER,
          nodeName: 'skiff-1',
          pool: { name: 'n', generation: 1, resourceSliceCount: 1 },
          devices: [{ name: 'd' }],
        },
      },
      { ...api, kind: 'ResourceClaim', metadata: { name: 'claim' }, spec: { devices } },
    )
    const env = 'echo $DEVICE_OF; exec sleep 9999'
    const without = { name: 'without', image: IMAGE, imagePullPolicy: 'Never', command: sh(env) }
    const own = { ...without, name: 'c', resources: { claims: [{ name: 'x' }] } }
    const resourceClaims = [{ name: 'x', resourceClaimName: 'claim' }]
    machine.apply(pod('device', {}, { containers: [own, without], resourceClaims }))
    const told = () => machine.kubectl('get', 'events', '-o', 'jsonpath={.items[*].message}').stdout
    await until('the driver is missed', () => told().includes(`DRA driver ${DRIVER} is not registered`))
    machine.start(
      'sh',
      '-c',
      `exec ${process.execPath} ${driver} ${DRIVER} ${registry} ${folder} /var/run/cdi > ${asked}`,
    )
    await ready('device')
    assert.equal(machine.kubectl('logs', 'device', '-c', 'c').stdout, 'claim\n')
    assert.equal(machine.kubectl('logs', 'device', '-c', 'without').stdout, '\n')
    assert.equal(machine.kubectl('delete', 'pod', 'device', '--timeout=60s').status, 0)
    const methods = () => [...readFileSync(asked, 'utf8').matchAll(/^\["(Node\w*pare\w*)"/gm)].map(([, name]) => name)
    assert.deepEqual(methods(), ['NodePrepareResources', 'NodeUnprepareResources'])
    assert.equal(machine.run('pkill', '-f', 'driver-stand-in').status, 0)
    const slices = () => machine.kubectl('get', 'resourceslices', '-o', 'name').stdout
    await until('nothing is offered any more', () => slices() === '', 90_000)
  })

  test('the runtime’s events are enough: an end is seen although nothing is listed', async () => {
    machine.apply(pod('ends', { command: sh('exec sleep 9999') }, { restartPolicy: 'Never' }))
    await ready('ends')
    const id = field('ends', '{.status.containerStatuses[0].containerID}').replace('containerd://', '')
    const from = performance.now()
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'tasks', 'kill', '-s', 'SIGKILL', id).status, 0)
    await until('its end', () => field('ends', '{.status.phase}') === 'Failed', 30_000)
    assert.ok(performance.now() - from < 30_000)
  })

  test('a kubelet that starts anew knows the users of its pods, and down leaves nothing', async () => {
    const map = exec('users', 'cat /proc/self/uid_map')
    const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
    assert.equal(machine.run('kill', '-9', pid).status, 0)
    await until('its end', () => machine.run('kill', '-0', pid).status !== 0)
    assert.equal(machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach').status, 0)
    await ready('users')
    assert.equal(exec('users', 'cat /proc/self/uid_map'), map)
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'containers', 'list', '-q').stdout, '')
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'images', 'list', '-q').stdout.trim().split('\n').length, 2)
    assert.equal(existsSync(join(machine.dataDir, 'kubelet/skiff-1')), false)
  })
})
