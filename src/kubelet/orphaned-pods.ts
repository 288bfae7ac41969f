/**
 * Pods of which the runtime knows and the API server does not: they were forced away, or went, while no kubelet ran, or what a
 * kubelet asked for before it was killed is only done now. Nothing is left that says how long they may take, so they get the
 * shortest time there is between SIGTERM and SIGKILL, as from a real kubelet.
 */
import type { Machine } from './machine/machine.ts'
import type { ContainerRuntime } from './runtimes/runtime.ts'

const GRACE_SECONDS = 2

/** Ends and removes every sandbox whose pod is not `known`. What fails keeps no other back. @throws the first failure */
export async function removeOrphans(
  runtime: ContainerRuntime,
  known: (uid: string) => boolean,
  machine?: Pick<Machine, 'known' | 'remove'>,
): Promise<void> {
  await removeSandboxes(runtime, known)
  const left = (machine?.known() ?? []).filter((uid) => !known(uid))
  failAfterAll(await Promise.allSettled(left.map((uid) => machine?.remove(uid))))
}

function failAfterAll(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function removeSandboxes(runtime: ContainerRuntime, known: (uid: string) => boolean): Promise<void> {
  const orphans = (await runtime.listPodSandboxes({})).filter(({ metadata }) => !known(metadata.uid))
  if (orphans.length === 0) return
  const running = (await runtime.listContainers({})).filter(({ state }) => state === 'running')
  const ended = await Promise.allSettled(
    orphans.map(async ({ id }) => {
      const own = running.filter(({ podSandboxId }) => podSandboxId === id)
      await Promise.all(own.map((container) => runtime.stopContainer(container.id, GRACE_SECONDS)))
      await runtime.removePodSandbox(id)
    }),
  )
  failAfterAll(ended)
}
