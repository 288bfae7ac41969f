/** /metrics/cadvisor: what the machine, its pods and their containers use, by the names and labels that cAdvisor gave them. */
import type { GroupUsage, InterfaceUse, MemoryUse } from '../machine/cgroup-usage.ts'

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
}

export interface MeasuredMachine {
  readonly cores: number
  readonly memoryBytes: number
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
  family('fs_usage_bytes', 'gauge', 'Bytes of the writable layer.', ({ writableBytes }) => writableBytes),
  family('last_seen', 'gauge', 'When it was last seen, in seconds of Unix time.', () => undefined),
  memory('memory_cache', 'Page cache in bytes.', ({ cache }) => cache),
  memory('memory_failcnt', 'How often memory met its limit.', ({ failures }) => failures, 'counter'),
  memory('memory_mapped_file', 'Mapped files in bytes.', ({ mapped }) => mapped),
  memory('memory_max_usage_bytes', 'The most memory in use, in bytes.', ({ peak }) => peak),
  memory('memory_rss', 'Anonymous memory in bytes.', ({ rss }) => rss),
  memory('memory_swap', 'Swapped out, in bytes.', ({ swap }) => swap),
  memory('memory_usage_bytes', 'Memory in use in bytes, the page cache with it.', ({ usage }) => usage),
  memory('memory_working_set_bytes', 'Working set in bytes.', ({ workingSet }) => workingSet),
  ...network,
  memory(
    'oom_events_total',
    'How often a process was killed for want of memory.',
    ({ oomKills }) => oomKills,
    'counter',
  ),
  family('processes', 'gauge', 'Processes.', (group) => (isContainer(group) ? group.usage.processes : undefined)),
  family('spec_cpu_period', 'gauge', 'The period of the CPU quota in microseconds.', ({ usage }) => usage.period),
  family('spec_cpu_quota', 'gauge', 'The CPU quota of a period in microseconds.', ({ usage }) => usage.quota),
  family('spec_cpu_shares', 'gauge', 'CPU shares.', ({ usage }) => usage.shares),
  memory('spec_memory_limit_bytes', 'Limit of memory in bytes; 0: none.', ({ limit }) => limit),
  family('start_time_seconds', 'gauge', 'When it began, in seconds of Unix time.', ({ startedAt }) =>
    startedAt === undefined ? undefined : Math.floor(startedAt / 1000),
  ),
  family('threads', 'gauge', 'Threads.', (group) => (isContainer(group) ? group.usage.threads : undefined)),
]

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
    header('machine_cpu_cores', 'Logical processors.', 'gauge'),
    line('machine_cpu_cores', ids, machine.cores),
    header('machine_memory_bytes', 'Memory of the machine in bytes.', 'gauge'),
    line('machine_memory_bytes', ids, machine.memoryBytes),
  ].join('')
}

const header = (name: string, help: string, type: string) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

function line(name: string, labels: Labels, value: number, time?: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(String(text))}`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}${time === undefined ? '' : ` ${Math.round(time)}`}\n`
}
