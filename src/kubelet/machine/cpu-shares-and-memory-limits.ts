/** What requests and limits become on a Linux machine: CPU shares and quota, memory limit, and which process is killed first when memory is gone. */
import { isMirrorPod } from '../../api/objects/mirror-pods.ts'
import { isPodLimited, podLimits, podRequests } from '../../api/objects/pod-requests.ts'
import { qosClass } from '../../api/objects/qos.ts'
import { quantityMilliValue, quantityValue } from '../../api/values/quantity.ts'
import { type Container, isSidecar, type Pod, specOf } from '../pod.ts'
import type { LinuxContainerResources } from '../runtimes/cri/messages.ts'

const LEAST_QUOTA_US = 1000
const LEAST_SHARES = 2
const MOST_SHARES = 262_144

/** How pods are held to limits, beside what they ask for themselves (cpuCFSQuota, cpuCFSQuotaPeriod, podPidsLimit). */
export interface LimitSettings {
  /** The microseconds that quotas of CPU time are counted in; undefined: there are none. */
  readonly periodUs: number | undefined
  /** How many processes a pod may have; undefined: as many as the node. */
  readonly pids?: number
  /** All pods together are held to what the node's system and its own processes leave (enforceNodeAllocatable), else to its capacity. Default: true. */
  readonly holdsAllPods?: boolean
}

export const OWN_LIMITS: LimitSettings = { periodUs: 100_000 }

export interface PodResources {
  readonly shares: number
  /** Microseconds in each period; undefined: no limit. */
  readonly quota: number | undefined
  /** Microseconds; undefined: CPU time is not limited. */
  readonly period: number | undefined
  /** Bytes; undefined: no limit. */
  readonly memory: bigint | undefined
}

export function sharesOf(milliCpu: number): number {
  return Math.min(MOST_SHARES, Math.max(LEAST_SHARES, Math.floor((milliCpu * 1024) / 1000)))
}

function quotaOf(milliCpu: number, periodUs: number): number {
  return Math.max(LEAST_QUOTA_US, Math.floor((milliCpu * periodUs) / 1000))
}

/** The pod's own limits stand only where every container has one. `hasOwnCpus`: containers of it do, and CPU time is no limit for it. */
export function podResources(pod: Pod, { periodUs }: LimitSettings = OWN_LIMITS, hasOwnCpus = false): PodResources {
  const spec = specOf(pod)
  const requests = podRequests(spec)
  const limits = podLimits(spec)
  const cpu = isPodLimited(spec, 'cpu') && !hasOwnCpus ? limits['cpu'] : undefined
  const memory = isPodLimited(spec, 'memory') ? limits['memory'] : undefined
  return {
    shares: sharesOf(milliOf(requests['cpu'])),
    quota: cpu === undefined || periodUs === undefined ? undefined : quotaOf(milliOf(cpu), periodUs),
    period: periodUs,
    memory: memory === undefined ? undefined : quantityValue(memory),
  }
}

/** What all pods together are held to, of quantities such as a node's capacity. No memory at all is no limit: every pod would be killed at once. */
export function resourcesOfAllPods({ cpu, memory = '0' }: Readonly<Record<string, string>>): PodResources {
  const bytes = quantityValue(memory)
  return {
    shares: sharesOf(milliOf(cpu)),
    quota: undefined,
    period: undefined,
    memory: bytes === 0n ? undefined : bytes,
  }
}

/** `nodeMemory` in bytes; `hasOwnCpus`: CPU time is no limit for it. */
export function containerResources(
  pod: Pod,
  container: Container,
  nodeMemory: bigint,
  { periodUs }: LimitSettings = OWN_LIMITS,
  hasOwnCpus = false,
): LinuxContainerResources {
  const { requests = {}, limits = {} } = container.resources ?? {}
  // What limits the pod limits a container that has no limit of its own.
  const whole = specOf(pod).resources?.limits ?? {}
  const cpuLimit = limits['cpu'] ?? whole['cpu']
  const cpuRequest = requests['cpu'] ?? cpuLimit
  const memoryLimit = limits['memory'] ?? whole['memory']
  const isLimited = cpuLimit !== undefined && milliOf(cpuLimit) !== 0 && periodUs !== undefined
  return {
    cpu_shares: sharesOf(milliOf(cpuRequest)),
    ...(periodUs === undefined ? {} : { cpu_period: periodUs }),
    ...(isLimited ? { cpu_quota: hasOwnCpus ? -1 : quotaOf(milliOf(cpuLimit), periodUs) } : {}),
    ...(memoryLimit === undefined ? {} : { memory_limit_in_bytes: Number(quantityValue(memoryLimit)) }),
    oom_score_adj: oomScore(pod, container, nodeMemory),
  }
}

const CRITICAL_PRIORITY = 2_000_000_000
const GUARANTEED_SCORE = -997

/** The more of the node's memory a Burstable container asked for, the later it is killed (API concept: node out of memory behavior). */
export function oomScore(pod: Pod, container: Container, nodeMemory: bigint): number {
  const spec = specOf(pod)
  if (isMirrorPod(pod) || (spec.priority ?? 0) >= CRITICAL_PRIORITY) return GUARANTEED_SCORE
  const qos = qosClass(spec)
  if (qos === 'Guaranteed') return GUARANTEED_SCORE
  if (qos === 'BestEffort') return 1000
  const own = burstableScore(container, nodeMemory)
  if (!isSidecar(container)) return own
  // A sidecar is not killed before all that it serves.
  return Math.min(own, Math.max(...spec.containers.map((one) => burstableScore(one, nodeMemory))))
}

function burstableScore(container: Container, nodeMemory: bigint): number {
  const requested = quantityValue(container.resources?.requests?.['memory'] ?? '0')
  return nodeMemory > 0n ? Math.max(3, Math.min(999, 1000 - Number((1000n * requested) / nodeMemory))) : 999
}

const milliOf = (quantity: string | undefined): number =>
  quantity === undefined ? 0 : Number(quantityMilliValue(quantity))
