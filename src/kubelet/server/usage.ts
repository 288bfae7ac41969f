/** What containers, pods and the node use, as metrics-server and autoscalers read it: /metrics/resource and /stats/summary. */
import { readFileSync } from 'node:fs'
import { formatTime } from '../../base/clock.ts'
import { processes } from '../machine/eviction-measurements.ts'
import type { ContainerUsage } from '../runtimes/runtime.ts'
import type { MeasuredGroup } from './cadvisor.ts'
import { containerDisks, type MeasuredDisks, nodeDisks, podDisks } from './disk-summary.ts'
import { groupMemory, groupStart, groupsByName, networkOf, swapOf } from './group-usage.ts'
import { type ClaimStats, volumeEntry } from './volume-stats.ts'

export interface NodeUsage {
  /** Seconds of all processors since the machine's start. */
  readonly cpuSeconds: number
  readonly workingSetBytes: number
  readonly availableBytes: number
  readonly processes: { readonly maxpid: number; readonly curproc: number }
}

/** Hundredths of a second. */
const TICKS = 100

export function nodeUsage(): NodeUsage {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .map(Number)
  const memory = readFileSync('/proc/meminfo', 'utf8')
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(memory)?.[1] ?? 0)
  const most = processes('/proc')
  const availableBytes = kilobytes('MemAvailable') * 1024
  return {
    cpuSeconds: (user + nice + system + irq + softirq) / TICKS,
    availableBytes,
    processes: { maxpid: most.capacity, curproc: most.capacity - most.available },
    workingSetBytes: kilobytes('MemTotal') * 1024 - availableBytes,
  }
}

interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly rows: readonly (readonly [labels: Readonly<Record<string, string>>, value: number, timeMs?: number])[]
  /** Default: STABLE. */
  readonly stability?: 'ALPHA'
}

/** Prometheus' text format. */
export function resourceMetricsText(
  containers: readonly ContainerUsage[],
  node: NodeUsage,
  now: number,
  groups: readonly MeasuredGroup[] = [],
): string {
  const found = groupsByName(groups)
  const groupOf = ({ podNamespace, podName, name }: ContainerUsage) => found.container(podNamespace, podName, name)
  const swapRows = (of: (one: ContainerUsage) => number | undefined) =>
    containers.flatMap((one) => {
      const value = of(one)
      return value === undefined ? [] : [[labelsOf(one), value, one.time] as const]
    })
  const pods = [...Map.groupBy(containers, ({ podUid }) => podUid).values()]
  const labelsOf = ({ name, podNamespace, podName }: ContainerUsage) => ({
    container: name,
    namespace: podNamespace,
    pod: podName,
  })
  /** Of its group, with the sandbox in it; without one the sum of its containers. */
  const podRows = (value: (one: ContainerUsage) => number, whole: (group: MeasuredGroup) => number | undefined) =>
    pods.map((own) => {
      const { podNamespace: namespace, podName: pod, time } = own[0]!
      const group = found.pod(namespace, pod)
      const told = group && whole(group)
      return [
        { namespace, pod },
        told ?? own.reduce((sum, one) => sum + value(one), 0),
        told === undefined ? time : now,
      ] as const
    })
  const podSwapRows = pods.flatMap((own) => {
    const { podNamespace: namespace, podName: pod } = own[0]!
    const swap = found.pod(namespace, pod)?.usage.memory?.swap
    return swap === undefined ? [] : [[{ namespace, pod }, swap, now] as const]
  })
  const machine = found.machine?.usage
  const cpu = ({ cpuNanoSeconds }: ContainerUsage) => cpuNanoSeconds / 1e9
  const memory = ({ workingSetBytes }: ContainerUsage) => workingSetBytes
  const metrics: readonly Metric[] = [
    {
      name: 'container_cpu_usage_seconds_total',
      help: 'CPU time that the container has used, in core-seconds',
      type: 'counter',
      rows: containers.map((one) => [labelsOf(one), cpu(one), one.time]),
    },
    {
      name: 'container_memory_working_set_bytes',
      help: 'Working set of the container in bytes',
      type: 'gauge',
      rows: containers.map((one) => [labelsOf(one), memory(one), one.time]),
    },
    {
      name: 'container_start_time_seconds',
      help: 'When the container started, in seconds of Unix time',
      type: 'gauge',
      rows: containers.flatMap((one) => {
        const startedAt = groupOf(one)?.startedAt
        return startedAt === undefined ? [] : [[labelsOf(one), startedAt / 1000] as const]
      }),
    },
    {
      name: 'container_swap_limit_bytes',
      help: 'Limit of the container in swap, in bytes',
      type: 'gauge',
      stability: 'ALPHA',
      rows: swapRows((one) => groupOf(one)?.usage.memory?.swapLimit || undefined),
    },
    {
      name: 'container_swap_usage_bytes',
      help: 'What of the container is swapped out, in bytes',
      type: 'gauge',
      stability: 'ALPHA',
      rows: swapRows((one) => groupOf(one)?.usage.memory?.swap),
    },
    {
      name: 'node_cpu_usage_seconds_total',
      help: 'CPU time that the node has used, in core-seconds',
      type: 'counter',
      rows: [[{}, machine?.cpuSeconds ?? node.cpuSeconds, now]],
    },
    {
      name: 'node_memory_working_set_bytes',
      help: 'Working set of the node in bytes',
      type: 'gauge',
      rows: [[{}, machine?.memory?.workingSet ?? node.workingSetBytes, now]],
    },
    {
      name: 'node_swap_usage_bytes',
      help: 'What of the node is swapped out, in bytes',
      type: 'gauge',
      stability: 'ALPHA',
      rows: machine?.memory === undefined ? [] : [[{}, machine.memory.swap, now]],
    },
    {
      name: 'pod_cpu_usage_seconds_total',
      help: 'CPU time that the pod has used, in core-seconds',
      type: 'counter',
      rows: podRows(cpu, ({ usage }) => usage.cpuSeconds),
    },
    {
      name: 'pod_memory_working_set_bytes',
      help: 'Working set of the pod in bytes',
      type: 'gauge',
      rows: podRows(memory, ({ usage }) => usage.memory?.workingSet),
    },
    {
      name: 'pod_swap_usage_bytes',
      help: 'What of the pod is swapped out, in bytes',
      type: 'gauge',
      stability: 'ALPHA',
      rows: podSwapRows,
    },
    {
      name: 'resource_scrape_error',
      help: '1: containers could not be measured',
      type: 'gauge',
      rows: [[{}, 0]],
    },
  ]
  return metrics
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, help, type, rows, stability = 'STABLE' }) => {
      const lines = rows.map(([labels, value, time]) => {
        const pairs = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(text)}`)
        return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}${time === undefined ? '' : ` ${Math.round(time)}`}\n`
      })
      return `# HELP ${name} [${stability}] ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')
}

const cpuOf = ({ usage }: MeasuredGroup, now: number) => ({
  time: formatTime(now),
  ...(usage.cpuSeconds === undefined ? {} : { usageCoreNanoSeconds: Math.round(usage.cpuSeconds * 1e9) }),
})

const rootfsOf = (one: ContainerUsage) => ({ bytes: one.rootfsBytes, inodes: one.rootfsInodes })

export function summary(
  nodeName: string,
  containers: readonly ContainerUsage[],
  node: NodeUsage,
  now: number,
  volumes: readonly ClaimStats[] = [],
  groups: readonly MeasuredGroup[] = [],
  disks?: MeasuredDisks,
): object {
  const found = groupsByName(groups)
  const shared = found.pods
  const total = node.availableBytes + node.workingSetBytes
  const volumesOf = Map.groupBy(volumes, ({ podUid }) => podUid)
  const of = (one: ContainerUsage) => ({
    time: formatTime(one.time),
    ...(one.cpuNanoCores === undefined ? {} : { usageNanoCores: one.cpuNanoCores }),
    usageCoreNanoSeconds: one.cpuNanoSeconds,
  })
  const memoryOf = (one: ContainerUsage) => ({
    time: formatTime(one.time),
    usageBytes: one.usageBytes,
    workingSetBytes: one.workingSetBytes,
    rssBytes: one.rssBytes,
  })
  const sum = (own: readonly ContainerUsage[], value: (one: ContainerUsage) => number) =>
    own.reduce((total, one) => total + value(one), 0)
  return {
    node: {
      nodeName,
      ...(shared === undefined
        ? {}
        : {
            systemContainers: [
              {
                name: 'pods',
                ...groupStart(shared),
                cpu: cpuOf(shared, now),
                memory: { time: formatTime(now), ...groupMemory(shared, total) },
                ...swapOf(shared, formatTime(now)),
              },
            ],
          }),
      ...groupStart(found.machine),
      cpu: {
        time: formatTime(now),
        usageCoreNanoSeconds: Math.round((found.machine?.usage.cpuSeconds ?? node.cpuSeconds) * 1e9),
      },
      memory: {
        time: formatTime(now),
        workingSetBytes: node.workingSetBytes,
        availableBytes: node.availableBytes,
        ...groupMemory(found.machine, total),
      },
      ...networkOf(found.machine?.interfaces, formatTime(now)),
      ...nodeDisks(disks, now),
      ...(found.machine === undefined ? {} : { rlimit: { time: formatTime(now), ...node.processes } }),
      ...swapOf(found.machine, formatTime(now)),
    },
    pods: [...Map.groupBy(containers, ({ podUid }) => podUid).values()].map((own) => {
      const startTime = disks?.pods.get(own[0]!.podUid)?.startTime
      const { podName: name, podNamespace: namespace, podUid: uid, time } = own[0]!
      return {
        podRef: { name, namespace, uid },
        ...(startTime === undefined ? {} : { startTime }),
        containers: own.map((one) => ({
          name: one.name,
          ...groupStart(found.container(namespace, name, one.name)),
          cpu: of(one),
          memory: { ...memoryOf(one), ...groupMemory(found.container(namespace, name, one.name)) },
          ...containerDisks(disks, uid, one.name, { ...rootfsOf(one), time: one.time }, now),
          ...swapOf(found.container(namespace, name, one.name), formatTime(one.time)),
        })),
        cpu: {
          time: formatTime(time),
          usageNanoCores: sum(own, (one) => one.cpuNanoCores ?? 0),
          usageCoreNanoSeconds: sum(own, (one) => one.cpuNanoSeconds),
        },
        memory: {
          time: formatTime(time),
          workingSetBytes: sum(own, (one) => one.workingSetBytes),
          ...groupMemory(found.pod(namespace, name)),
        },
        ...networkOf(found.network(namespace, name), formatTime(now)),
        ...(found.pod(namespace, name) === undefined
          ? {}
          : { process_stats: { process_count: found.processes(namespace, name) } }),
        ...swapOf(found.pod(namespace, name), formatTime(now)),
        ...podDisks(disks, uid, own.map(rootfsOf), now),
        ...(volumesOf.has(uid) ? { volume: volumesOf.get(uid)?.map(volumeEntry) } : {}),
      }
    }),
  }
}
