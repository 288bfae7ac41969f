/**
 * computePodActions: what has to be done so that a pod's containers become what its spec asks: a sandbox, the next init
 * container, containers to start, containers to kill. A pure function.
 */
import type { KillReason } from './kill-pod.ts'
import {
  type Container,
  ephemeralContainersOf,
  initContainersOf,
  initRestartsAfter,
  isSidecar,
  type Pod,
  restartsAfter,
  specOf,
} from './pod.ts'
import { latestContainer, latestSandbox, type RuntimePodStatus } from './pod-cache.ts'
import type { RuntimeContainerStatus } from './runtimes/runtime.ts'

export const IMAGE_LABEL = 'skiff.dev/container-image'

export interface ContainerToKill {
  readonly status: RuntimeContainerStatus
  readonly reason: KillReason
  readonly message: string
}

export interface PodActions {
  /** Kill everything of the pod, its sandbox too (and then begin anew, when `createSandbox`). */
  readonly killPod: boolean
  readonly createSandbox: boolean
  readonly attempt: number
  /** The sandbox in use, when it stays. */
  readonly sandboxId: string | undefined
  readonly kill: readonly ContainerToKill[]
  /** In the order of the spec, ephemeral containers first, then init containers. */
  readonly start: readonly Container[]
}

export interface ContainerChecks {
  livenessFailed(containerId: string): boolean
  startupFailed(containerId: string): boolean
  started(containerId: string, container: Container): boolean
}

export interface ResizeChecks {
  /** What has to be done for a running container to be held to what it is given. */
  due(container: Container, status: RuntimeContainerStatus): 'update' | 'restart' | undefined
}

export function computePodActions(
  pod: Pod,
  status: RuntimePodStatus,
  probes: ContainerChecks,
  resizes: ResizeChecks = { due: () => undefined },
): PodActions {
  const checks = { ...probes, ...resizes }
  const sandbox = latestSandbox(status)
  const nothing = { killPod: false, createSandbox: false, attempt: 0, sandboxId: sandbox?.id, kill: [], start: [] }
  if (sandbox === undefined || sandbox.state !== 'ready') {
    const attempt = sandbox === undefined ? 0 : sandbox.metadata.attempt + 1
    return fresh(pod, status, attempt, sandbox?.id)
  }
  const inits = initContainers(pod, status, checks)
  // Whatever state the others are in: an ephemeral container is there to find that out.
  const ephemeral = ephemeralContainersOf(pod).filter(({ name }) => latestContainer(status, name) === undefined)
  if (!inits.initialized) return { ...nothing, kill: inits.kill, start: [...ephemeral, ...inits.start] }

  const kill: ContainerToKill[] = [...inits.kill]
  const start: Container[] = [...ephemeral, ...inits.start]
  let kept = 0
  let starting = 0
  for (const container of specOf(pod).containers) {
    const latest = latestContainer(status, container.name)
    if (latest === undefined || latest.state !== 'running') {
      if (latest === undefined || latest.state === 'created' || restartsAfter(container, pod, latest.exitCode)) {
        start.push(container)
        starting++
      }
      continue
    }
    const problem = problemOf(container, latest, checks)
    if (problem === undefined) {
      kept++
      continue
    }
    const again = problem.reason === 'changed' || restartsAfter(container, pod, 137)
    kill.push({
      status: latest,
      reason: problem.reason,
      message: again && problem.isWhole !== true ? `${problem.message}, will be restarted` : problem.message,
    })
    if (again) {
      start.push(container)
      starting++
    }
  }
  // Nothing of the pod's own runs or will run: sidecars and the sandbox go too, and what a probe ends for good has the pod's own time for it.
  if (kept === 0 && starting === 0) return { ...nothing, killPod: true }
  return { ...nothing, kill, start }
}

function fresh(pod: Pod, status: RuntimePodStatus, attempt: number, sandboxId: string | undefined): PodActions {
  const spec = specOf(pod)
  const none = { killPod: true, createSandbox: false, attempt, sandboxId, kill: [], start: [] }
  if (spec.restartPolicy === 'Never' && attempt !== 0 && status.containers.length > 0) return none
  const wanted = spec.containers.filter((container) => {
    const latest = latestContainer(status, container.name)
    return latest === undefined || latest.state !== 'exited' || restartsAfter(container, pod, latest.exitCode)
  })
  if (wanted.length === 0) return none
  const [first] = initContainersOf(pod)
  const start = first === undefined ? wanted : [first]
  return { killPod: attempt > 0, createSandbox: true, attempt, sandboxId, kill: [], start }
}

type Checks = ContainerChecks & ResizeChecks

interface InitActions {
  readonly initialized: boolean
  readonly kill: readonly ContainerToKill[]
  readonly start: readonly Container[]
}

function initContainers(pod: Pod, status: RuntimePodStatus, checks: Checks): InitActions {
  const inits = initContainersOf(pod)
  if (inits.length === 0) return { initialized: true, kill: [], start: [] }
  // Once a regular container was made, only sidecars are looked after.
  const past = specOf(pod).containers.some(({ name }) => latestContainer(status, name) !== undefined)
  const kill: ContainerToKill[] = []
  const start: Container[] = []
  const blocked = () => ({ initialized: past, kill, start })
  for (const container of inits) {
    const latest = latestContainer(status, container.name)
    if (isSidecar(container)) {
      if (latest === undefined || latest.state !== 'running') {
        start.push(container)
        if (!past) return blocked()
        continue
      }
      const problem = problemOf(container, latest, checks)
      if (problem !== undefined) {
        kill.push({ status: latest, reason: problem.reason, message: `Init c${problem.message.slice(1)}` })
        start.push(container)
      }
      if (!past && (problem !== undefined || !checks.started(latest.id, container))) return blocked()
      continue
    }
    if (past) continue
    if (latest === undefined || latest.state === 'created') {
      start.push(container)
      return blocked()
    }
    if (latest.state === 'running') return blocked()
    if (latest.exitCode !== 0) {
      if (initRestartsAfter(container, pod, latest.exitCode)) start.push(container)
      return blocked()
    }
  }
  return { initialized: true, kill, start }
}

function problemOf(
  container: Container,
  latest: RuntimeContainerStatus,
  checks: Checks,
): { readonly reason: KillReason; readonly message: string; readonly isWhole?: true } | undefined {
  const { name } = container
  const image = latest.labels[IMAGE_LABEL]
  if (image !== undefined && image !== container.image)
    return { reason: 'changed', message: `Container ${name} definition changed` }
  if (checks.due(container, latest) === 'restart')
    return { reason: 'changed', message: `Container ${name} resize requires restart`, isWhole: true }
  if (checks.livenessFailed(latest.id))
    return { reason: 'liveness', message: `Container ${name} failed liveness probe` }
  if (checks.startupFailed(latest.id)) return { reason: 'startup', message: `Container ${name} failed startup probe` }
  return undefined
}
