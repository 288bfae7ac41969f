/** The five conditions a kubelet always keeps (API concept: pod conditions), in the order in which it writes them. */
import type { ContainerStatus } from '../api/generated/types.ts'
import { initContainersOf, isSidecar, specOf } from './pod.ts'
import { latestSandbox, type RuntimePodStatus } from './pod-cache.ts'
import type { Condition, ConditionInput } from './pod-status.ts'

export const KUBELET_CONDITIONS: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'AllContainersRestarting',
  'PodResizePending',
  'PodResizeInProgress',
])

function condition(
  { generation }: ConditionInput,
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason?: string,
  message?: string,
): Condition {
  return {
    type,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  }
}

export function readyToStart(input: ConditionInput, runtime: RuntimePodStatus): Condition {
  const type = 'PodReadyToStartContainers'
  const sandbox = latestSandbox(runtime)
  if (sandbox === undefined) return condition(input, type, 'False', 'PodSandboxNotReady', 'no pod sandbox exists')
  if (sandbox.state === 'ready') return condition(input, type, 'True')
  return condition(input, type, 'False', 'PodSandboxNotReady', 'pod sandbox is not ready')
}

export function initialized(input: ConditionInput): Condition {
  const { pod, phase, containerStatuses, initContainerStatuses } = input
  const type = 'Initialized'
  if (phase === 'Succeeded') return condition(input, type, 'True', 'PodCompleted')
  if (containerStatuses.some(hasStarted)) return condition(input, type, 'True')
  const incomplete = initContainersOf(pod)
    .filter((container, at) => {
      const status = initContainerStatuses[at]
      return isSidecar(container) ? status?.started !== true : status?.ready !== true
    })
    .map(({ name }) => name)
  if (incomplete.length === 0) return condition(input, type, 'True')
  const message = `containers with incomplete status: [${incomplete.join(' ')}]`
  return condition(input, type, 'False', 'ContainersNotInitialized', message)
}

function hasStarted({ state, lastState }: ContainerStatus): boolean {
  return state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined
}

export function containersReady(input: ConditionInput): Condition {
  const { pod, phase, containerStatuses, initContainerStatuses } = input
  const type = 'ContainersReady'
  if (phase === 'Succeeded') return condition(input, type, 'False', 'PodCompleted')
  if (phase === 'Failed') return condition(input, type, 'False', 'PodFailed')
  const unready: string[] = []
  initContainersOf(pod).forEach((container, at) => {
    if (isSidecar(container) && initContainerStatuses[at]?.ready !== true) unready.push(container.name)
  })
  for (const { name, ready } of containerStatuses) if (!ready) unready.push(name)
  if (unready.length === 0) return condition(input, type, 'True')
  const message = `containers with unready status: [${unready.join(' ')}]`
  return condition(input, type, 'False', 'ContainersNotReady', message)
}

/** Ready: its containers are, and every readiness gate is True (KEP-580). */
export function podReady(input: ConditionInput, ready: Condition): Condition {
  const type = 'Ready'
  const { reason, message } = ready
  if (ready.status !== 'True') return condition(input, type, 'False', reason, message)
  const conditions = input.pod.status?.conditions ?? []
  const problems: string[] = []
  for (const { conditionType } of specOf(input.pod).readinessGates ?? []) {
    const gate = conditions.find((one) => one.type === conditionType)
    if (gate === undefined)
      problems.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`)
    else if (gate.status !== 'True')
      problems.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`)
  }
  if (problems.length === 0) return condition(input, type, 'True')
  return condition(input, type, 'False', 'ReadinessGatesNotReady', problems.join(', '))
}

export const DISRUPTION = 'DisruptionTarget'
const BY_KUBELET = 'TerminationByKubelet'

/** Whether the kubelet has written the condition: the API server, the scheduler and controllers write it too. */
export const isOwnDisruption = ({ type, reason }: Pick<Condition, 'type' | 'reason'>): boolean =>
  type === DISRUPTION && reason === BY_KUBELET

export function disrupted(input: ConditionInput, message: string): Condition {
  return condition(input, DISRUPTION, 'True', BY_KUBELET, message)
}

/** Only of pods that may restart so (KEP-5532). Unlike the others it does not tell of which generation it is. */
export function allContainersRestarting(input: ConditionInput, isUnderWay: boolean): Condition {
  const ofNone = { ...input, generation: undefined }
  const type = 'AllContainersRestarting'
  if (input.phase === 'Succeeded') return condition(ofNone, type, 'False', 'PodCompleted')
  if (input.phase === 'Failed') return condition(ofNone, type, 'False', 'PodFailed')
  return isUnderWay
    ? condition(ofNone, type, 'True', 'RestartAllContainersStarted', 'container exited with restart policy rule')
    : condition(ofNone, type, 'False')
}

export function scheduled(input: ConditionInput): Condition {
  return condition(input, 'PodScheduled', 'True')
}
