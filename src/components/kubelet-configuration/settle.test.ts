/** What a KubeletConfiguration comes to, and what is refused of it, beside what a kubelet v1.37.1 answered (answers.json). */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { messageOf } from '../../base/errors.ts'
import { NO_CPU_OPTIONS } from '../../kubelet/cpu-manager/policy-options.ts'
import { OWN_MANAGERS } from '../../kubelet/topology-manager/resource-managers.ts'
import { parseFlags, type ReadFlags } from '../flags.ts'
import { KUBELET_FLAGS, KUBELET_SETTINGS } from './settings.ts'
import { settledKubelet } from './settle.ts'
import { describedKubelet, describedRealKubelet, describedServer } from './told.ts'
import { configurationOfValues } from './values.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-kubelet-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'config.yaml')
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

function settle(...args: readonly string[]): { readonly flags: ReadFlags; readonly told: readonly string[] } {
  const told: string[] = []
  const flags = settledKubelet(parseFlags('kubelet', KUBELET_FLAGS, args), (line) => told.push(line))
  return { flags, told }
}
function read(text: string, ...args: readonly string[]) {
  writeFileSync(file, text)
  return settle(`--config=${file}`, ...args)
}
const refusal = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return messageOf(error)
  }
  return ''
}

const answers: readonly [
  name: string,
  text: string,
  told: string | null,
  refused: string | null,
  effective: string | null,
][] = JSON.parse(readFileSync(new URL('answers.json', import.meta.url), 'utf8'))
for (const [name, text, told, refused, effective] of answers)
  test(`as kubelet answers: ${name}`, () => {
    const found = refusal(() => read(text)).replaceAll(file, 'f.yaml')
    assert.equal(found, (refused ?? '').replace(/, path: &TypeMeta.*$/, ''))
    if (refused !== null) return
    const lines = read(text).told
    if (told === null) assert.deepEqual(lines, [])
    else {
      const [line = ''] = lines
      assert.equal(
        line,
        `${file}: using lenient decoding as ${told.replace('strict', 'strict decoding failed: strict')}`,
      )
    }
    if (effective === null) return
    const theirs: Record<string, unknown> = parse(effective)
    const ours: Record<string, unknown> = configurationOfValues(read(text).flags.values)
    // A kubelet over no container runtime has no default of these here, and says nothing of what is not set.
    for (const field of [
      'logging',
      'maxPods',
      'containerRuntimeEndpoint',
      'evictionHard',
      'evictionPressureTransitionPeriod',
    ]) {
      delete theirs[field]
      delete ours[field]
    }
    const isSet = (value: unknown): boolean =>
      value !== '' &&
      value !== 0 &&
      value !== false &&
      value !== '0s' &&
      (typeof value !== 'object' || Object.keys(value ?? {}).length > 0)
    const set = (of: Record<string, unknown>): unknown =>
      JSON.parse(JSON.stringify(of, (_, value) => (isSet(value) ? value : undefined)))
    assert.deepEqual(set(ours), set(theirs))
  })

test('flags go before the file, whose lists and maps they replace; feature gates are joined', () => {
  const { flags } = read(
    `${HEAD}maxPods: 1\nevictionHard: {memory.available: 1Gi}\nfeatureGates: {AllAlpha: false}\nclusterDNS: [1.1.1.1]\nsystemReserved: {cpu: '1'}\nlogging: {verbosity: 4}\n`,
    ...['--max-pods=7', '--cluster-dns=1.2.3.4', '--eviction-hard=nodefs.available<3%', '--feature-gates=AllBeta=true'],
    ...['--system-reserved=memory=1Gi', '--container-runtime-endpoint=unix:///x'],
  )
  assert.equal(flags.number('max-pods'), 7)
  assert.equal(flags.number('v'), 4)
  assert.deepEqual(
    ['cluster-dns', 'eviction-hard', 'feature-gates', 'system-reserved'].map((name) => flags.list(name)),
    [['1.2.3.4'], ['nodefs.available<3%'], ['AllAlpha=false', 'AllBeta=true'], ['memory=1Gi']],
  )
})

test('drop-ins are merged in the order of their names, whatever else lies there; relative paths are beside the file', () => {
  const dropIns = join(folder, 'conf.d')
  mkdirSync(join(dropIns, 'sub.conf'), { recursive: true })
  const drop = (name: string, text: string) => writeFileSync(join(dropIns, name), text)
  drop('10-a.conf', `${HEAD}maxPods: 11\nclusterDNS: [9.9.9.9]\nevictionHard: {nodefs.available: 5%}\n`)
  drop('20-b.conf', `${HEAD}maxPods: many\nbar: 2\nstaticPodURL: null\n`)
  drop('30-c.yaml', 'nonsense: [')
  drop('sub.conf/40.conf', `${HEAD}maxPods: 17\n`)
  symlinkSync('sub.conf/40.conf', join(dropIns, 'z.conf'))
  const text = `${HEAD}maxPods: 1\nevictionHard: {memory.available: 1Gi}\nclusterDNS: [1.1.1.1]\nstaticPodURL: http://x\nstaticPodPath: manifests\n`
  const { flags } = read(text, `--config-dir=${dropIns}`)
  assert.equal(flags.number('max-pods'), 17)
  assert.deepEqual(flags.list('cluster-dns'), ['9.9.9.9'])
  assert.deepEqual(flags.list('eviction-hard'), ['memory.available<1Gi', 'nodefs.available<5%'])
  assert.equal(flags.text('manifest-url'), undefined)
  assert.equal(flags.text('pod-manifest-path'), join(folder, 'manifests'))
  const walk = `failed to merge kubelet configs: failed to walk through kubelet dropin directory`
  assert.equal(
    refusal(() => read(text, `--config-dir=${join(folder, 'none')}`)),
    `${walk} "${join(folder, 'none')}": lstat ${join(folder, 'none')}: no such file or directory`,
  )
  drop('50.conf', '')
  assert.match(
    refusal(() => read(text, `--config-dir=${dropIns}`)),
    /path: \S+50\.conf, error: kubelet config file "\S+" was empty$/,
  )
})

test('what skiff does not do is told in a line for each field, unless it is the default', () => {
  const { told } = read(
    `${HEAD}memoryReservationPolicy: TieredReservation\nrunOnce: false\nreadOnlyPort: 0\ncpuCFSQuota: true\ntracing: {endpoint: x}\nreservedMemory: []\n`,
  )
  const lacks = 'skiff does not do what this asks for; it is as with'
  assert.deepEqual(told, [
    `--config: memoryReservationPolicy: ${lacks} None`,
    '--config: tracing: skiff does not do what this asks for; it is as without this field',
  ])
})

test('a file that is none, or too large, or grows by its aliases, is refused in one line', () => {
  const about = (path: string) =>
    `failed to load kubelet config file, path: ${path}, error: failed to load Kubelet config file ${path}, error `
  const of = (path: string) => refusal(() => settle(`--config=${path}`))
  const unread = (path: string, why: string) =>
    `${about(path)}failed to read kubelet config file "${path}", error: ${why}`
  const none = join(folder, 'none.yaml')
  assert.equal(of(none), unread(none, `open ${none}: no such file or directory`))
  assert.equal(of(folder), unread(folder, `read ${folder}: is a directory`))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  assert.equal(of(pipe), unread(pipe, `${pipe} is no regular file`))
  assert.equal(
    refusal(() => read('')),
    `${about(file)}kubelet config file "${file}" was empty`,
  )
  assert.equal(
    refusal(() => read('a: 1')),
    `${about(file)}failed to decode: Object 'Kind' is missing in 'a: 1'`,
  )
  assert.match(
    refusal(() => read(`# ${'x'.repeat(2 ** 20)}`)),
    /is larger than 1048576 bytes$/,
  )
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[i]}`)}]`),
  ]
  assert.match(
    refusal(() => read(`${HEAD}${bomb.join('\n')}`)),
    /document contains excessive aliasing/,
  )
  assert.match(
    refusal(() => read(`${HEAD}foo: ${'['.repeat(20_000)}`)),
    /^failed to load kubelet config file/,
  )
  symlinkSync(file, join(folder, 'link'))
  writeFileSync(file, `${HEAD}maxPods: 5`)
  assert.equal(settle(`--config=${join(folder, 'link')}`).flags.number('max-pods'), 5)
})

test("the Node's labels and taints, its Lease, reservations, logs and bounds are as the file says", () => {
  const { flags } = read(
    `${HEAD}registerWithTaints: [{key: a, value: v, effect: NoSchedule}, {key: b, effect: NoExecute}]\nproviderID: x://y\nnodeLeaseDurationSeconds: 20\nnodeStatusReportFrequency: 1m\ncrashLoopBackOff: {maxContainerRestartPeriod: 7s}\ncontainerLogMaxSize: 1Mi\ncontainerLogMaxFiles: 3\nkubeReserved: {cpu: 100m}\nresolvConf: ""\nnodeStatusMaxImages: -1\nallowedUnsafeSysctls: [kernel.msg*]\nregisterNode: false\npodPidsLimit: 777\ncpuCFSQuotaPeriod: 50ms\nseccompDefault: true\npodLogsDir: logs\nimagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [a.io/x, b/*]\n`,
    '--node-labels=a=b,node.kubernetes.io/role=x',
  )
  assert.deepEqual(describedKubelet(flags), {
    registers: {
      labels: { a: 'b', 'node.kubernetes.io/role': 'x' },
      taints: [
        { key: 'a', value: 'v', effect: 'NoSchedule' },
        { key: 'b', effect: 'NoExecute' },
      ],
      providerId: 'x://y',
    },
    registersItself: false,
    lease: { seconds: 20 },
    statusReportMs: 60_000,
    longestBackOffMs: 7000,
    allowedUnsafeSysctls: ['kernel.msg*'],
    shutdownGroups: [],
  })
  const { flags: told = {}, ...settings } = describedRealKubelet(flags)
  assert.deepEqual(
    [told['provider-id'], told['pod-max-pids'], told['register-node'], told['resolv-conf']],
    ['x://y', '777', 'false', ''],
  )
  assert.deepEqual(settings, {
    logs: { largest: 1024 * 1024, mostFiles: 3 },
    mostImages: -1,
    reserved: [{}, { cpu: '100m' }],
    managers: { ...OWN_MANAGERS, cpu: { ...OWN_MANAGERS.cpu, reservedMilli: 100 } },
    limits: { periodUs: 50_000, pids: 777, holdsAllPods: true },
    swap: { behavior: 'NoSwap', killsSingleProcess: false },
    seccompDefault: true,
    pullVerification: { policy: 'NeverVerifyAllowlistedImages', allowlist: ['a.io/x', 'b/*'] },
    podLogsDir: join(folder, 'logs'),
    resolvConf: '',
    accessTimes: { tokenMs: 120_000, allowedMs: 300_000, deniedMs: 30_000 },
    accessRules: { anonymous: false, tokens: true, allowsAll: false },
    debugging: true,
    readOnlyPort: 0,
  })
  const without = describedRealKubelet(read(`${HEAD}cpuCFSQuota: false\nenforceNodeAllocatable: [none]\n`).flags)
  assert.deepEqual([without.limits, without.seccompDefault], [{ periodUs: undefined, holdsAllPods: false }, false])
  assert.equal(without.podLogsDir, '/var/log/pods')
  for (const [path, why] of [
    ['/var//log/x/', 'must be normalized'],
    ['/var/log/ü', 'mut contains ASCII characters only'],
  ])
    assert.match(
      refusal(() => read(`${HEAD}podLogsDir: ${path}\n`)),
      new RegExp(`invalid configuration: pod logs path "${path}" ${why}`),
    )
  const labels = (text: string) => refusal(() => describedKubelet(settle(`--node-labels=${text}`).flags))
  assert.match(
    labels('kubernetes.io/foo=b,a.k8s.io/x=y'),
    /^failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: \[a.k8s.io\/x kubernetes.io\/foo\]/,
  )
  assert.match(labels('a=b c'), /^failed to validate kubelet flags: invalid node labels: 'b c' - a valid label must be/)
})

test("the managers of a node's CPUs, memory and topology are as the file says", () => {
  const managers = (text: string) => describedRealKubelet(read(`${HEAD}${text}`).flags)
  const { reserved, managers: all } = managers(
    'cpuManagerPolicy: static\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}\ncpuManagerReconcilePeriod: 3s\nreservedSystemCPUs: 0,4-5\nkubeReserved: {cpu: 500m, memory: 1Gi}\nmemoryManagerPolicy: Static\nreservedMemory: [{numaNode: 1, limits: {memory: 1Gi, hugepages-2Mi: 4Mi}}]\ntopologyManagerPolicy: restricted\ntopologyManagerScope: pod\ntopologyManagerPolicyOptions: {prefer-closest-numa-nodes: "true"}\n',
  )
  assert.deepEqual(reserved, [{ cpu: '3' }, { memory: '1Gi' }])
  assert.deepEqual(all, {
    cpu: {
      policy: 'static',
      options: { ...NO_CPU_OPTIONS, fullPhysicalCpusOnly: true },
      reservedMilli: 3000,
      reservedCpus: [0, 4, 5],
      reconcileMs: 3000,
    },
    memory: { policy: 'Static', reserved: new Map([[1, { memory: 2 ** 30, 'hugepages-2Mi': 2 ** 22 }]]) },
    topology: { policy: 'restricted', scope: 'pod', options: { prefersClosestNodes: true, mostNodes: 8 } },
  })
  const refused = (text: string) => refusal(() => managers(text))
  const invalid = (why: string) => `failed to validate kubelet configuration, error: invalid configuration: ${why}`
  const reserve = (...sizes: readonly string[]) =>
    refused(`reservedMemory: [${sizes.map((size) => `{numaNode: 0, limits: {memory: ${size}}}`).join(', ')}]\n`)
  const about = 'for NUMA node 0 and resource "memory"'
  assert.equal(reserve('20Mi', '30Mi'), invalid(`the reserved memory has a duplicate value ${about}`))
  assert.equal(reserve('0'), invalid(`reserved memory may not be zero ${about}`))
  assert.equal(
    refused('reservedSystemCPUs: 0-a\n'),
    invalid(
      'unable to parse reservedSystemCPUs (--reserved-cpus) 0-a, error: strconv.Atoi: parsing "a": invalid syntax',
    ),
  )
  assert.equal(
    refused('reservedSystemCPUs: "0"\nsystemReservedCgroup: /x\n'),
    invalid(
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    ),
  )
  assert.equal(
    refused('topologyManagerScope: nope\n'),
    invalid('topologyManagerScope (--topology-manager-scope) "nope" must be one of: "container", or "pod"'),
  )
  const swapOf = (text: string) => managers(text).swap
  assert.deepEqual(swapOf('memorySwap: {swapBehavior: LimitedSwap}\nsingleProcessOOMKill: true\n'), {
    behavior: 'LimitedSwap',
    killsSingleProcess: true,
  })
  const option = (name: string, more = '') =>
    refused(`cpuManagerPolicy: static\ncpuManagerPolicyOptions: {${name}: "true"}\n${more}`)
  assert.match(refused('cpuManagerPolicy: nope\n'), /unknown policy: "nope"$/)
  assert.match(option('nope'), /unknown CPU Manager Policy option: "nope"$/)
  assert.match(
    option('align-by-socket'),
    /CPU Manager Policy Alpha-level Options not enabled, but option "align-by-socket" provided$/,
  )
  assert.equal(option('align-by-socket', 'featureGates: {CPUManagerPolicyAlphaOptions: true}\n'), '')
  assert.match(
    option('distribute-cpus-across-numa', 'featureGates: {CPUManagerPolicyBetaOptions: false}\n'),
    /CPU Manager Policy Beta-level Options not enabled, but option "distribute-cpus-across-numa" provided$/,
  )
})

test('what pods have to end when the machine goes down is as the file says, by periods or by priorities', () => {
  const groups = (text: string) => describedKubelet(read(`${HEAD}${text}`).flags).shutdownGroups
  assert.deepEqual(groups('shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\n'), [
    { priority: 0, seconds: 20 },
    { priority: 2_000_000_000, seconds: 10 },
  ])
  const own = 'shutdownGracePeriodByPodPriority: [{priority: 9, shutdownGracePeriodSeconds: 3}, {priority: -1}]\n'
  assert.deepEqual(groups(own), [
    { priority: 9, seconds: 3 },
    { priority: -1, seconds: 0 },
  ])
  assert.deepEqual(configurationOfValues(read(`${HEAD}${own}`).flags.values)['shutdownGracePeriodByPodPriority'], [
    { priority: 9, shutdownGracePeriodSeconds: 3 },
    { priority: -1 },
  ])
})

test('its server is as open as the file says, or the command line, and closed where neither says anything', () => {
  const open =
    'authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\n'
  const text = `${HEAD}${open}enableDebuggingHandlers: false\nreadOnlyPort: 10255\n`
  const { accessRules, debugging, readOnlyPort } = describedServer(read(text).flags)
  assert.deepEqual(
    [accessRules, debugging, readOnlyPort],
    [{ anonymous: true, tokens: false, allowsAll: true }, false, 10_255],
  )
  const closed = ['--anonymous-auth=false', '--authorization-mode=Webhook', '--authentication-token-webhook']
  const usual = { anonymous: false, tokens: true, allowsAll: false }
  assert.deepEqual(describedServer(read(text, ...closed).flags).accessRules, usual)
  assert.deepEqual(describedServer(settle().flags).accessRules, usual)
  assert.equal(
    refusal(() => describedServer(read(`${HEAD}authorization: {mode: Sometimes}\n`).flags)),
    'failed to run Kubelet: unknown authorization mode Sometimes',
  )
})

test('each setting is named once', () => {
  const names = KUBELET_SETTINGS.map(({ name }) => name)
  const fields = KUBELET_SETTINGS.flatMap(({ field }) => field?.join('.') ?? [])
  assert.deepEqual([new Set(names).size, new Set(fields).size], [names.length, fields.length])
})
