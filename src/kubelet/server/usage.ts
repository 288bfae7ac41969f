/** What containers, pods and the node use, as metrics-server and autoscalers read it: /metrics/resource and /stats/summary. */
import { readFileSync } from 'node:fs'
import { formatTime } from '../../base/clock.ts'
import type { ContainerUsage } from '../runtimes/runtime.ts'
import { type ClaimStats, volumeEntry } from './volume-stats.ts'

export interface NodeUsage {
  /** Seconds of all processors since the machine's start. */
  readonly cpuSeconds: number
  readonly workingSetBytes: number
  readonly availableBytes: number
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
  const availableBytes = kilobytes('MemAvailable') * 1024
  return {
    cpuSeconds: (user + nice + system + irq + softirq) / TICKS,
    availableBytes,
    workingSetBytes: kilobytes('MemTotal') * 1024 - availableBytes,
  }
}

interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly rows: readonly (readonly [labels: Readonly<Record<string, string>>, value: number, timeMs: number])[]
}

/** Prometheus' text format. */
export function resourceMetricsText(containers: readonly ContainerUsage[], node: NodeUsage, now: number): string {
  const pods = [...Map.groupBy(containers, ({ podUid }) => podUid).values()]
  const labelsOf = ({ name, podNamespace, podName }: ContainerUsage) => ({
    container: name,
    namespace: podNamespace,
    pod: podName,
  })
  const podRows = (value: (one: ContainerUsage) => number) =>
    pods.map((own) => {
      const { podNamespace: namespace, podName: pod, time } = own[0]!
      return [{ namespace, pod }, own.reduce((sum, one) => sum + value(one), 0), time] as const
    })
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
      name: 'node_cpu_usage_seconds_total',
      help: 'CPU time that the node has used, in core-seconds',
      type: 'counter',
      rows: [[{}, node.cpuSeconds, now]],
    },
    {
      name: 'node_memory_working_set_bytes',
      help: 'Working set of the node in bytes',
      type: 'gauge',
      rows: [[{}, node.workingSetBytes, now]],
    },
    {
      name: 'pod_cpu_usage_seconds_total',
      help: 'CPU time that the pod has used, in core-seconds',
      type: 'counter',
      rows: podRows(cpu),
    },
    {
      name: 'pod_memory_working_set_bytes',
      help: 'Working set of the pod in bytes',
      type: 'gauge',
      rows: podRows(memory),
    },
  ]
  return metrics
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, help, type, rows }) => {
      const lines = rows.map(([labels, value, time]) => {
        const pairs = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(text)}`)
        return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value} ${Math.round(time)}\n`
      })
      return `# HELP ${name} [STABLE] ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')
}

export function summary(
  nodeName: string,
  containers: readonly ContainerUsage[],
  node: NodeUsage,
  now: number,
  volumes: readonly ClaimStats[] = [],
): object {
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
      cpu: { time: formatTime(now), usageCoreNanoSeconds: Math.round(node.cpuSeconds * 1e9) },
      memory: { time: formatTime(now), workingSetBytes: node.workingSetBytes, availableBytes: node.availableBytes },
    },
    pods: [...Map.groupBy(containers, ({ podUid }) => podUid).values()].map((own) => {
      const { podName: name, podNamespace: namespace, podUid: uid, time } = own[0]!
      return {
        podRef: { name, namespace, uid },
        containers: own.map((one) => ({
          name: one.name,
          cpu: of(one),
          memory: memoryOf(one),
          rootfs: { time: formatTime(one.time), usedBytes: one.rootfsBytes },
        })),
        cpu: {
          time: formatTime(time),
          usageNanoCores: sum(own, (one) => one.cpuNanoCores ?? 0),
          usageCoreNanoSeconds: sum(own, (one) => one.cpuNanoSeconds),
        },
        memory: { time: formatTime(time), workingSetBytes: sum(own, (one) => one.workingSetBytes) },
        ...(volumesOf.has(uid) ? { volume: volumesOf.get(uid)?.map(volumeEntry) } : {}),
      }
    }),
  }
}
