/**
 * Pods of which the runtime knows and the API server does not: they were forced away, or went, while no kubelet ran, or what a
 * kubelet asked for before it was killed is only done now. Nothing is left that says how long they may take, so they get the
 * shortest time there is between SIGTERM and SIGKILL, as from a real kubelet.
 */
import type { Machine } from './machine/machine.ts'
import { type ContainerRuntime, POD_UID_LABEL, type RuntimeContainerStatus } from './runtimes/runtime.ts'
import type { WorkMetrics } from './work-metrics.ts'

const GRACE_SECONDS = 2

/** Ends and removes every sandbox and container whose pod is not `known`. What fails keeps no other back. @throws the first failure */
export async function removeOrphans(
  runtime: ContainerRuntime,
  known: (uid: string) => boolean,
  machine?: Pick<Machine, 'known' | 'remove'>,
  counts?: Pick<WorkMetrics, 'orphanEnded' | 'orphansCleaned'>,
): Promise<void> {
  await removePods(runtime, known, counts)
  const left = (machine?.known() ?? []).filter((uid) => !known(uid))
  const cleaned = await Promise.allSettled(left.map((uid) => machine?.remove(uid)))
  counts?.orphansCleaned(left.length, cleaned.filter(({ status }) => status === 'rejected').length)
  failAfterAll(cleaned)
}

function failAfterAll(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** A container may have lost its sandbox: a runtime that restarts and cannot read it shows the others of its pod without it. */
async function removePods(
  runtime: ContainerRuntime,
  known: (uid: string) => boolean,
  counts?: Pick<WorkMetrics, 'orphanEnded'>,
): Promise<void> {
  const [allSandboxes, allContainers] = await Promise.all([runtime.listPodSandboxes({}), runtime.listContainers({})])
  const sandboxes = allSandboxes.filter(({ metadata }) => !known(metadata.uid))
  const containers = allContainers.filter(({ labels }) => !known(labels[POD_UID_LABEL] ?? ''))
  for (const _ of new Set(sandboxes.map(({ metadata }) => metadata.uid))) counts?.orphanEnded()
  const stop = async ({ id, state }: RuntimeContainerStatus) => {
    if (state === 'running') await runtime.stopContainer(id, GRACE_SECONDS)
  }
  const withSandbox = new Set(sandboxes.map(({ id }) => id))
  const ended = await Promise.allSettled([
    ...sandboxes.map(async ({ id }) => {
      await Promise.all(containers.filter(({ podSandboxId }) => podSandboxId === id).map(stop))
      await runtime.removePodSandbox(id)
    }),
    ...containers
      .filter(({ podSandboxId }) => !withSandbox.has(podSandboxId))
      .map(async (container) => {
        await stop(container)
        await runtime.removeContainer(container.id)
      }),
  ])
  failAfterAll(ended)
}
