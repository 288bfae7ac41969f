/**
 * Container garbage collection (API concept: garbage collection of containers): of what has ended of a pod that is still there the
 * newest container of each name is kept, and the newest sandbox. What is left of pods that are gone is for orphaned-pods.ts.
 */
import { latestSandbox, type RuntimePodStatus } from './pod-cache.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'

/** `keepsNone`: of the containers of such pods, which have ended for good, none is kept. @throws the runtime's error */
export async function collectContainers(
  containerRuntime: Pick<ContainerRuntime, 'removeContainer' | 'removePodSandbox'>,
  pods: readonly RuntimePodStatus[],
  keepsNone: (uid: string) => boolean = () => false,
): Promise<void> {
  for (const pod of pods) {
    const seen = new Set<string>()
    const left = []
    for (const container of pod.containers) {
      const { id, state, metadata } = container
      const isOlder = seen.has(metadata.name)
      // A container that runs shows the one before it as its last state.
      if (state === 'exited') seen.add(metadata.name)
      if (state === 'exited' && (isOlder || keepsNone(pod.uid))) await containerRuntime.removeContainer(id)
      else left.push(container)
    }
    const newest = latestSandbox(pod)?.id
    for (const { id, state } of pod.sandboxes)
      if (state === 'notReady' && id !== newest && !left.some(({ podSandboxId }) => podSandboxId === id))
        await containerRuntime.removePodSandbox(id)
  }
}
