/** What a kubelet counts of its work with pods and containers, under the names of a kubelet's metrics. */
import type { PodStatus } from '../api/generated/types.ts'
import { qosClass } from '../api/objects/qos.ts'
import type { Metrics, Observed } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import { containerPath, type Pod, specOf } from './pod.ts'
import type { ResizeRequested } from './pod-resize.ts'
import type { PodUpdate } from './pod-workers.ts'
import { StartContainerError } from './sync-error.ts'
import type { WorkerPhase } from './worker-phases.ts'

export interface WorkMetrics {
  /** The runtime has been asked for all that it has. */
  relisted<T>(task: () => Promise<T>): Promise<T>
  /** The runtime has been asked for one pod. */
  podRelisted<T>(task: () => Promise<T>): Promise<T>
  /** The runtime tells of its changes by itself (KEP-3386), or tells of them no more. */
  eventsBegan(): void
  eventsFailed(): void
  admitted(pod: Pod): void
  /** The node does not take a pod, for this reason. */
  rejected(reason: string): void
  /** A pod worker has done a step, so many milliseconds after it was told to. */
  worked(pod: Pod, phase: WorkerPhase | undefined, type: PodUpdate['type'], tookMs: number): void
  /** A container is started, or is not: by what `signal` ends nothing is counted. */
  started(pod: Pod, container: string, task: () => Promise<void>, signal: AbortSignal): Promise<void>
  /** A pod's status is another one than it was. */
  statusChanged(before: PodStatus, after: PodStatus): void
  /** So many milliseconds after it had changed a pod's status was told. */
  statusTold(tookMs: number): void
  /** A pod is ended because the node is short of something, or the pod takes too much. `tookMs`: since that was measured. */
  evicted(signal: string, tookMs: number): void
  /** A pod is ended for a critical one. */
  preempted(signal: string): void
  /** A pod of the runtime's that the node does not have is ended. */
  orphanEnded(): void
  /** So much is left of pods that are gone, and could not be cleared away. */
  orphansCleaned(all: number, failed: number): void
  /** A static pod begins again that had ended under the same uid. */
  restarted(): void
  /** A hook's sleep was cut short. */
  sleepCut(): void
  readonly resizeRequested: ResizeRequested
  /** A pod's resources are changed while it runs. */
  resized(task: () => Promise<void>): Promise<void>
  /** A pod's resource claims are prepared, or taken back. */
  readonly claimsWork: ClaimsWork
}

export type ClaimsWork = (name: 'PrepareResources' | 'UnprepareResources', task: () => Promise<void>) => Promise<void>

/** The code of a failure without a reason of its own: what an error says would be a series for each. */
const OTHER = 'Unknown'
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const CLAIM_SECONDS = [
  ...[0.1, 0.1534127404634391, 0.23535468936502524, 0.36106407876409946, 0.5539182980610752, 0.849781240983936],
  ...[1.303672689737678, 1.9999999999999993, 3.0682548092687805, 4.7070937873005025, 7.221281575281985],
  ...[11.078365961221499, 16.995624819678714, 26.07345379475354, 39.99999999999997],
]
const COUNTS = [1, 2, 4, 8, 16]
const STATUS_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60]

export function createWorkMetrics({ clock, metrics }: Runtime & { readonly metrics: Metrics }): WorkMetrics {
  const histogram = (name: string, help: string, labels: readonly string[] = [], buckets = SECONDS) =>
    metrics.histogram(`kubelet_${name}`, help, labels, buckets)
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    metrics.counter(`kubelet_${name}`, help, labels)

  const relistSeconds = histogram(
    'pleg_relist_duration_seconds',
    'Duration in seconds for relisting pods in PLEG.',
  ).child()
  const relistEvery = histogram(
    'pleg_relist_interval_seconds',
    'Interval in seconds between relisting in PLEG.',
  ).child()
  const podSeconds = histogram('pleg_pod_relist_duration_seconds', 'Seconds until the runtime told of one pod.').child()
  const lastSeen = metrics
    .gauge('kubelet_pleg_last_seen_seconds', 'Timestamp in seconds when PLEG was last seen active.')
    .child()
  counter('pleg_discard_events', 'Events of PLEG that were lost because too many waited: none, as none waits.').child()
  const eventsBegan = counter(
    'evented_pleg_connection_success_count',
    'How often the runtime began to tell of its changes.',
  ).child()
  const eventsFailed = counter('evented_pleg_connection_error_count', 'How often it did not, or ended.').child()
  const perPod = histogram('containers_per_pod_count', 'The number of containers per pod.', [], COUNTS).child()
  const workSeconds = histogram(
    'pod_worker_duration_seconds',
    'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
    ['operation_type'],
  )
  const containers = counter('started_containers_total', 'Cumulative number of containers started', ['container_type'])
  const failures = counter('started_containers_errors_total', 'Cumulative number of errors when starting containers', [
    ...['code', 'container_type'],
  ])
  const ended = counter(
    'terminated_containers_total',
    'Containers that have ended, as the status of their pods tells.',
    [...['container_type', 'exit_code', 'reason']],
  )
  const told = histogram(
    'pod_status_sync_duration_seconds',
    'Seconds until a changed status was told.',
    [],
    STATUS_SECONDS,
  )
  const admitted = counter('pod_level_resources_admission_total', 'Pods taken, by where their resources are said.', [
    ...['config_mode', 'qos_class'],
  ])
  const rejected = counter('admission_rejections_total', 'Pods that were not taken, by the reason.', ['reason'])
  const evictions = counter('evictions', 'Pods that were evicted, by what for.', ['eviction_signal'])
  const age = histogram('eviction_stats_age_seconds', 'How old what an eviction went by was.', ['eviction_signal'])
  const preemptions = counter('preemptions', 'Pods that were ended for critical ones, by what for.', [
    'preemption_signal',
  ])
  const orphans = counter('orphaned_runtime_pods_total', 'Pods of the runtime that the node did not have.').child()
  const cleaned = metrics.gauge('kubelet_orphan_pod_cleaned_volumes', 'Pods gone whose volumes were cleared away last.')
  const uncleaned = metrics.gauge('kubelet_orphan_pod_cleaned_volumes_errors', 'Of these, failures.')
  const restarts = counter('restarted_pods_total', 'Pods that began again under the same uid.', ['static'])
  const cut = counter('sleep_action_terminated_early_total', 'Hooks that slept and were cut short.').child()
  const resizes = counter('container_requested_resizes_total', 'Amounts of containers that were to be others.', [
    ...['operation', 'requirement', 'resource'],
  ])
  const resizeMs = histogram('pod_resize_duration_milliseconds', 'Milliseconds that resizes took.', ['success'])
  const claims = metrics.histogram(
    'dra_operations_duration_seconds',
    'Seconds that work on resource claims took.',
    ['is_error', 'operation_name'],
    CLAIM_SECONDS,
  )
  told.child()
  cleaned.child().set(0)
  uncleaned.child().set(0)
  for (const own of ['', 'true']) restarts.child(own)
  let relistBegan: number | undefined

  async function timed<T>(seconds: Observed, task: () => Promise<T>): Promise<T> {
    const began = clock.monotonic()
    try {
      return await task()
    } finally {
      seconds.observe((clock.monotonic() - began) / 1000)
    }
  }

  async function judged(task: () => Promise<void>, ended: (isDone: boolean, ms: number) => void): Promise<void> {
    const began = clock.monotonic()
    let isDone = false
    try {
      await task()
      isDone = true
    } finally {
      ended(isDone, clock.monotonic() - began)
    }
  }

  return {
    async relisted(task) {
      const began = clock.monotonic()
      if (relistBegan !== undefined) relistEvery.observe((began - relistBegan) / 1000)
      relistBegan = began
      const result = await timed(relistSeconds, task)
      lastSeen.set(Math.floor(clock.now() / 1000))
      return result
    },
    podRelisted: (task) => timed(podSeconds, task),
    eventsBegan: () => eventsBegan.add(),
    eventsFailed: () => eventsFailed.add(),
    admitted: (pod) => admitted.child(configMode(pod), qosClass(specOf(pod)).toLowerCase()).add(),
    rejected: (reason) => rejected.child(knownRejection(reason)).add(),
    worked(pod, phase, type, tookMs) {
      if (phase === 'syncing' && type === 'create') perPod.observe(specOf(pod).containers.length)
      const operation = operationOf(pod, phase, type)
      if (operation !== undefined) workSeconds.child(operation).observe(tookMs / 1000)
    },
    async started(pod, container, task, signal) {
      const type = TYPES[containerPath(pod, container).replace(/\{.*$/s, '')] ?? 'container'
      try {
        await task()
        containers.child(type).add()
      } catch (error) {
        if (signal.aborted) throw error
        const code = error instanceof StartContainerError ? error.reason : OTHER
        // What waits for its next start has not been tried.
        if (code !== 'CrashLoopBackOff') {
          containers.child(type).add()
          failures.child(code, type).add()
        }
        throw error
      }
    },
    statusChanged(before, after) {
      for (const [field, type] of STATUSES)
        for (const { name, state } of after[field] ?? []) {
          const terminated = state?.terminated
          if (terminated === undefined) continue
          const was = before[field]?.find((one) => one.name === name)?.state?.terminated
          if (was === undefined) ended.child(type, String(terminated.exitCode), terminated.reason ?? '').add()
        }
    },
    statusTold: (tookMs) => told.child().observe(tookMs / 1000),
    evicted(signal, tookMs) {
      evictions.child(signal).add()
      age.child(signal).observe(tookMs / 1000)
    },
    preempted: (signal) => preemptions.child(signal).add(),
    orphanEnded: () => orphans.add(),
    orphansCleaned(all, failed) {
      cleaned.child().set(all)
      uncleaned.child().set(failed)
    },
    restarted: () => restarts.child('true').add(),
    sleepCut: () => cut.add(),
    resizeRequested: (resource, requirement, operation) => resizes.child(operation, requirement, resource).add(),
    resized: (task) => judged(task, (isDone, ms) => resizeMs.child(String(isDone)).observe(ms)),
    claimsWork: (name, task) => judged(task, (isDone, ms) => claims.child(String(!isDone), name).observe(ms / 1000)),
  }
}

const TYPES: Readonly<Record<string, string>> = {
  'spec.initContainers': 'init_container',
  'spec.ephemeralContainers': 'ephemeral_container',
}

const STATUSES = [
  ['initContainerStatuses', 'init_container'],
  ['containerStatuses', 'container'],
  ['ephemeralContainerStatuses', 'ephemeral_container'],
] as const

/** What the step counts as: an end that was asked for by its deletion, one that came by itself by what is cleared away after it. */
function operationOf(pod: Pod, phase: WorkerPhase | undefined, type: PodUpdate['type']): string | undefined {
  if (phase === 'syncing') return type
  if (phase === 'terminating') return type === 'update' ? type : undefined
  return pod.metadata.deletionTimestamp === undefined ? 'terminated' : undefined
}

/** Where a pod says what it needs: as a whole, by its containers, both, or nowhere. */
function configMode(pod: Pod): string {
  const says = ({ limits = {}, requests = {} }: { limits?: object; requests?: object } = {}) =>
    Object.keys(limits).length + Object.keys(requests).length > 0
  const { resources, containers, initContainers = [] } = specOf(pod)
  const byContainers = [...containers, ...initContainers].some((container) => says(container.resources))
  if (says(resources)) return byContainers ? 'pod_and_container_level' : 'pod_level'
  return byContainers ? 'container_level' : ''
}

/** Names of extended resources are chosen in pods, and make no series of their own. */
const REJECTIONS = new Set([
  ...['AppArmor', 'Evicted', 'InitContainerRestartPolicyForbidden', 'InvalidNodeInfo', 'NodeShutdown'],
  ...['OutOfcpu', 'OutOfephemeral-storage', 'OutOfmemory', 'OutOfpods', 'PodFeatureUnsupported'],
  ...['PodLevelResourcesNotSupported', 'PodOSNotSupported', 'PodOSSelectorNodeLabelDoesNotMatch'],
  ...['SupplementalGroupsPolicyNotSupported', 'SysctlForbidden', 'TopologyAffinityError', 'UnexpectedAdmissionError'],
  ...['UnexpectedPredicateFailureType', 'UnknownReason', 'VolumeAttachmentLimitExceeded'],
])

function knownRejection(reason: string): string {
  if (REJECTIONS.has(reason)) return reason
  return reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other'
}
