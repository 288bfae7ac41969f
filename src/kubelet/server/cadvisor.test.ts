import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { machineDisks } from '../machine/disk-usage.ts'
import { measuredGroups } from '../machine/measured-groups.ts'
import type { Pod } from '../pod.ts'
import type { ContainerUsage } from '../runtimes/runtime.ts'
import { cadvisorMetrics } from './cadvisor.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'skiff-groups-'))
  folders.push(root)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'ns', uid: 'u' } } as Pod
const status = {
  uid: 'u',
  ips: [],
  sandboxes: [{ id: 's1', state: 'ready', createdAt: 5000 }],
  containers: [
    { id: 'c1', state: 'running', metadata: { name: 'c', attempt: 0 }, image: 'i:1', startedAt: 7000 },
    { id: 'c0', state: 'exited', metadata: { name: 'c', attempt: 0 }, image: 'i:1', startedAt: 6000 },
  ],
} as never
const proc = tree({
  '50/fd/0': '',
  '50/fd/1': '',
  '50/limits':
    'Limit Soft Limit Hard Limit Units\nMax open files            1024                 4096                 files\n',
  '42/net/dev':
    'Inter-|   Receive    |  Transmit\n face |bytes packets\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n  eth0: 100 2 1 0 0 0 0 0 200 3 0 4 0 0 0 0\n',
})
const machine = {
  cores: 2,
  memoryBytes: 1024,
  sockets: 1,
  physicalCores: 1,
  swapBytes: 0,
  bootId: 'b',
  machineId: 'm',
  systemUuid: 's',
  kernelVersion: '6.1',
  osVersion: 'a "system"',
}

async function metricsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const groups = await measuredGroups({
    kubelet: () => ({ pods: { get: () => pod, list: () => [pod].values() }, runtimeStatus: () => status }),
    cgroups: { podsGroup: '/none', groupOf: () => '/k/podu' },
    usage: async () => [{ podUid: 'u', name: 'c', rootfsBytes: 4096 } as ContainerUsage],
    sandboxImage: 'pause:1',
    mount: tree(files),
    proc,
    disks: () => [],
  })
  return cadvisorMetrics(groups, machine, 9_000_000)
    .split('\n')
    .filter((line) => !line.startsWith('#'))
}
const of = (container: string, id: string, image: string, name: string, cpu = '', network = '') =>
  `{container="${container}",${cpu}id="${id}",image="${image}",${network}name="${name}",namespace="ns",pod="p"}`
const POD = of('', '/k/podu', '', '')
const C = of('c', '/k/podu/c1', 'i:1', 'c1')

test('of control groups of version 1: the pod, its sandbox with the network, its running container', async () => {
  const lines = await metricsOf({
    'cpu/k/podu/c1/cpu.shares': '102\n',
    'cpu/k/podu/c1/cpu.cfs_period_us': '100000\n',
    'cpu/k/podu/c1/cpu.cfs_quota_us': '-1\n',
    'cpu/k/podu/cpu.cfs_quota_us': '20000\n',
    'cpu/k/podu/cpu.stat': 'nr_periods 9\nnr_throttled 2\nthrottled_time 1500000000\n',
    'pids/k/podu/c1/pids.max': '512\n',
    'cpuacct/k/podu/cpuacct.usage': '3500000000\n',
    'cpuacct/k/podu/c1/cpuacct.usage': '2500000000\n',
    'cpuacct/k/podu/c1/cgroup.procs': '50\n51\n',
    'cpuacct/k/podu/c1/tasks': '50\n51\n52\n',
    'cpuacct/k/podu/s1/cgroup.procs': '42\n',
    'memory/k/podu/c1/memory.usage_in_bytes': '3000\n',
    'memory/k/podu/c1/memory.limit_in_bytes': '67108864\n',
    'memory/k/podu/c1/memory.stat':
      'cache 1\ntotal_rss 700\ntotal_cache 2000\ntotal_inactive_file 1000\npgfault 3\ntotal_pgfault 4\n',
    'memory/k/podu/memory.usage_in_bytes': '4000\n',
    'memory/k/podu/memory.limit_in_bytes': '9223372036854771712\n',
  })
  const has = (line: string) => assert.ok(lines.includes(line), `${line} is not in\n${lines.join('\n')}`)
  has(`container_cpu_usage_seconds_total${of('c', '/k/podu/c1', 'i:1', 'c1', 'cpu="total",')} 2.5 9000000`)
  has(`container_memory_working_set_bytes${C} 2000 9000000`)
  has(`container_memory_rss${C} 700 9000000`)
  has(`container_spec_memory_limit_bytes${C} 67108864 9000000`)
  has(`container_spec_memory_limit_bytes${POD} 0 9000000`)
  has(`container_spec_cpu_shares${C} 102 9000000`)
  has(`container_processes${C} 2 9000000`)
  has(`container_threads${C} 3 9000000`)
  has(`container_fs_usage_bytes${of('c', '/k/podu/c1', 'i:1', 'c1', 'device="",')} 4096 9000000`)
  has(`container_start_time_seconds${C} 7 9000000`)
  has(`container_last_seen${C} 9000 9000000`)
  const sandbox = of('', '/k/podu/s1', 'pause:1', 's1', '', 'interface="eth0",')
  has(`container_network_receive_bytes_total${sandbox} 100 9000000`)
  has(`container_network_transmit_packets_dropped_total${sandbox} 4 9000000`)
  has('machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="s"} 2')
  assert.equal(
    lines.some((line) => line.includes('c0')),
    false,
    'what has ended has no group',
  )
  assert.equal(
    lines.some((line) => line.startsWith('container_spec_cpu_quota') && line.includes('c1')),
    false,
    'no limit, no quota',
  )
  has(`container_cpu_cfs_throttled_periods_total${POD} 2 9000000`)
  has(`container_cpu_cfs_throttled_seconds_total${POD} 1.5 9000000`)
  has(`container_threads_max${C} 512 9000000`)
  has(`container_file_descriptors${C} 2 9000000`)
  has(`container_ulimits_soft${C.replace(/}$/, ',ulimit="max_open_files"}')} 1024 9000000`)
  const faults = of('c', '/k/podu/c1', 'i:1', 'c1', 'failure_type="pgfault",')
  has(`container_memory_failures_total${faults.replace(/}$/, ',scope="container"}')} 3 9000000`)
  has(`container_memory_failures_total${faults.replace(/}$/, ',scope="hierarchy"}')} 4 9000000`)
  assert.equal(
    lines.some((line) => line.startsWith('container_memory_pgscan')),
    false,
    'version 1 does not count it',
  )
})

test('the group that all pods share is told while there are none', async () => {
  const groups = await measuredGroups({
    kubelet: () => undefined,
    cgroups: { podsGroup: '/k', groupOf: () => '' },
    usage: async () => [],
    sandboxImage: '',
    mount: tree({ 'cgroup.controllers': '', 'k/memory.current': '4096' }),
    proc,
    disks: () => [],
  })
  const shared = groups.find(({ id }) => id === '/k')
  assert.deepEqual([shared?.pod, shared?.usage.memory?.usage], ['', 4096])
})

test('of control groups of version 2 as of version 1', async () => {
  const lines = await metricsOf({
    'cgroup.controllers': 'cpu memory\n',
    'k/podu/c1/cpu.max': '20000 100000\n',
    'k/podu/c1/cpu.weight': '4\n',
    'k/podu/c1/memory.current': '3000\n',
    'k/podu/c1/memory.max': 'max\n',
    'k/podu/c1/memory.stat': 'anon 700\nfile 2000\ninactive_file 1000\npgscan 6\n',
    'k/podu/c1/memory.events': 'max 3\noom_kill 1\n',
    'k/podu/c1/cpu.stat':
      'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\nnr_periods 9\nnr_throttled 2\nthrottled_usec 7000000\n',
    'k/podu/c1/cgroup.procs': '50\n',
  })
  const has = (line: string) => assert.ok(lines.includes(line), `${line} is not in\n${lines.join('\n')}`)
  has(`container_cpu_usage_seconds_total${of('c', '/k/podu/c1', 'i:1', 'c1', 'cpu="total",')} 2.5 9000000`)
  has(`container_cpu_user_seconds_total${C} 2 9000000`)
  has(`container_spec_cpu_quota${C} 20000 9000000`)
  has(`container_memory_working_set_bytes${C} 2000 9000000`)
  has(`container_memory_failcnt${C} 3 9000000`)
  has(`container_oom_events_total${C} 1 9000000`)
  has(`container_spec_memory_limit_bytes${C} 0 9000000`)
  has(`container_cpu_cfs_throttled_seconds_total${C} 7 9000000`)
  has(`container_memory_pgscan_total${C} 6 9000000`)
})

test('of the machine its devices, each once, with what has been read and written', () => {
  const of = tree({
    'self/mountinfo':
      '22 1 254:0 / / rw - ext4 /dev/vda rw\n23 1 254:0 /x /var/log rw - ext4 /dev/vda rw\n24 1 0:5 / /run rw - tmpfs tmpfs rw\n',
    diskstats: ' 254 0 vda 10 1 80 2000 20 2 160 3000 1 4000 5000 0 0 0 0\n',
  })
  const at = () => ({ capacityBytes: 100, availableBytes: 30, freeBytes: 40, inodes: 9, inodesFree: 8 })
  const [disk, ...more] = machineDisks(of, at)
  assert.deepEqual(more, [])
  const root = { container: '', id: '/', image: '', name: '', namespace: '', pod: '' }
  const usage = { processes: 0, threads: 0, pids: [] }
  const lines = cadvisorMetrics([{ ...root, usage, disks: [disk!] }], machine, 9_000_000).split('\n')
  const labels = '{container="",device="/dev/vda",id="/",image="",name="",namespace="",pod=""}'
  for (const line of [
    `container_fs_usage_bytes${labels} 60 9000000`,
    `container_fs_limit_bytes${labels} 100 9000000`,
    `container_fs_writes_total${labels} 20 9000000`,
    `container_fs_write_seconds_total${labels} 3 9000000`,
    `container_fs_io_time_weighted_seconds_total${labels} 5 9000000`,
  ])
    assert.ok(lines.includes(line), line)
})
