/**
 * Pods of which the runtime knows and the API server does not: they were forced away, or went, while no kubelet ran, or what a
 * kubelet asked for before it was killed is only done now. Nothing is left that says how long they may take, so they get the
 * shortest time there is between SIGTERM and SIGKILL, as from a real kubelet.
 */
import type { ContainerRuntime } from './runtimes/runtime.ts'

const GRACE_SECONDS = 2

/** Ends and removes every sandbox whose pod is not `known`. */
export async function removeOrphans(runtime: ContainerRuntime, known: (uid: string) => boolean): Promise<void> {
  const orphans = (await runtime.listPodSandboxes({})).filter(({ metadata }) => !known(metadata.uid))
  if (orphans.length === 0) return
  const ids = new Set(orphans.map(({ id }) => id))
  const running = (await runtime.listContainers({})).filter(
    ({ podSandboxId, state }) => ids.has(podSandboxId) && state === 'running',
  )
  await Promise.all(running.map(({ id }) => runtime.stopContainer(id, GRACE_SECONDS)))
  await Promise.all(orphans.map(({ id }) => runtime.removePodSandbox(id)))
}
