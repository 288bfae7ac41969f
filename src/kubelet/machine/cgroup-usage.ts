/** What a control group tells of what runs in it, by either version of cgroups. What a kernel does not tell is left out. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface GroupUsage {
  readonly cpuSeconds?: number
  readonly userSeconds?: number
  readonly systemSeconds?: number
  readonly shares?: number
  /** Microseconds; of no limit there is no quota. */
  readonly period?: number
  readonly quota?: number
  readonly memory?: MemoryUse
  readonly processes: number
  readonly threads: number
  /** Of its own processes, without those below. */
  readonly pids: readonly number[]
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
  const usage = number(join(group, 'memory.current'))
  const stat = table(join(group, 'memory.stat'))
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
          },
        }),
    ...tasks(group, 'cgroup.threads'),
  }
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
    ...(memory === undefined ? {} : memoryOf(memory)),
    ...tasks(any, 'tasks'),
  }
}

function memoryOf(group: string): Pick<GroupUsage, 'memory'> {
  const usage = number(join(group, 'memory.usage_in_bytes'))
  if (usage === undefined) return {}
  const stat = table(join(group, 'memory.stat'))
  const limit = number(join(group, 'memory.limit_in_bytes')) ?? 0
  return {
    memory: {
      usage,
      workingSet: Math.max(0, usage - (stat.get('total_inactive_file') ?? 0)),
      rss: stat.get('total_rss') ?? 0,
      cache: stat.get('total_cache') ?? 0,
      mapped: stat.get('total_mapped_file') ?? 0,
      swap: stat.get('total_swap') ?? 0,
      ...optional('peak', number(join(group, 'memory.max_usage_in_bytes'))),
      limit: limit >= UNLIMITED ? 0 : limit,
      ...optional('failures', number(join(group, 'memory.failcnt'))),
      ...optional('oomKills', table(join(group, 'memory.oom_control')).get('oom_kill')),
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

export interface InterfaceUse {
  readonly name: string
  readonly receive: readonly [bytes: number, packets: number, errors: number, dropped: number]
  readonly transmit: readonly [bytes: number, packets: number, errors: number, dropped: number]
}

/** Of the network that the process has; loopback is left out. */
export function interfacesOf(pid: number, proc = '/proc'): readonly InterfaceUse[] {
  return (read(join(proc, String(pid), 'net/dev')) ?? '').split('\n').flatMap((line) => {
    const [, name = '', rest = ''] = /^\s*([^\s:]+):\s*(.*)$/.exec(line) ?? []
    const values = rest.split(/\s+/).map(Number)
    if (name === '' || name === 'lo' || values.length < 12) return []
    const four = (from: number) => [values[from]!, values[from + 1]!, values[from + 2]!, values[from + 3]!] as const
    return [{ name, receive: four(0), transmit: four(8) }]
  })
}
