/** A pod's row: what it is doing, in one word, and how often it had to start again. */
import type { Container, ContainerStateTerminated, ContainerStatus, Pod } from '../../../api/generated/types.ts'
import { age, listOf, NONE } from './format.ts'
import type { Cells, RowConditions } from './printer.ts'

const isSidecar = (container: Container | undefined): boolean => container?.restartPolicy === 'Always'

interface Summary {
  reason: string
  ready: number
  total: number
  restarts: number
  lastRestart: string
}

function noteRestart(summary: { lastRestart: string }, status: ContainerStatus): void {
  const finished: string = status.lastState?.terminated?.finishedAt ?? ''
  if (finished > summary.lastRestart) summary.lastRestart = finished
}

function terminatedReason(terminated: ContainerStateTerminated): string {
  if (terminated.reason) return terminated.reason
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`
}

const hasCondition = (pod: Pod, type: string, reason?: string) =>
  listOf(pod.status?.conditions).find(
    (condition) => condition.type === type && (reason === undefined || condition.reason === reason),
  )

/** The word of the init container that is not done yet; undefined when all are. Counts ready sidecars. */
function initReason(pod: Pod, summary: Summary): string | undefined {
  const declared = new Map(listOf(pod.spec?.initContainers).map((container) => [container.name, container]))
  const statuses = listOf(pod.status?.initContainerStatuses)
  const sidecarsOnly = { restarts: 0, lastRestart: '' }
  for (const [i, status] of statuses.entries()) {
    summary.restarts += status.restartCount ?? 0
    noteRestart(summary, status)
    const sidecar = isSidecar(declared.get(status.name))
    if (sidecar) {
      sidecarsOnly.restarts += status.restartCount ?? 0
      noteRestart(sidecarsOnly, status)
    }
    const { terminated, waiting } = status.state ?? {}
    if (terminated && terminated.exitCode === 0) continue
    if (sidecar && status.started) {
      if (status.ready) summary.ready++
      continue
    }
    if (terminated) return `Init:${terminatedReason(terminated)}`
    if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`
    return `Init:${i}/${declared.size}`
  }
  summary.restarts = sidecarsOnly.restarts
  summary.lastRestart = sidecarsOnly.lastRestart
  return undefined
}

function summarize(pod: Pod): Summary {
  const spec = pod.spec
  const status = pod.status
  const sidecars = listOf(spec?.initContainers).filter(isSidecar).length
  const summary: Summary = {
    reason: status?.reason || status?.phase || '',
    ready: 0,
    total: listOf(spec?.containers).length + sidecars,
    restarts: 0,
    lastRestart: '',
  }
  if (hasCondition(pod, 'PodScheduled', 'SchedulingGated')) summary.reason = 'SchedulingGated'
  const init = initReason(pod, summary)
  if (init !== undefined) summary.reason = init
  if (init === undefined || hasCondition(pod, 'Initialized')?.status === 'True') containerReason(pod, summary)
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status?.reason === 'NodeLost') summary.reason = 'Unknown'
    else if (!['Failed', 'Succeeded'].includes(status?.phase ?? '')) summary.reason = 'Terminating'
  }
  return summary
}

function containerReason(pod: Pod, summary: Summary): void {
  let running = false
  for (const status of [...listOf(pod.status?.containerStatuses)].reverse()) {
    summary.restarts += status.restartCount ?? 0
    noteRestart(summary, status)
    const { waiting, terminated, running: runs } = status.state ?? {}
    if (waiting?.reason) summary.reason = waiting.reason
    else if (terminated) summary.reason = terminatedReason(terminated)
    else if (status.ready && runs) {
      running = true
      summary.ready++
    }
  }
  if (summary.reason === 'Completed' && running)
    summary.reason = hasCondition(pod, 'Ready')?.status === 'True' ? 'Running' : 'NotReady'
}

function readinessGates(pod: Pod): string {
  const gates = listOf(pod.spec?.readinessGates)
  if (gates.length === 0) return NONE
  const met = gates.filter((gate) => hasCondition(pod, gate.conditionType)?.status === 'True')
  return `${met.length}/${gates.length}`
}

export const printPod = (pod: Pod, nowMs: number): Cells => {
  const { reason, ready, total, restarts, lastRestart } = summarize(pod)
  const status = pod.status
  return [
    pod.metadata.name ?? '',
    `${ready}/${total}`,
    reason,
    restarts > 0 && lastRestart !== '' ? `${restarts} (${age(lastRestart, nowMs)} ago)` : String(restarts),
    age(pod.metadata.creationTimestamp, nowMs),
    status?.podIPs?.[0]?.ip || status?.podIP || NONE,
    pod.spec?.nodeName || NONE,
    status?.nominatedNodeName || NONE,
    readinessGates(pod),
  ]
}

export const podRowConditions: RowConditions = (pod: Pod) => {
  const phase: string | undefined = pod.status?.phase
  if (phase === 'Succeeded')
    return [{ type: 'Completed', status: 'True', reason: phase, message: 'The pod has completed successfully.' }]
  if (phase === 'Failed') return [{ type: 'Completed', status: 'True', reason: phase, message: 'The pod failed.' }]
  return undefined
}
