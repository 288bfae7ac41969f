import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
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
  '42/net/dev':
    'Inter-|   Receive    |  Transmit\n face |bytes packets\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n  eth0: 100 2 1 0 0 0 0 0 200 3 0 4 0 0 0 0\n',
})
const machine = {
  cores: 2,
  memoryBytes: 1024,
  bootId: 'b',
  machineId: 'm',
  systemUuid: 's',
  kernelVersion: '6.1',
  osVersion: 'a "system"',
}

async function metricsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const groups = await measuredGroups({
    kubelet: () => ({ pods: { get: () => pod, list: () => [pod].values() }, runtimeStatus: () => status }),
    cgroups: { groupOf: () => '/k/podu' },
    usage: async () => [{ podUid: 'u', name: 'c', rootfsBytes: 4096 } as ContainerUsage],
    sandboxImage: 'pause:1',
    mount: tree(files),
    proc,
  })
  return cadvisorMetrics(groups, machine, 9_000_000)
    .split('\n')
    .filter((line) => !line.startsWith('#'))
}
const of = (container: string, id: string, image: string, name: string, more = '') =>
  `{container="${container}",${more}id="${id}",image="${image}",name="${name}",namespace="ns",pod="p"}`
const POD = of('', '/k/podu', '', '')
const C = of('c', '/k/podu/c1', 'i:1', 'c1')

test('of control groups of version 1: the pod, its sandbox with the network, its running container', async () => {
  const lines = await metricsOf({
    'cpu/k/podu/c1/cpu.shares': '102\n',
    'cpu/k/podu/c1/cpu.cfs_period_us': '100000\n',
    'cpu/k/podu/c1/cpu.cfs_quota_us': '-1\n',
    'cpuacct/k/podu/cpuacct.usage': '3500000000\n',
    'cpuacct/k/podu/c1/cpuacct.usage': '2500000000\n',
    'cpuacct/k/podu/c1/cgroup.procs': '50\n51\n',
    'cpuacct/k/podu/c1/tasks': '50\n51\n52\n',
    'cpuacct/k/podu/s1/cgroup.procs': '42\n',
    'memory/k/podu/c1/memory.usage_in_bytes': '3000\n',
    'memory/k/podu/c1/memory.limit_in_bytes': '67108864\n',
    'memory/k/podu/c1/memory.stat': 'cache 1\ntotal_rss 700\ntotal_cache 2000\ntotal_inactive_file 1000\n',
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
  has(`container_fs_usage_bytes${C} 4096 9000000`)
  has(`container_start_time_seconds${C} 7 9000000`)
  has(`container_last_seen${C} 9000 9000000`)
  const sandbox = of('', '/k/podu/s1', 'pause:1', 's1', 'interface="eth0",')
  has(`container_network_receive_bytes_total${sandbox} 100 9000000`)
  has(`container_network_transmit_packets_dropped_total${sandbox} 4 9000000`)
  has('machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="s"} 2')
  assert.equal(
    lines.some((line) => line.includes('c0')),
    false,
    'what has ended has no group',
  )
  assert.equal(
    lines.some((line) => line.startsWith('container_spec_cpu_quota')),
    false,
    'no limit, no quota',
  )
})

test('of control groups of version 2 as of version 1', async () => {
  const lines = await metricsOf({
    'cgroup.controllers': 'cpu memory\n',
    'k/podu/c1/cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n',
    'k/podu/c1/cpu.max': '20000 100000\n',
    'k/podu/c1/cpu.weight': '4\n',
    'k/podu/c1/memory.current': '3000\n',
    'k/podu/c1/memory.max': 'max\n',
    'k/podu/c1/memory.stat': 'anon 700\nfile 2000\ninactive_file 1000\n',
    'k/podu/c1/memory.events': 'max 3\noom_kill 1\n',
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
})
