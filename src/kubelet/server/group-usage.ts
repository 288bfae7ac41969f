/** What control groups add to what the runtime tells of containers: for /metrics/resource and /stats/summary. */
import { formatTime } from '../../base/clock.ts'
import type { MeasuredGroup } from './cadvisor.ts'

/** Finds the group of the machine, of a pod, of a container. */
export function groupsByName(groups: readonly MeasuredGroup[]) {
  const key = (namespace: string, pod: string, container: string) => `${namespace}/${pod}/${container}`
  /** Sandboxes have a name, and no container's. */
  const named = groups.filter(({ pod, container, name }) => pod !== '' && (container !== '' || name === ''))
  const found = new Map(named.map((one) => [key(one.namespace, one.pod, one.container), one]))
  const sandboxes = groups.filter(({ pod, container, name }) => pod !== '' && container === '' && name !== '')
  return {
    machine: groups.find(({ id }) => id === '/'),
    /** What all pods share. */
    pods: groups.filter(({ id, pod }) => pod === '' && id !== '/').sort((a, b) => a.id.length - b.id.length)[0],
    pod: (namespace: string, pod: string) => found.get(key(namespace, pod, '')),
    container: (namespace: string, pod: string, name: string) => found.get(key(namespace, pod, name)),
    network: (namespace: string, pod: string) =>
      sandboxes.find((one) => one.namespace === namespace && one.pod === pod)?.interfaces,
    processes: (namespace: string, pod: string) =>
      groups
        .filter((one) => one.namespace === namespace && one.pod === pod && one.container !== '')
        .reduce((sum, { usage }) => sum + usage.processes, 0),
  }
}

export type GroupsByName = ReturnType<typeof groupsByName>

export const groupStart = (group: MeasuredGroup | undefined): { readonly startTime?: string } => {
  const time = group?.startedAt ?? group?.usage.madeAt
  return time === undefined ? {} : { startTime: formatTime(time) }
}

/** As the summary tells memory; `most`: what there is where no limit is set. */
export function groupMemory(group: MeasuredGroup | undefined, most?: number): object {
  const memory = group?.usage.memory
  if (memory === undefined) return {}
  const limit = memory.limit > 0 ? memory.limit : most
  return {
    ...(limit === undefined ? {} : { availableBytes: Math.max(0, limit - memory.workingSet) }),
    usageBytes: memory.usage,
    workingSetBytes: memory.workingSet,
    rssBytes: memory.rss,
    pageFaults: memory.pageFaults[0],
    majorPageFaults: memory.majorPageFaults[0],
  }
}

export function swapOf(group: MeasuredGroup | undefined, time: string): object {
  const memory = group?.usage.memory
  if (memory === undefined) return {}
  const { swap, swapLimit = 0 } = memory
  return {
    swap: { time, ...(swapLimit > 0 ? { swapAvailableBytes: swapLimit - swap } : {}), swapUsageBytes: swap },
  }
}

/** The first of the usual name is told by itself too. */
export function networkOf(interfaces: MeasuredGroup['interfaces'], time: string): object {
  if (interfaces === undefined || interfaces.length === 0) return {}
  const all = interfaces.map(({ name, receive, transmit }) => ({
    ...{ name, rxBytes: receive[0], rxErrors: receive[2] },
    ...{ txBytes: transmit[0], txErrors: transmit[2] },
  }))
  return { network: { time, ...all.find(({ name }) => name === 'eth0'), interfaces: all } }
}
