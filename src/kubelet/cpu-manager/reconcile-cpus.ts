/** Tells the runtime on which CPUs running containers may be, once these have changed: the shared pool is smaller when a pod was given some of it. */
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { CONTAINER_NAME_LABEL, type ContainerRuntime, POD_UID_LABEL } from '../runtimes/runtime.ts'
import type { CpuManager } from './cpu-manager.ts'

export interface ReconcileOptions {
  readonly runtime: Pick<Runtime, 'log'> & { readonly clock: Clock }
  readonly cpus: Pick<CpuManager, 'cpusetOf'>
  readonly containers: Pick<ContainerRuntime, 'listContainers' | 'real'>
  /** Pods that this node runs. */
  readonly isKnown: (podUid: string) => boolean
  readonly periodMs: number
  readonly signal: AbortSignal
}

/** Until the signal is aborted. A container that the runtime could not be told of is tried again. */
export function reconcileCpus({ runtime, cpus, containers, isKnown, periodMs, signal }: ReconcileOptions): void {
  const { clock, log } = runtime
  /** By id of the container. */
  let told = new Map<string, string>()

  async function reconcile(): Promise<void> {
    const running = (await containers.listContainers({})).filter(({ state }) => state === 'running')
    const next = new Map<string, string>()
    for (const { id, labels } of running) {
      const uid = labels[POD_UID_LABEL] ?? ''
      const wanted = isKnown(uid) ? cpus.cpusetOf(uid, labels[CONTAINER_NAME_LABEL] ?? '') : undefined
      if (wanted === undefined || wanted === '') continue
      if (told.get(id) !== wanted)
        try {
          await containers.real?.updateResources(id, { cpuset_cpus: wanted })
        } catch (error) {
          log.info(0, 'Failed to update the CPUs of a container', {
            container: id,
            cpus: wanted,
            err: messageOf(error),
          })
          continue
        }
      next.set(id, wanted)
    }
    told = next
  }

  async function run(): Promise<void> {
    for (;;) {
      await sleep(clock, periodMs, signal)
      await reconcile().catch((error: unknown) => {
        if (!signal.aborted) log.info(2, 'Failed to look at the CPUs of containers', { err: messageOf(error) })
      })
    }
  }
  run().catch(() => {})
}
