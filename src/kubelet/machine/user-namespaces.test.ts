import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { PreparedClaims } from '../dra/prepared-claims.ts'
import type { Container, Pod } from '../pod.ts'
import type { RuntimeHandler } from '../runtimes/runtime.ts'
import { createCgroups } from './cgroups.ts'
import { createMachine } from './machine.ts'
import { podDirectories } from './pod-directories.ts'
import { createUserNamespaces } from './user-namespaces.ts'
import { createMachineVolumes } from './volume-writer.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
function stage() {
  const root = mkdtempSync(join(tmpdir(), 'skiff-users-'))
  folders.push(root)
  return podDirectories(root)
}
const podOf = (uid: string, spec: object = {}) =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: uid, namespace: 'ns', uid },
    spec: { hostUsers: false, containers: [], ...spec },
  }) as unknown as Pod

test('each pod with users of its own gets a range that no other has, and has it still after a restart', () => {
  const directories = stage()
  const { random } = simulatedRuntime(1)
  const users = createUserNamespaces(random, directories)
  assert.deepEqual(users.of(podOf('h', { hostUsers: true })), { mode: 'NODE' })
  const first = users.of(podOf('a'))
  const hostId = first.uids?.[0]?.host_id ?? 0
  assert.deepEqual(first.uids, [{ host_id: hostId, container_id: 0, length: 65_536 }])
  assert.deepEqual(first.gids, first.uids)
  assert.ok(hostId >= 65_536 && hostId % 65_536 === 0 && hostId <= 65_534 * 65_536)
  const file = join(directories.pod('a'), 'userns')
  const mapping = [{ hostId, containerId: 0, length: 65_536 }]
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { uidMappings: mapping, gidMappings: mapping })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  // The same chance would choose the same range.
  const again = createUserNamespaces(simulatedRuntime(1).random, directories)
  assert.notDeepEqual(again.of(podOf('b')), first)
  assert.deepEqual(again.of(podOf('a')), first)
})

test('a damaged file is no range: the pod waits, and nothing is chosen in its place', () => {
  const directories = stage()
  const users = createUserNamespaces(simulatedRuntime(1).random, directories)
  users.of(podOf('a'))
  const file = join(directories.pod('a'), 'userns')
  for (const text of ['', '{}', '{"uidMappings":[{"hostId":7}]}', '{"uidMappings":[{"hostId":0}]}']) {
    writeFileSync(file, text)
    const later = createUserNamespaces(simulatedRuntime(1).random, directories)
    assert.throws(() => later.of(podOf('a')))
    assert.throws(() => later.of(podOf('b')))
  }
})

const newer: RuntimeHandler = { name: '', recursiveReadOnlyMounts: true, userNamespaces: true }

const NOTHING_PREPARED: PreparedClaims = {
  prepare: async () => {},
  unprepare: async () => {},
  devices: () => [],
  pods: () => [],
}

function machineWith(handlers: readonly RuntimeHandler[]) {
  const directories = stage()
  return createMachine({
    directories,
    cgroups: { ...createCgroups('test', 'cgroupfs'), make: () => {} },
    volumes: createMachineVolumes(directories, () => ({}), { now: () => 0 }),
    preparedClaims: NOTHING_PREPARED,
    dns: { servers: [], domain: 'cluster.local' },
    services: () => [],
    allocatable: () => ({}),
    userNamespaces: createUserNamespaces(simulatedRuntime(1).random, directories),
    features: () => ({ handlers, supplementalGroupsPolicy: false }),
    runtimeHandler: async () => 'kata',
  })
}

async function requested(handlers: readonly RuntimeHandler[], pod: Pod, container: Container) {
  const machine = machineWith(handlers)
  for (const volume of pod.spec?.volumes ?? []) await machine.volumes.setUp(pod, volume, undefined, undefined)
  const metadata = { name: 'p', namespace: 'ns', uid: 'u', attempt: 0 }
  const base = { metadata, hostname: 'p', labels: {}, annotations: {}, hostNetwork: false }
  const sandbox = await machine.sandbox(pod, base, () => {})
  const config = await machine.container({
    pod,
    container,
    sandbox,
    podIPs: [],
    imageUser: undefined,
    cdiDevices: [],
    mountedImages: new Map([['i', { id: 'sha256:1', reference: 'example.test/i:1' }]]),
    config: {
      metadata: { name: 'c', attempt: 0 },
      image: 'i',
      command: [],
      args: [],
      workingDir: '',
      envs: { DIR: 'd', EMPTY: '' },
      mounts: [],
      labels: {},
      annotations: {},
      runsToCompletion: false,
    },
  })
  return { sandbox, config, machine }
}
const mounting = (...volumeMounts: object[]) => ({ name: 'c', image: 'i', volumeMounts }) as unknown as Container

test('a pod’s own users are told to the runtime for its namespaces and for all its mounts', async () => {
  const pod = podOf('u', { volumes: [{ name: 'v', emptyDir: {} }] })
  const { sandbox, config } = await requested([newer], pod, mounting({ name: 'v', mountPath: '/v' }))
  const users = sandbox.real?.linux.security_context.namespace_options.userns_options
  assert.equal(users?.mode, 'POD')
  assert.deepEqual(config.real?.linux.security_context.namespace_options.userns_options, users)
  assert.deepEqual(
    config.mounts.map((mount) => [mount.containerPath, mount.users]),
    ['/v', '/etc/hosts', '/dev/termination-log'].map((path) => [path, users]),
  )
})

test('a runtime that cannot give a pod its own users is not asked to', async () => {
  const refused = { message: "can't set `spec.hostUsers: false`, runtime does not support user namespaces" }
  await assert.rejects(requested([], podOf('u'), mounting()), refused)
  await assert.rejects(requested([newer], podOf('u', { runtimeClassName: 'other' }), mounting()), refused)
  await requested([{ ...newer, name: 'kata' }], podOf('u', { runtimeClassName: 'other' }), mounting())
})

test('mounts are read-only with all below them where the runtime can: else Enabled is refused, IfPossible passed over', async () => {
  const pod = podOf('u', { hostUsers: true, volumes: [{ name: 'v', emptyDir: {} }] })
  const mount = (recursiveReadOnly?: string) =>
    mounting({ name: 'v', mountPath: '/v', readOnly: true, ...(recursiveReadOnly ? { recursiveReadOnly } : {}) })
  const isRecursive = async (handlers: readonly RuntimeHandler[], mode?: string) =>
    (await requested(handlers, pod, mount(mode))).config.mounts[0]?.recursiveReadOnly
  assert.equal(await isRecursive([newer], 'Enabled'), true)
  assert.equal(await isRecursive([newer], 'IfPossible'), true)
  assert.equal(await isRecursive([newer]), false)
  assert.equal(await isRecursive([], 'IfPossible'), false)
  await assert.rejects(requested([], pod, mount('Enabled')), {
    message:
      'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is not supported by the runtime',
  })
})

test('a path is not made of variables that are missing or empty', async () => {
  const pod = podOf('u', { hostUsers: true, volumes: [{ name: 'v', emptyDir: {} }] })
  for (const name of ['EMPTY', 'NONE'])
    await assert.rejects(
      requested([newer], pod, mounting({ name: 'v', mountPath: '/v', subPathExpr: `$(${name})/$(DIR)` })),
      { message: `missing value for ${name}` },
    )
})

test('an image that is a volume is mounted by the runtime, read-only, from its root or a path in it', async () => {
  const pod = podOf('u', { hostUsers: true, volumes: [{ name: 'i', image: { reference: 'example.test/i:1' } }] })
  const container = mounting(
    { name: 'i', mountPath: '/whole' },
    { name: 'i', mountPath: '/part', subPathExpr: '$(DIR)/e' },
  )
  const { config } = await requested([newer], pod, container)
  const image = { id: 'sha256:1', reference: 'example.test/i:1' }
  assert.deepEqual(
    config.mounts.slice(0, 2).map(({ containerPath, readOnly, image: mounted }) => [containerPath, readOnly, mounted]),
    [
      ['/whole', true, { ...image, subPath: '' }],
      ['/part', true, { ...image, subPath: 'd/e' }],
    ],
  )
})
