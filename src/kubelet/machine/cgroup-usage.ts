/** What a control group tells of what runs in it, by either version of cgroups. What a kernel does not tell is left out. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface GroupUsage {
  readonly cpuSeconds?: number
  readonly userSeconds?: number
  readonly systemSeconds?: number
  readonly shares?: number
  /** Microseconds; of no limit there is no quota. */
  readonly period?: number
  readonly quota?: number
  /** Of a group with a quota. */
  readonly throttling?: Throttling
  readonly memory?: MemoryUse
  /** Milliseconds since the epoch. */
  readonly madeAt?: number
  /** 0: as many as there may be. */
  readonly mostThreads?: number
  readonly processes: number
  readonly threads: number
  /** Of its own processes, without those below. */
  readonly pids: readonly number[]
}

/** Periods of the quota. */
export interface Throttling {
  readonly periods: number
  readonly throttled: number
  readonly throttledSeconds: number
  readonly bursts?: number
  readonly burstSeconds?: number
}

/** Bytes. */
export interface MemoryUse {
  readonly usage: number
  readonly workingSet: number
  readonly rss: number
  readonly cache: number
  readonly mapped: number
  readonly swap: number
  /** The most that there was. */
  readonly peak?: number
  /** 0: none. */
  readonly limit: number
  /** How often the limit was met. */
  readonly failures?: number
  readonly oomKills?: number
  readonly activeFile: number
  readonly inactiveFile: number
  readonly dirty: number
  readonly writeback: number
  readonly kernel?: number
  /** What it shall keep when memory runs short; 0: nothing. */
  readonly reservation?: number
  /** Of memory and swap by version 1, of swap alone by version 2; 0: none. */
  readonly swapLimit?: number
  /** Of its own processes, and of those below too. */
  readonly pageFaults: readonly [own: number, all: number]
  readonly majorPageFaults: readonly [own: number, all: number]
  /** What version 2 alone counts. */
  readonly reclaim?: Reclaim
}

export interface Reclaim {
  readonly eventsHigh: number
  readonly eventsMax: number
  readonly scanned: number
  readonly stolen: number
  readonly refaultsAnon: number
  readonly refaultsFile: number
}

/** As much as a kernel of version 1 says for no limit, or more. */
const UNLIMITED = 2 ** 62

/** `path`: from the top of the hierarchy. Undefined: there is no such group. */
export function groupUsage(mount: string, path: string): GroupUsage | undefined {
  return existsSync(join(mount, 'cgroup.controllers')) ? second(join(mount, path)) : first(mount, path)
}

function second(group: string): GroupUsage | undefined {
  if (!existsSync(group)) return undefined
  const cpu = table(join(group, 'cpu.stat'))
  const stat = table(join(group, 'memory.stat'))
  const usage = number(join(group, 'memory.current')) ?? usageOfHighest(stat)
  const events = table(join(group, 'memory.events'))
  const [quota, period] = (read(join(group, 'cpu.max')) ?? '').split(' ')
  const seconds = (name: string) => (cpu.get(name) ?? 0) / 1e6
  return {
    ...(cpu.size === 0
      ? {}
      : {
          cpuSeconds: seconds('usage_usec'),
          userSeconds: seconds('user_usec'),
          systemSeconds: seconds('system_usec'),
        }),
    ...sharesOfWeight(number(join(group, 'cpu.weight'))),
    ...(period ? { period: Number(period), ...(quota === 'max' ? {} : { quota: Number(quota) }) } : {}),
    ...throttlingOf(cpu, quota !== undefined && quota !== '' && quota !== 'max', 'usec', 1e6),
    ...(usage === undefined
      ? {}
      : {
          memory: {
            usage,
            workingSet: Math.max(0, usage - (stat.get('inactive_file') ?? 0)),
            rss: stat.get('anon') ?? 0,
            cache: stat.get('file') ?? 0,
            mapped: stat.get('file_mapped') ?? 0,
            swap: number(join(group, 'memory.swap.current')) ?? 0,
            ...optional('peak', number(join(group, 'memory.peak'))),
            limit: number(join(group, 'memory.max')) ?? 0,
            ...optional('failures', events.get('max')),
            ...optional('oomKills', events.get('oom_kill')),
            activeFile: stat.get('active_file') ?? 0,
            inactiveFile: stat.get('inactive_file') ?? 0,
            dirty: stat.get('file_dirty') ?? 0,
            writeback: stat.get('file_writeback') ?? 0,
            ...optional('kernel', stat.get('kernel')),
            reservation: number(join(group, 'memory.low')) ?? 0,
            swapLimit: number(join(group, 'memory.swap.max')) ?? 0,
            pageFaults: [stat.get('pgfault') ?? 0, stat.get('pgfault') ?? 0],
            majorPageFaults: [stat.get('pgmajfault') ?? 0, stat.get('pgmajfault') ?? 0],
            reclaim: {
              eventsHigh: events.get('high') ?? 0,
              eventsMax: events.get('max') ?? 0,
              scanned: stat.get('pgscan') ?? 0,
              stolen: stat.get('pgsteal') ?? 0,
              refaultsAnon: stat.get('workingset_refault_anon') ?? 0,
              refaultsFile: stat.get('workingset_refault_file') ?? 0,
            },
          },
        }),
    ...madeAt(group),
    ...mostThreads(group),
    ...tasks(group, 'cgroup.threads'),
  }
}

function throttlingOf(stat: ReadonlyMap<string, number>, hasQuota: boolean, unit: string, perSecond: number) {
  const periods = stat.get('nr_periods')
  if (!hasQuota || periods === undefined) return {}
  const throttling: Throttling = {
    periods,
    throttled: stat.get('nr_throttled') ?? 0,
    throttledSeconds: (stat.get(`throttled_${unit}`) ?? 0) / perSecond,
    ...optional('bursts', stat.get('nr_bursts')),
    ...(stat.has(`burst_${unit}`) ? { burstSeconds: stat.get(`burst_${unit}`)! / perSecond } : {}),
  }
  return { throttling }
}

function madeAt(group: string): Pick<GroupUsage, 'madeAt'> {
  const stat = statSync(group, { throwIfNoEntry: false })
  return stat === undefined ? {} : { madeAt: Math.min(stat.mtimeMs, stat.ctimeMs) }
}

function mostThreads(group: string): Pick<GroupUsage, 'mostThreads'> {
  const most = read(join(group, 'pids.max'))
  return most === undefined ? {} : { mostThreads: most === 'max' ? 0 : Number(most) }
}

/** The way back from the weight that the kubelet makes of shares. */
const sharesOfWeight = (weight: number | undefined): Pick<GroupUsage, 'shares'> =>
  weight === undefined ? {} : { shares: Math.round(((weight - 1) * 262_142) / 9999 + 2) }

function first(mount: string, path: string): GroupUsage | undefined {
  const tree = (...names: string[]) => names.map((name) => join(mount, name, path)).find((one) => existsSync(one))
  const cpuacct = tree('cpuacct', 'cpu,cpuacct')
  const cpu = tree('cpu', 'cpu,cpuacct')
  const memory = tree('memory')
  const any = cpuacct ?? memory ?? cpu
  if (any === undefined) return undefined
  const seconds = (name: string, file: string) => {
    const nanos = cpuacct === undefined ? undefined : number(join(cpuacct, file))
    return nanos === undefined ? {} : { [name]: nanos / 1e9 }
  }
  const quota = cpu === undefined ? undefined : number(join(cpu, 'cpu.cfs_quota_us'))
  return {
    ...seconds('cpuSeconds', 'cpuacct.usage'),
    ...seconds('userSeconds', 'cpuacct.usage_user'),
    ...seconds('systemSeconds', 'cpuacct.usage_sys'),
    ...(cpu === undefined ? {} : optional('shares', number(join(cpu, 'cpu.shares')))),
    ...(cpu === undefined ? {} : optional('period', number(join(cpu, 'cpu.cfs_period_us')))),
    ...(quota === undefined || quota < 0 ? {} : { quota }),
    ...(cpu === undefined ? {} : throttlingOf(table(join(cpu, 'cpu.stat')), (quota ?? -1) >= 0, 'time', 1e9)),
    ...(memory === undefined ? {} : memoryOf(memory)),
    ...madeAt(any),
    ...mostThreads(tree('pids') ?? any),
    ...tasks(any, 'tasks'),
  }
}

/** The highest group has no memory.current; by version 1 its usage is this sum. */
function usageOfHighest(stat: ReadonlyMap<string, number>): number | undefined {
  const [anon, file] = [stat.get('anon'), stat.get('file')]
  return anon === undefined || file === undefined ? undefined : anon + file
}

function memoryOf(group: string): Pick<GroupUsage, 'memory'> {
  const usage = number(join(group, 'memory.usage_in_bytes'))
  if (usage === undefined) return {}
  const stat = table(join(group, 'memory.stat'))
  const limitOf = (file: string) => {
    const limit = number(join(group, file))
    return limit !== undefined && limit >= UNLIMITED ? 0 : limit
  }
  const faults = (name: string) => [stat.get(name) ?? 0, stat.get(`total_${name}`) ?? 0] as const
  return {
    memory: {
      usage,
      workingSet: Math.max(0, usage - (stat.get('total_inactive_file') ?? 0)),
      rss: stat.get('total_rss') ?? 0,
      cache: stat.get('total_cache') ?? 0,
      mapped: stat.get('total_mapped_file') ?? 0,
      swap: stat.get('total_swap') ?? 0,
      ...optional('peak', number(join(group, 'memory.max_usage_in_bytes'))),
      limit: limitOf('memory.limit_in_bytes') ?? 0,
      ...optional('failures', number(join(group, 'memory.failcnt'))),
      ...optional('oomKills', table(join(group, 'memory.oom_control')).get('oom_kill')),
      activeFile: stat.get('total_active_file') ?? 0,
      inactiveFile: stat.get('total_inactive_file') ?? 0,
      dirty: stat.get('total_dirty') ?? 0,
      writeback: stat.get('total_writeback') ?? 0,
      ...optional('kernel', number(join(group, 'memory.kmem.usage_in_bytes'))),
      ...optional('reservation', limitOf('memory.soft_limit_in_bytes')),
      ...optional('swapLimit', limitOf('memory.memsw.limit_in_bytes')),
      pageFaults: faults('pgfault'),
      majorPageFaults: faults('pgmajfault'),
    },
  }
}

function tasks(group: string, threads: string): Pick<GroupUsage, 'processes' | 'threads' | 'pids'> {
  const lines = (file: string) => (read(join(group, file)) ?? '').split('\n').filter((line) => line !== '')
  const pids = lines('cgroup.procs').map(Number)
  return { processes: pids.length, threads: lines(threads).length, pids }
}

const optional = <Name extends string>(name: Name, value: number | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<Name, number>>

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Of a file with one number; undefined for what is none, as `max`. */
function number(file: string): number | undefined {
  const text = read(file)
  return text === undefined || !/^-?\d+$/.test(text) ? undefined : Number(text)
}

function table(file: string): ReadonlyMap<string, number> {
  const lines = (read(file) ?? '').split('\n').map((line) => line.split(' '))
  return new Map(lines.flatMap(([name, value]) => (name && value ? [[name, Number(value)] as const] : [])))
}
