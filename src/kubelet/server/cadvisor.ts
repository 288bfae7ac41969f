/** /metrics/cadvisor: what the machine, its pods and their containers use, by the names and labels that cAdvisor gave them. */
import type { GroupUsage, MemoryUse, Reclaim, Throttling } from '../machine/cgroup-usage.ts'
import type { DiskTraffic, DiskUse } from '../machine/disk-usage.ts'
import type { InterfaceUse, OpenFiles } from '../machine/process-usage.ts'

export interface MeasuredGroup {
  /** The group's path. */
  readonly id: string
  /** '' for what is no container of a pod: the machine, a pod, its sandbox. */
  readonly container: string
  readonly image: string
  /** The id that the runtime has for it. */
  readonly name: string
  readonly namespace: string
  readonly pod: string
  readonly usage: GroupUsage
  /** Milliseconds since the epoch. */
  readonly startedAt?: number
  readonly writableBytes?: number
  readonly interfaces?: readonly InterfaceUse[]
  readonly openFiles?: OpenFiles
  /** Of the machine. */
  readonly disks?: readonly DiskUse[]
}

export interface MeasuredMachine {
  readonly cores: number
  readonly sockets: number
  readonly physicalCores: number
  readonly memoryBytes: number
  readonly swapBytes: number
  readonly bootId: string
  readonly machineId: string
  readonly systemUuid: string
  readonly kernelVersion: string
  readonly osVersion: string
}

type Labels = Readonly<Record<string, string | number>>
type Row = readonly [labels: Labels, value: number]

interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  /** Undefined and empty: it is not told of this group. */
  readonly of: (group: MeasuredGroup) => number | readonly Row[] | undefined
}

const family = (name: string, type: Family['type'], help: string, of: Family['of']): Family => ({
  name: `container_${name}`,
  help,
  type,
  of,
})
const memory = (
  name: string,
  help: string,
  of: (memory: MemoryUse) => number | undefined,
  type: Family['type'] = 'gauge',
) => family(name, type, help, ({ usage }) => (usage.memory === undefined ? undefined : of(usage.memory)))
const isContainer = ({ container }: MeasuredGroup) => container !== ''

const throttling = (name: string, help: string, of: (throttling: Throttling) => number | undefined) =>
  family(`cpu_cfs_${name}_total`, 'counter', help, ({ usage }) =>
    usage.throttling === undefined ? undefined : of(usage.throttling),
  )
const reclaim = (name: string, help: string, of: (reclaim: Reclaim) => number) =>
  memory(`memory_${name}_total`, help, (use) => (use.reclaim === undefined ? undefined : of(use.reclaim)), 'counter')
const disk = (name: string, type: Family['type'], help: string, of: (disk: DiskUse) => number | undefined) =>
  family(`fs_${name}`, type, help, ({ disks = [] }) =>
    disks.flatMap((one) => {
      const told = of(one)
      return told === undefined ? [] : [[{ device: one.device }, told] as const]
    }),
  )
const traffic = (name: string, help: string, of: (traffic: DiskTraffic) => number, type: Family['type'] = 'counter') =>
  disk(name, type, help, ({ input }) => (input === undefined ? undefined : of(input)))

const COUNTS = ['bytes', 'packets', 'errors', 'packets_dropped'] as const
const network = (['receive', 'transmit'] as const).flatMap((way) =>
  COUNTS.map((what, at) =>
    family(
      `network_${way}_${what}_total`,
      'counter',
      `Network, ${way}: ${what.replace('_', ' ')}.`,
      ({ interfaces = [] }) => interfaces.map((one) => [{ interface: one.name }, one[way][at] ?? 0] as const),
    ),
  ),
)

const FAMILIES: readonly Family[] = [
  family('cpu_usage_seconds_total', 'counter', 'CPU time in seconds.', ({ usage }) =>
    usage.cpuSeconds === undefined ? undefined : [[{ cpu: 'total' }, usage.cpuSeconds]],
  ),
  family('cpu_user_seconds_total', 'counter', 'CPU time in seconds, of programs.', ({ usage }) => usage.userSeconds),
  family(
    'cpu_system_seconds_total',
    'counter',
    'CPU time in seconds, of the kernel.',
    ({ usage }) => usage.systemSeconds,
  ),
  throttling('burst_periods', 'Periods with a burst.', ({ bursts }) => bursts),
  throttling('burst_seconds', 'How long it burst.', ({ burstSeconds }) => burstSeconds),
  throttling('periods', 'Periods of the CPU quota that have passed.', ({ periods }) => periods),
  throttling('throttled_periods', 'Periods in which it was throttled.', ({ throttled }) => throttled),
  throttling('throttled_seconds', 'How long it was throttled.', ({ throttledSeconds }) => throttledSeconds),
  family('creation_time_seconds', 'gauge', 'When its group was made, in seconds of Unix time.', ({ usage }) =>
    usage.madeAt === undefined ? undefined : Math.floor(usage.madeAt / 1000),
  ),
  family('file_descriptors', 'gauge', 'Open files.', ({ openFiles }) => openFiles?.descriptors),
  disk('inodes_free', 'gauge', 'Free inodes.', ({ inodesFree }) => inodesFree),
  disk('inodes_total', 'gauge', 'Inodes.', ({ inodes }) => inodes),
  traffic('io_current', 'Reads and writes in flight.', ({ current }) => current, 'gauge'),
  traffic('io_time_seconds_total', 'How long there were reads or writes.', ({ busySeconds }) => busySeconds),
  traffic('io_time_weighted_seconds_total', 'The same, each counted.', ({ weightedSeconds }) => weightedSeconds),
  disk('limit_bytes', 'gauge', 'What the file system holds, in bytes.', ({ capacityBytes }) => capacityBytes),
  traffic('read_seconds_total', 'How long reads took.', ({ readSeconds }) => readSeconds),
  traffic('reads_merged_total', 'Reads that were merged with others.', ({ readsMerged }) => readsMerged),
  traffic('reads_total', 'Reads.', ({ reads }) => reads),
  traffic('sector_reads_total', 'Sectors read.', ({ sectorsRead }) => sectorsRead),
  traffic('sector_writes_total', 'Sectors written.', ({ sectorsWritten }) => sectorsWritten),
  family('fs_usage_bytes', 'gauge', 'Bytes in use on the device; of a container: of its writable layer.', (group) =>
    group.writableBytes === undefined
      ? group.disks?.map(({ device, usedBytes }) => [{ device }, usedBytes] as const)
      : [[{ device: '' }, group.writableBytes]],
  ),
  traffic('write_seconds_total', 'How long writes took.', ({ writeSeconds }) => writeSeconds),
  traffic('writes_merged_total', 'Writes that were merged with others.', ({ writesMerged }) => writesMerged),
  traffic('writes_total', 'Writes.', ({ writes }) => writes),
  family('last_seen', 'gauge', 'When it was last seen, in seconds of Unix time.', () => undefined),
  memory('memory_cache', 'Page cache in bytes.', ({ cache }) => cache),
  reclaim('events_high', 'How often memory met its high mark.', ({ eventsHigh }) => eventsHigh),
  reclaim('events_max', 'How often memory was about to pass its limit.', ({ eventsMax }) => eventsMax),
  memory('memory_failcnt', 'How often memory met its limit.', ({ failures }) => failures, 'counter'),
  family('memory_failures_total', 'counter', 'Page faults.', ({ usage: { memory: use } }) =>
    use === undefined ? undefined : failuresOf(use),
  ),
  memory('memory_file_dirty_bytes', 'Pages of files to be written, in bytes.', ({ dirty }) => dirty),
  memory('memory_file_writeback_bytes', 'Pages of files being written, in bytes.', ({ writeback }) => writeback),
  memory('memory_kernel_usage', 'Memory that the kernel holds for it, in bytes.', ({ kernel }) => kernel),
  memory('memory_mapped_file', 'Mapped files in bytes.', ({ mapped }) => mapped),
  memory('memory_max_usage_bytes', 'The most memory in use, in bytes.', ({ peak }) => peak),
  reclaim('pgscan', 'Pages looked at for reclaim.', ({ scanned }) => scanned),
  reclaim('pgsteal', 'Pages reclaimed.', ({ stolen }) => stolen),
  memory('memory_rss', 'Anonymous memory in bytes.', ({ rss }) => rss),
  memory('memory_swap', 'Swapped out, in bytes.', ({ swap }) => swap),
  memory('memory_total_active_file_bytes', 'Active pages of files in bytes.', ({ activeFile }) => activeFile),
  memory('memory_total_inactive_file_bytes', 'Inactive pages of files in bytes.', ({ inactiveFile }) => inactiveFile),
  memory('memory_usage_bytes', 'Memory in use in bytes, the page cache with it.', ({ usage }) => usage),
  memory('memory_working_set_bytes', 'Working set in bytes.', ({ workingSet }) => workingSet),
  reclaim('workingset_refault_anon', 'Refaults of anonymous pages.', ({ refaultsAnon }) => refaultsAnon),
  reclaim('workingset_refault_file', 'Refaults of pages of files.', ({ refaultsFile }) => refaultsFile),
  ...network,
  memory(
    'oom_events_total',
    'How often a process was killed for want of memory.',
    ({ oomKills }) => oomKills,
    'counter',
  ),
  family('processes', 'gauge', 'Processes.', (group) => (isContainer(group) ? group.usage.processes : undefined)),
  family('sockets', 'gauge', 'Open sockets.', ({ openFiles }) => openFiles?.sockets),
  family('spec_cpu_period', 'gauge', 'The period of the CPU quota in microseconds.', ({ usage }) => usage.period),
  family('spec_cpu_quota', 'gauge', 'The CPU quota of a period in microseconds.', ({ usage }) => usage.quota),
  family('spec_cpu_shares', 'gauge', 'CPU shares.', ({ usage }) => usage.shares),
  memory('spec_memory_limit_bytes', 'Limit of memory in bytes; 0: none.', ({ limit }) => limit),
  memory(
    'spec_memory_reservation_limit_bytes',
    'What it keeps when memory runs short, in bytes; 0: nothing.',
    ({ reservation }) => reservation,
  ),
  memory('spec_memory_swap_limit_bytes', 'Limit of swap in bytes; 0: none.', ({ swapLimit }) => swapLimit),
  family('start_time_seconds', 'gauge', 'When it began, in seconds of Unix time.', ({ startedAt, usage }) => {
    const time = startedAt ?? usage.madeAt
    return time === undefined ? undefined : Math.floor(time / 1000)
  }),
  family('threads', 'gauge', 'Threads.', (group) => (isContainer(group) ? group.usage.threads : undefined)),
  family('threads_max', 'gauge', 'How many threads it may have; 0: no limit.', ({ usage }) => usage.mostThreads),
  family('ulimits_soft', 'gauge', 'Soft limits of its first process.', ({ openFiles }) =>
    openFiles?.most === undefined ? undefined : [[{ ulimit: 'max_open_files' }, openFiles.most]],
  ),
]

function failuresOf({ pageFaults, majorPageFaults }: MemoryUse): readonly Row[] {
  const kinds = [['pgfault', pageFaults] as const, ['pgmajfault', majorPageFaults] as const]
  return kinds.flatMap(([failure_type, [own, all]]) => [
    [{ failure_type, scope: 'container' }, own] as const,
    [{ failure_type, scope: 'hierarchy' }, all] as const,
  ])
}

/** Prometheus' text format; `now` in milliseconds since the epoch. */
export function cadvisorMetrics(groups: readonly MeasuredGroup[], machine: MeasuredMachine, now: number): string {
  const { bootId: boot_id, machineId: machine_id, systemUuid: system_uuid } = machine
  const ids = { boot_id, machine_id, system_uuid }
  const version = {
    cadvisorRevision: '',
    cadvisorVersion: '',
    dockerVersion: '',
    kernelVersion: machine.kernelVersion,
    osVersion: machine.osVersion,
  }
  const seen = Math.floor(now / 1000)
  const blocks = FAMILIES.map(({ name, help, type, of }) => {
    const lines = groups.flatMap((group) => {
      const { container, id, image, name: runtimeName, namespace, pod } = group
      const told = name === 'container_last_seen' ? seen : of(group)
      if (told === undefined) return []
      const rows: readonly Row[] = typeof told === 'number' ? [[{}, told]] : told
      return rows.map(([own, value]) =>
        line(name, { container, ...own, id, image, name: runtimeName, namespace, pod }, value, now),
      )
    })
    return lines.length === 0 ? '' : header(name, help, type) + lines.join('')
  })
  return [
    header('cadvisor_version_info', 'The kernel and the system; always 1.', 'gauge'),
    line('cadvisor_version_info', version, 1),
    ...blocks,
    header('container_scrape_error', '1: not all could be measured.', 'gauge'),
    line('container_scrape_error', {}, 0),
    ...MACHINE.flatMap(([name, help, of]) => [header(name, help, 'gauge'), line(name, ids, of(machine))]),
    header('machine_scrape_error', '1: the machine could not be measured.', 'gauge'),
    line('machine_scrape_error', {}, 0),
  ].join('')
}

const MACHINE: readonly (readonly [name: string, help: string, of: (machine: MeasuredMachine) => number])[] = [
  ['machine_cpu_cores', 'Logical processors.', ({ cores }) => cores],
  ['machine_cpu_physical_cores', 'Cores of processors.', ({ physicalCores }) => physicalCores],
  ['machine_cpu_sockets', 'Sockets with a processor.', ({ sockets }) => sockets],
  ['machine_memory_bytes', 'Memory of the machine in bytes.', ({ memoryBytes }) => memoryBytes],
  ['machine_swap_bytes', 'Swap of the machine in bytes.', ({ swapBytes }) => swapBytes],
]

const header = (name: string, help: string, type: string) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

function line(name: string, labels: Labels, value: number, time?: number): string {
  const pairs = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, text]) => `${key}=${JSON.stringify(String(text))}`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}${time === undefined ? '' : ` ${Math.round(time)}`}\n`
}
