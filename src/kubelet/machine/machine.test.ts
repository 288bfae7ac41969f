import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import type { Container, Pod } from '../pod.ts'
import { makeMountPoints, writeAtomically } from './atomic-writer.ts'
import { createCgroups } from './cgroups.ts'
import { containerResources, oomScore } from './cpu-shares-and-memory-limits.ts'
import { ownTree } from './fs-group.ts'
import { hostsFile, parseResolver, resolverOf, sandboxHostname } from './hosts-and-resolv-conf.ts'
import { credentialsFor } from './image-pull-secrets.ts'
import { podDirectories, writeForContainers } from './pod-directories.ts'
import { unready } from './real-machine.ts'
import { containerSecurity, namespacesOf, sandboxSecurity } from './security-context.ts'
import { serviceVariables } from './service-environment-variables.ts'
import { checkHostPath, createMachineVolumes } from './volume-writer.ts'

const temporary = mkdtempSync(join(tmpdir(), 'skiff-machine-'))
after(() => rmSync(temporary, { recursive: true, force: true }))
let made = 0
const folder = () => {
  const path = join(temporary, String(made++))
  mkdirSync(path)
  return path
}

const GI = 1024n ** 3n
const podOf = (spec: object): Pod =>
  ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'ns', uid: 'u' }, spec }) as unknown as Pod
const c = (fields: object = {}) => ({ name: 'c', image: 'i', ...fields }) as unknown as Container
const hostUsers = { mode: 'NODE' } as const

test('pods are known by the groups that they have left, in whichever tree, until these are removed', () => {
  const mount = folder()
  const groups = [
    'memory/skiff-k/burstable/poda-1/c',
    'freezer/skiff-k/besteffort/podb',
    'freezer/skiff-other/besteffort/podc',
  ]
  for (const path of groups) mkdirSync(join(mount, path), { recursive: true })
  const cgroups = createCgroups('k', 'cgroupfs', mount)
  assert.deepEqual(cgroups.known().toSorted(), ['a-1', 'b'])
  cgroups.remove('a-1')
  assert.deepEqual(cgroups.known(), ['b'])
})

test('a class of pods is given CPU time as all of its pods asked for, those that asked for nothing the least', () => {
  const mount = folder()
  const shares = (path: string) => readFileSync(join(mount, 'cpu/skiff-k', path, 'cpu.shares'), 'utf8')
  const put = (path: string, value: string) => {
    mkdirSync(join(mount, 'cpu/skiff-k', path), { recursive: true })
    writeFileSync(join(mount, 'cpu/skiff-k', path, 'cpu.shares'), value)
  }
  for (const path of ['burstable', 'besteffort', 'burstable/podu', 'besteffort/podw']) put(path, '')
  put('burstable/podv', '512')
  const cgroups = createCgroups('k', 'cgroupfs', mount)
  const asking = (uid: string, requests: object) => {
    const pod = podOf({ containers: [c({ resources: { requests } })] })
    return { ...pod, metadata: { ...pod.metadata, uid } }
  }
  cgroups.make(asking('u', { cpu: '250m' }))
  cgroups.make(asking('w', {}))
  assert.deepEqual(['burstable/podu', 'burstable', 'besteffort'].map(shares), ['256', '768', '2'])
  rmSync(join(mount, 'cpu/skiff-k/burstable/podv/cpu.shares'))
  cgroups.remove('v')
  assert.equal(shares('burstable'), '256')
})

test('requests and limits become shares, quota, memory and the order in which containers are killed', () => {
  const resources = (of: object | undefined, spec: object = {}) => {
    const container = c(of === undefined ? {} : { resources: of })
    return containerResources(podOf({ containers: [container], ...spec }), container, 8n * GI)
  }
  assert.deepEqual(resources({ requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '250m', memory: '2Gi' } }), {
    cpu_shares: 102,
    cpu_period: 100_000,
    cpu_quota: 25_000,
    memory_limit_in_bytes: 2 * Number(GI),
    oom_score_adj: 875,
  })
  assert.deepEqual(resources(undefined), { cpu_shares: 2, cpu_period: 100_000, oom_score_adj: 1000 })
  assert.equal(resources({ limits: { cpu: '1m', memory: '1Gi' } }).cpu_quota, 1000)
  // What limits the whole pod limits a container without limits of its own.
  const whole = { resources: { limits: { cpu: '400m', memory: '1Gi' }, requests: { cpu: '50m', memory: '1Gi' } } }
  const without = resources(undefined, whole)
  assert.deepEqual([without.cpu_shares, without.cpu_quota, without.memory_limit_in_bytes], [409, 40_000, Number(GI)])
  assert.equal(resources({ limits: { memory: '2Gi' } }, whole).memory_limit_in_bytes, 2 * Number(GI))
  const guaranteed = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } }
  assert.equal(resources(guaranteed).oom_score_adj, -997)
  assert.equal(resources({ requests: { memory: '7999Mi' } }).oom_score_adj, 24)
  assert.equal(resources({ requests: { memory: '1' } }).oom_score_adj, 999)
  assert.equal(resources(undefined, { priority: 2_000_001_000 }).oom_score_adj, -997)
  const sidecar = c({ restartPolicy: 'Always', resources: { requests: { memory: '1' } } })
  const scoreBeside = (...requests: readonly string[]) => {
    const containers = requests.map((memory) => c({ resources: { requests: { memory } } }))
    return oomScore(podOf({ containers, initContainers: [sidecar] }), sidecar, 8n * GI)
  }
  assert.deepEqual([scoreBeside('1Gi'), scoreBeside('1Gi', '2Gi'), scoreBeside('1Gi', '0')], [875, 875, 999])
})

test('security contexts: a container’s own before its pod’s, and what is not said is the runtime’s default', () => {
  const security = (own: object, pod: object = {}, image: object = {}) => {
    const container = c({ securityContext: own })
    return containerSecurity(podOf({ containers: [container], securityContext: pod }), container, image, hostUsers)
  }
  const both = security({ runAsUser: 5 }, { runAsUser: 6, runAsGroup: 7, fsGroup: 8, supplementalGroups: [9, 8] })
  assert.deepEqual(
    [both.run_as_user, both.run_as_group, both.supplemental_groups],
    [{ value: 5 }, { value: 7 }, [8, 9]],
  )
  assert.deepEqual(both.seccomp, { profile_type: 'Unconfined' })
  assert.ok(both.masked_paths.includes('/proc/kcore') && both.readonly_paths.includes('/proc/sys'))
  assert.deepEqual(security({ procMount: 'Unmasked' }).masked_paths, [])
  assert.equal(security({ allowPrivilegeEscalation: false }).no_new_privs, true)
  assert.deepEqual(security({ capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } }).capabilities, {
    add_capabilities: ['NET_ADMIN'],
    drop_capabilities: ['ALL'],
  })
  assert.deepEqual(security({ seccompProfile: { type: 'RuntimeDefault' } }).seccomp, { profile_type: 'RuntimeDefault' })
  assert.equal(security({}, {}, { username: 'web' }).run_as_username, 'web')
  assert.deepEqual(security({}, {}, { uid: 33 }).run_as_user, { value: 33 })
  // A group alone is no more than a runtime takes: root has it.
  assert.deepEqual(security({ runAsGroup: 7 }, {}, {}).run_as_user, { value: 0 })
})

test('what must not run as root does not: by its own user, its image’s, or one that has only a name', () => {
  const check = (own: object, image: object) => {
    const container = c({ securityContext: { runAsNonRoot: true, ...own } })
    return containerSecurity(podOf({ containers: [container] }), container, image, hostUsers)
  }
  const where = '(pod: "p_ns(u)", container: c)'
  assert.throws(() => check({ runAsUser: 0 }, {}), { message: `container's runAsUser breaks non-root policy ${where}` })
  const root = { message: `container has runAsNonRoot and image will run as root ${where}` }
  assert.throws(() => check({}, {}), root)
  assert.throws(() => check({}, { uid: 0 }), root)
  assert.throws(() => check({}, { username: 'web' }), {
    message: `container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root ${where}`,
  })
  assert.deepEqual(check({}, { uid: 9 }).run_as_user, { value: 9 })
})

test('namespaces of the host and of the pod', () => {
  const all = { hostNetwork: true, hostPID: true, hostIPC: true, containers: [] }
  const namespaces = (spec: object) => namespacesOf(podOf(spec), hostUsers)
  assert.deepEqual(namespaces(all), { network: 'NODE', ipc: 'NODE', pid: 'NODE', userns_options: hostUsers })
  const shared = { shareProcessNamespace: true, containers: [] }
  assert.deepEqual(namespaces(shared), { network: 'POD', ipc: 'POD', pid: 'POD', userns_options: hostUsers })
  const privileged = podOf({ containers: [c({ securityContext: { privileged: true } })] })
  assert.equal(sandboxSecurity(privileged, hostUsers).privileged, true)
})

test('the hosts file names the pod and its aliases', () => {
  const pod = podOf({ containers: [], subdomain: 'sub', hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] })
  const lines = hostsFile(pod, ['10.0.0.2', 'fd00::2'], 'cluster.local').split('\n')
  assert.equal(lines[0], '# Kubernetes-managed hosts file.')
  assert.deepEqual(lines.slice(7), [
    '10.0.0.2\tp.sub.ns.svc.cluster.local\tp',
    'fd00::2\tp.sub.ns.svc.cluster.local\tp',
    '',
    '# Entries added by HostAliases.',
    '1.2.3.4\ta\tb',
    '',
  ])
  assert.equal(sandboxHostname(podOf({ containers: [], hostNetwork: true }), 'cluster.local'), '')
  const named = podOf({ containers: [], hostname: 'h', subdomain: 'sub', hostnameOverride: 'own' })
  assert.deepEqual(hostsFile(named, ['10.0.0.2'], 'cluster.local').split('\n').slice(7), ['10.0.0.2\town', ''])
  const full = podOf({ containers: [], subdomain: 'sub', setHostnameAsFQDN: true })
  assert.equal(sandboxHostname(full, 'cluster.local'), 'p.sub.ns.svc.cluster.local')
  assert.throws(() => sandboxHostname(full, 'x'.repeat(60)), /is too long \(64 characters is the max/)
})

test('the resolver of a pod follows its policy, and its own settings come on top', () => {
  const file = join(folder(), 'resolv.conf')
  writeFileSync(file, 'nameserver 9.9.9.9 # main\nsearch corp.example.\noptions timeout:2\n')
  assert.deepEqual(parseResolver(readFileSync(file, 'utf8')), {
    servers: ['9.9.9.9'],
    searches: ['corp.example'],
    options: ['timeout:2'],
  })
  const dns = { servers: ['10.96.0.10'], domain: 'cluster.local' }
  const first = resolverOf(podOf({ containers: [] }), dns, file)
  assert.deepEqual(first, {
    servers: ['10.96.0.10'],
    searches: ['ns.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp.example'],
    options: ['ndots:5'],
    fallsBack: false,
    omitted: [],
  })
  const none = {
    containers: [],
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['8.8.8.8'], options: [{ name: 'ndots', value: '1' }] },
  }
  assert.deepEqual(resolverOf(podOf(none), dns, file), {
    servers: ['8.8.8.8'],
    searches: [],
    options: ['ndots:1'],
    fallsBack: false,
    omitted: [],
  })
  assert.deepEqual(resolverOf(podOf({ containers: [], hostNetwork: true }), dns, file).servers, ['9.9.9.9'])
  const without = resolverOf(podOf({ containers: [] }), { ...dns, servers: [] }, file)
  assert.deepEqual([without.servers, without.fallsBack], [['9.9.9.9'], true])
})

test('a resolver is told no more servers and search paths than it takes, and what that leaves is told', () => {
  const dns = { servers: ['10.96.0.10'], domain: 'cluster.local' }
  const names = (count: number, length = 3) => Array.from({ length: count }, (_, at) => `${at}`.padStart(length, 'd'))
  const of = (nameservers: readonly string[], searches: readonly string[]) =>
    resolverOf(podOf({ containers: [], dnsPolicy: 'None', dnsConfig: { nameservers, searches } }), dns, '')
  const most = of(['1.1.1.1', '1.1.1.2', '1.1.1.3'], names(32))
  assert.deepEqual([most.servers.length, most.searches.length, most.omitted], [3, 32, []])
  const servers = of(['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'], [])
  assert.deepEqual(servers.servers, ['1.1.1.1', '1.1.1.2', '1.1.1.3'])
  assert.deepEqual(servers.omitted, [
    'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 1.1.1.2 1.1.1.3',
  ])
  const many = of([], names(33))
  assert.deepEqual(many.searches, names(32))
  assert.deepEqual(many.omitted, [
    `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${names(32).join(' ')}`,
  ])
  // 2048 characters, with what is between them.
  assert.equal(of([], names(20, 101)).searches.length, 20)
  assert.equal(of([], names(21, 101)).searches.length, 20)
})

test('files of a volume are replaced all at once, and only when they have changed', () => {
  const at = join(folder(), 'v')
  const file = (text: string, mode = 0o644) => ({ bytes: Buffer.from(text), mode })
  writeAtomically(
    at,
    new Map([
      ['a', file('1', 0o400)],
      ['d/b', file('2')],
    ]),
    undefined,
    Date.UTC(2026, 10, 26, 1, 2, 3),
  )
  assert.match(readlinkSync(join(at, '..data')), /^\.\.2026_11_26_01_02_03\../)
  assert.equal(statSync(at).mode & 0o7777, 0o777)
  assert.equal(readFileSync(join(at, 'd/b'), 'utf8'), '2')
  assert.equal(statSync(join(at, 'a')).mode & 0o777, 0o400)
  const first = readlinkSync(join(at, '..data'))
  writeAtomically(
    at,
    new Map([
      ['a', file('1', 0o400)],
      ['d/b', file('2')],
    ]),
    undefined,
    0,
  )
  assert.equal(readlinkSync(join(at, '..data')), first)
  writeAtomically(at, new Map([['a', file('3', 0o400)]]), undefined, 0)
  assert.notEqual(readlinkSync(join(at, '..data')), first)
  assert.equal(readFileSync(join(at, 'a'), 'utf8'), '3')
  assert.ok(!existsSync(join(at, 'd')) && !existsSync(join(at, first)))
  makeMountPoints(at, ['in/side', 'a/b'])
  writeAtomically(at, new Map([['z', file('4')]]), undefined, 0)
  assert.deepEqual(
    readdirSync(at).filter((name) => !name.startsWith('..')),
    ['in', 'z'],
  )
  assert.ok(existsSync(join(at, 'in/side')), 'what another volume is mounted on stays')
  for (const path of ['../x', '/x', 'a/../../x', '..data'])
    assert.throws(() => writeAtomically(at, new Map([[path, file('')]]), undefined, 0), /^Error: invalid path/)
})

test('names that would lead elsewhere name no directory', () => {
  const directories = podDirectories(folder())
  for (const name of ['..', '../x', 'a/b', '', '.x'])
    assert.throws(() => directories.pod(name), /cannot name a directory/)
})

test('hostPath is what its type says, or it is refused', () => {
  const base = folder()
  checkHostPath(join(base, 'made'), 'DirectoryOrCreate')
  assert.ok(statSync(join(base, 'made')).isDirectory())
  checkHostPath(join(base, 'file'), 'FileOrCreate')
  assert.throws(() => checkHostPath(join(base, 'file'), 'Directory'), {
    message: `hostPath type check failed: ${join(base, 'file')} is not a directory, it's a File`,
  })
  assert.throws(() => checkHostPath('/none', 'File'), {
    message:
      'hostPath type check failed, /none is not a file, unable to determine its type: path "/none" does not exist',
  })
  assert.throws(() => checkHostPath(join(base, 'no'), 'Socket'), /is not a socket file/)
  assert.throws(() => checkHostPath('/dev/null', 'BlockDevice'), /is not a block device, it's a CharDevice$/)
  checkHostPath('/dev/null', 'CharDevice')
})

test('a volume of files has a directory for each volume that is mounted in it', async () => {
  const volumes = createMachineVolumes(podDirectories(folder()), () => ({}), { now: () => 0 })
  const mounts = ['/m/in/side', '/m/in/side/er', '/m/', '/m/k', '/other', '/mx'].map((mountPath) => ({
    name: mountPath === '/m/' ? 'm' : 'e',
    mountPath,
  }))
  const volume = { name: 'm', configMap: { name: 'm' } }
  const pod = podOf({ containers: [c({ volumeMounts: mounts })], volumes: [volume] })
  await volumes.setUp(pod, volume, new Map([['k', { bytes: Buffer.from('v'), mode: 0o644 }]]), undefined)
  const path = volumes.pathOf(pod, 'm')!
  assert.deepEqual(readdirSync(join(path, 'in/side')), [])
  assert.ok(lstatSync(join(path, 'k')).isDirectory(), 'what is mounted over a file has a place too')
  assert.deepEqual(
    readdirSync(path).filter((name) => !name.startsWith('..')),
    ['in', 'k'],
  )
})

test('no mountPath has a directory made outside of the volume', async () => {
  const volume = { name: 'm', configMap: { name: 'm' } }
  for (const [own, other, made] of [
    ['..', '../../../../etc/x', ['etc']],
    ['../..', '../../../../x', ['x']],
    ['x/../..', '../../../outside', ['outside']],
    ['/m', '/m/../../outside', []],
    ['m', '../m/in', ['in']],
  ] as const) {
    const base = folder()
    const volumes = createMachineVolumes(podDirectories(base), () => ({}), { now: () => 0 })
    const volumeMounts = [
      { name: 'm', mountPath: own },
      { name: 'e', mountPath: other },
    ]
    const pod = podOf({ containers: [c({ volumeMounts })], volumes: [volume] })
    await volumes.setUp(pod, volume, new Map(), undefined)
    const path = volumes.pathOf(pod, 'm')!
    assert.deepEqual(
      readdirSync(path).filter((name) => !name.startsWith('..')),
      made,
      own,
    )
    const named = readdirSync(base, { recursive: true }).map((name) => join(base, String(name)))
    const strays = named.filter((name) => /\/(etc|x|outside|in)$/.test(name) && !name.startsWith(`${path}/`))
    assert.deepEqual(strays, [], own)
  }
})

test('a mount point is refused that leads upwards, and none is made through a link', () => {
  const base = folder()
  const at = join(base, 'v')
  for (const path of ['..', '../x', 'a/../../x', '/x'])
    assert.throws(() => makeMountPoints(at, ['fine', path]), /^Error: invalid path/, path)
  assert.deepEqual(readdirSync(base), [], 'nothing is made before all have been looked at')
  mkdirSync(join(base, 'outside'))
  mkdirSync(join(at, 'in'), { recursive: true })
  symlinkSync(join(base, 'outside'), join(at, 'out'))
  symlinkSync(join(base, 'outside'), join(at, 'in/out'))
  makeMountPoints(at, ['out/x', 'in/out/x', 'in/new/er'])
  assert.deepEqual(readdirSync(join(base, 'outside')), [])
  assert.equal(statSync(join(at, 'in/new/er')).mode & 0o7777, 0o755)
})

test('an emptyDir is made once, a volume of another kind is refused by its name', async () => {
  const directories = podDirectories(folder())
  const volumes = createMachineVolumes(directories, () => ({}), { now: () => 0 })
  const pod = podOf({ containers: [], volumes: [{ name: 'e', emptyDir: {} }] })
  await volumes.setUp(pod, { name: 'e', emptyDir: {} }, undefined, undefined)
  const path = volumes.pathOf(pod, 'e')!
  assert.equal(statSync(path).mode & 0o777, 0o777)
  writeFileSync(join(path, 'kept'), '')
  await volumes.setUp(pod, { name: 'e', emptyDir: {} }, undefined, undefined)
  assert.ok(existsSync(join(path, 'kept')))
  const nfs = { name: 'n', nfs: { server: 's', path: '/' } }
  await assert.rejects(volumes.setUp(pod, nfs, undefined, undefined), /volumes of type nfs are not supported/)
})

test('a group gets all of a volume, and nothing that a link in it leads to', () => {
  // Whoever is not root may give files to his own group alone.
  const group = process.getuid?.() === 0 ? 4242 : (process.getgid?.() ?? 0)
  const base = folder()
  const outside = join(folder(), 'outside')
  writeFileSync(outside, '', { mode: 0o600 })
  mkdirSync(join(base, 'd'), { mode: 0o700 })
  writeFileSync(join(base, 'd/f'), '', { mode: 0o600 })
  symlinkSync(outside, join(base, 'd/l'))
  ownTree(base, group)
  const [directory, file, other] = [join(base, 'd'), join(base, 'd/f'), outside].map((path) => statSync(path))
  assert.deepEqual([directory?.gid, (directory?.mode ?? 0) & 0o7777], [group, 0o2770])
  assert.deepEqual([file?.gid, (file?.mode ?? 0) & 0o7777], [group, 0o660])
  assert.deepEqual([other?.gid, (other?.mode ?? 0) & 0o7777], [process.getgid?.(), 0o600])
})

test('variables for services: those of the namespace, and kubernetes for everyone', () => {
  const service = (name: string, namespace: string, clusterIP: string, ports: object[]) =>
    ({ kind: 'Service', apiVersion: 'v1', metadata: { name, namespace }, spec: { clusterIP, ports } }) as never
  const all = [
    service('kubernetes', 'default', '10.96.0.1', [{ name: 'https', port: 443, protocol: 'TCP' }]),
    service('my-db', 'ns', '10.96.0.5', [{ port: 5432 }]),
    service('headless', 'ns', 'None', [{ port: 1 }]),
    service('other', 'else', '10.96.0.6', [{ port: 1 }]),
  ]
  assert.deepEqual(
    { ...serviceVariables(all, 'ns', true) },
    {
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      KUBERNETES_SERVICE_PORT_HTTPS: '443',
      KUBERNETES_PORT: 'tcp://10.96.0.1:443',
      KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
      KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
      KUBERNETES_PORT_443_TCP_PORT: '443',
      KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
      MY_DB_SERVICE_HOST: '10.96.0.5',
      MY_DB_SERVICE_PORT: '5432',
      MY_DB_PORT: 'tcp://10.96.0.5:5432',
      MY_DB_PORT_5432_TCP: 'tcp://10.96.0.5:5432',
      MY_DB_PORT_5432_TCP_PROTO: 'tcp',
      MY_DB_PORT_5432_TCP_PORT: '5432',
      MY_DB_PORT_5432_TCP_ADDR: '10.96.0.5',
    },
  )
  assert.equal(Object.keys(serviceVariables(all, 'ns', false)).filter((name) => name.startsWith('MY_DB')).length, 0)
})

test('credentials of the image’s own registry, the most exact first; broken secrets are passed over', () => {
  const auths = (entries: object): KubeObject => ({
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: {},
    data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths: entries })).toString('base64') },
  })
  const auth = Buffer.from('u:p:x').toString('base64')
  const secrets = [
    { kind: 'Secret', apiVersion: 'v1', metadata: {}, data: { '.dockerconfigjson': 'bm8=' } },
    auths({ 'https://index.docker.io/v1/': { auth }, '*.example.com': { username: 'a', password: 'b' } }),
    {
      ...auths({ 'r.example.com/team': { username: 'c', password: 'd' } }),
      metadata: { uid: 'u', namespace: 'n', name: 's' },
    },
  ]
  assert.deepEqual(credentialsFor('busybox', secrets), [{ username: 'u', password: 'p:x' }])
  assert.deepEqual(credentialsFor('r.example.com/team/x:1', secrets), [
    { username: 'c', password: 'd', secret: { uid: 'u', namespace: 'n', name: 's' } },
    { username: 'a', password: 'b' },
  ])
  assert.deepEqual(credentialsFor('example.com/x', secrets), [])
  assert.deepEqual(credentialsFor('r.example.com.evil.org/x', secrets), [])
})

test('a pod’s control group has its limits where every container has one, in either version, and goes', () => {
  const limited = c({
    resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '500m', memory: '64Mi' } },
  })
  const one = folder()
  for (const [directory, files] of [
    ['memory', []],
    ['cpu', []],
    ['pids', []],
  ] as const)
    mkdirSync(join(one, directory, ...files), { recursive: true })
  const groups = createCgroups('c1', 'cgroupfs', one)
  const pod = podOf({ containers: [limited] })
  assert.deepEqual([groups.version, groups.parentOf(pod)], [1, '/skiff-c1/guaranteed/podu'])
  // Files of a kernel are there by themselves.
  const own = join(one, 'memory/skiff-c1/guaranteed/podu')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'memory.limit_in_bytes'), '')
  groups.make(pod)
  assert.equal(readFileSync(join(own, 'memory.limit_in_bytes'), 'utf8'), String(64 * 1024 * 1024))
  assert.ok(existsSync(join(one, 'cpu/skiff-c1/guaranteed/podu')))
  rmSync(join(own, 'memory.limit_in_bytes'))
  groups.remove('u')
  assert.ok(!existsSync(own))
  groups.removeAll()
  assert.ok(!existsSync(join(one, 'cpu/skiff-c1')))

  const two = folder()
  writeFileSync(join(two, 'cgroup.controllers'), 'cpu memory pids')
  const unified = createCgroups('c1', 'cgroupfs', two)
  const at = join(two, 'skiff-c1/guaranteed/podu')
  mkdirSync(at, { recursive: true })
  for (const name of ['cpu.max', 'memory.max', 'cpu.weight']) writeFileSync(join(at, name), '')
  unified.make(pod)
  assert.deepEqual(
    ['cpu.max', 'memory.max', 'cpu.weight'].map((name) => readFileSync(join(at, name), 'utf8')),
    ['50000 100000', String(64 * 1024 * 1024), '20'],
  )
  const slice = createCgroups('c1', 'systemd', two).parentOf(pod)
  assert.equal(slice, 'skiff_c1-guaranteed-podu.slice')
})

test('processes that the runtime has lost sight of end with the group of their pod', async (t) => {
  const mount = folder()
  const own = join(mount, 'memory/skiff-c1/besteffort/podu/lost')
  mkdirSync(own, { recursive: true })
  const lost = spawn('sleep', ['1000'])
  t.after(() => lost.kill('SIGKILL'))
  const ended = once(lost, 'exit')
  writeFileSync(join(own, '../cgroup.procs'), '')
  // One of another namespace, this process itself, and one that has ended.
  writeFileSync(join(own, 'cgroup.procs'), `0\n${process.pid}\n${lost.pid}\n999999999\n`)
  const groups = createCgroups('c1', 'cgroupfs', mount)
  groups.remove('other')
  assert.equal(lost.killed || lost.exitCode !== null, false)
  // A kernel's group would be busy now; here it is a folder with a file.
  assert.throws(() => groups.remove('u'), { code: 'ENOTEMPTY' })
  assert.deepEqual((await ended)[1], 'SIGKILL')
})

test('a runtime that deprecates something is ready; one without a network is not', () => {
  const condition = (type: string, status: boolean) => ({ type, status, message: '' })
  const deprecating = condition('ContainerdHasNoDeprecationWarnings', false)
  const ready = condition('RuntimeReady', true)
  assert.equal(unready([ready, condition('NetworkReady', true), deprecating]), undefined)
  assert.equal(unready([deprecating, ready, condition('NetworkReady', false)])?.type, 'NetworkReady')
})

test('files for containers have their mode under any umask', () => {
  const umask = process.umask(0o077)
  try {
    const file = join(folder(), 'message')
    writeForContainers(file, '', 0o666)
    assert.equal(statSync(file).mode & 0o777, 0o666)
  } finally {
    process.umask(umask)
  }
})
