/**
 * A container has ended by which all of its pod's begin anew, in the same sandbox and with the same volumes (KEP-5532): what runs is
 * stopped without its preStop hooks, and the runtime forgets all of them.
 */
import type { ContainerStatus } from '../api/generated/types.ts'
import type { Killer } from './kill-pod.ts'
import { couldRestartAll, initContainersOf, type Pod, restartsAll, specOf } from './pod.ts'
import { latestContainer, type RuntimePodStatus } from './pod-cache.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'

/** What the status of each of them says until it has begun, and from then on of what it was before. */
export const BEGINNING_ANEW = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
}

/** The status counts the container that is to come, and names the one that was. */
export const isToBeginAnew = ({ state }: Pick<ContainerStatus, 'state'>): boolean =>
  state?.waiting?.reason === BEGINNING_ANEW.reason

const named = (pod: Pod) => [...initContainersOf(pod), ...specOf(pod).containers]

/** Whether one has ended so, and is still there. */
export function isRestartingAll(pod: Pod, status: RuntimePodStatus): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || !couldRestartAll(pod)) return false
  return named(pod).some((container) => {
    const latest = latestContainer(status, container.name)
    return latest?.state === 'exited' && restartsAll(container, latest.exitCode)
  })
}

/** Resolves when none of them is left. A process that ends meanwhile does it again. */
export async function removeAllContainers(
  pod: Pod,
  status: RuntimePodStatus,
  killer: Pick<Killer, 'killContainer'>,
  runtime: Pick<ContainerRuntime, 'removeContainer'>,
): Promise<void> {
  const alive = status.containers.filter(({ state }) => state === 'running' || state === 'created')
  await Promise.all(alive.map((one) => killer.killContainer(pod, one, 'restart all', 'killing')))
  const own = new Map(named(pod).map((container) => [container.name, container]))
  const isCause = ({ metadata: { name }, state, exitCode }: (typeof status.containers)[number]) => {
    const container = own.get(name)
    return state === 'exited' && container !== undefined && restartsAll(container, exitCode)
  }
  const known = status.containers.filter(({ metadata }) => own.has(metadata.name))
  // What tells of it goes last.
  for (const wave of [known.filter((one) => !isCause(one)), known.filter(isCause)])
    await Promise.all(wave.map(({ id }) => runtime.removeContainer(id)))
}
