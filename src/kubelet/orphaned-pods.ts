/**
 * Pods of which the runtime knows and the API server does not: they were forced away, or went, while no kubelet ran, or what a
 * kubelet asked for before it was killed is only done now. Nothing is left that says how long they may take, so they get the
 * shortest time there is between SIGTERM and SIGKILL, as from a real kubelet.
 */
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import type { Machine } from './machine/machine.ts'
import { type ContainerRuntime, POD_UID_LABEL, type RuntimeContainerStatus } from './runtimes/runtime.ts'
import type { WorkMetrics } from './work-metrics.ts'

const GRACE_SECONDS = 2

/**
 * Ends and removes every sandbox and container whose pod is not `known`. A container may have lost its sandbox: a runtime that restarts and
 * cannot read it shows the others of its pod without it. What fails keeps no other back. @throws the first failure
 */
export async function endOrphanedPods(
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
  for (const result of ended) if (result.status === 'rejected') throw result.reason
}

/** What pods leave behind that are gone, and the one way by which it goes, of each pod once at a time. */
export interface Remains {
  /** Of a pod that this kubelet has ended: its sandboxes, then what it has on the machine. @throws the first failure */
  removeOf(uid: string, sandboxes: readonly string[]): Promise<void>
  /**
   * From the machine, what pods that are not `known` have left there: of one that does not come to an end (a file system
   * that no longer answers) the others are removed all the same, now and by later calls. @throws the first failure, at once
   */
  remove(known: (uid: string) => boolean): Promise<void>
}

export function createRemains(
  containerRuntime: Pick<ContainerRuntime, 'removePodSandbox'>,
  machine: Pick<Machine, 'known' | 'remove'> | undefined,
  counts?: Pick<WorkMetrics, 'orphansCleaned'>,
): Remains {
  const underWay = new Map<string, Promise<void>>()
  /** It may fail at once: what is under way is written down before. */
  const begin = (uid: string): Promise<void> =>
    Promise.resolve()
      .then(() => machine?.remove(uid))
      .finally(() => underWay.delete(uid))
  function fromMachine(uid: string): Promise<void> {
    if (machine === undefined) return Promise.resolve()
    return getOrInsertComputed(underWay, uid, begin)
  }
  return {
    async removeOf(uid, sandboxes) {
      await Promise.all(sandboxes.map((id) => containerRuntime.removePodSandbox(id)))
      await fromMachine(uid)
    },
    async remove(known) {
      const left = (machine?.known() ?? []).filter((uid) => !known(uid) && !underWay.has(uid))
      const removals = left.map(fromMachine)
      void Promise.allSettled(removals).then((ended) =>
        counts?.orphansCleaned(left.length, ended.filter(({ status }) => status === 'rejected').length),
      )
      await Promise.all(removals)
    },
  }
}
